package io.rdmacomm.comm.progress;

import io.rdmacomm.verbs.RdmaException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// The members of a completion group, by the slot in the numbers of their work requests.
final class GroupMembers {
    private final @Nullable GroupMember[] members;
    private final long[] bases;
    private final int[] generations;
    private final ReentrantLock lock = new ReentrantLock();

    /// @param most how many members may join
    GroupMembers(int most) {
        members = new @Nullable GroupMember[most];
        bases = new long[most];
        generations = new int[most];
    }

    /// The member that posted the work with this number; null if it has left.
    @Nullable
    GroupMember of(long workId) {
        int slot = WorkId.slot(workId);
        return bases[slot] == WorkId.base(workId) ? members[slot] : null;
    }

    /// Gives `member` a slot.
    ///
    /// @param group what the group is called
    /// @return the part that the numbers of all its work requests share
    /// @throws RdmaException if there is no slot left
    long join(GroupMember member, String group) {
        lock.lock();
        try {
            for (int slot = 0; slot < members.length; slot++) {
                if (members[slot] == null) {
                    generations[slot] = generations[slot] % (WorkId.MAX_GENERATIONS - 1) + 1;
                    bases[slot] = WorkId.base(slot, generations[slot]);
                    members[slot] = member;
                    return bases[slot];
                }
            }
        } finally {
            lock.unlock();
        }
        throw new RdmaException(group + " has its " + members.length + " channels already", null);
    }

    /// Takes the slot back from the member with this number.
    void leave(long workIdBase) {
        lock.lock();
        try {
            members[WorkId.slot(workIdBase)] = null;
        } finally {
            lock.unlock();
        }
    }

    /// Fails all members.
    void fail(RdmaException why) {
        for (GroupMember member : members) {
            if (member != null) {
                member.failed(why);
            }
        }
    }
}
