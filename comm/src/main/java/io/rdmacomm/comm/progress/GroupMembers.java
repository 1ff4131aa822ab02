package io.rdmacomm.comm.progress;

import io.rdmacomm.verbs.RdmaException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// The members of a completion group, by the slot in the numbers of their work requests.
final class GroupMembers {
    private static final int WATCHED = 8;

    private final @Nullable GroupMember[] members;
    private final long[] bases;
    private final int[] generations;
    /// Why each member must fail as soon as there is memory; null if it must not. Allocated in advance, because the
    /// reason may be a lack of memory.
    private final @Nullable Throwable[] condemned;

    private volatile boolean anyCondemned;
    /// Members whose operations may end when they are posted, and how many slots at the beginning have had one.
    private final @Nullable GroupMember[] watched = new @Nullable GroupMember[WATCHED];

    private volatile int watchedSlots;
    private final ReentrantLock lock = new ReentrantLock();

    /// @param most how many members may join
    GroupMembers(int most) {
        members = new @Nullable GroupMember[most];
        bases = new long[most];
        generations = new int[most];
        condemned = new @Nullable Throwable[most];
    }

    /// The member that posted the work with this number; null if it has left.
    @Nullable
    GroupMember of(long workId) {
        int slot = WorkId.slot(workId);
        return bases[slot] == WorkId.base(workId) ? members[slot] : null;
    }

    /// Whether [#finishEnded()] can look at the member with this number. Every poll does, so it looks at few.
    static boolean isWatched(long workIdBase) {
        return WorkId.slot(workIdBase) < WATCHED;
    }

    /// Lets [#finishEnded()] look at a member, which is completely constructed now.
    void watch(long workIdBase, GroupMember member) {
        int slot = WorkId.slot(workIdBase);
        if (slot < WATCHED) {
            lock.lock();
            try {
                watched[slot] = member;
                watchedSlots = Math.max(watchedSlots, slot + 1);
            } finally {
                lock.unlock();
            }
        }
    }

    /// Whether operations had ended when they were posted, and were not handled yet.
    boolean haveEnded() {
        int slots = watchedSlots;
        for (int slot = 0; slot < slots; slot++) {
            GroupMember member = watched[slot];
            if (member != null && member.hasEnded()) {
                return true;
            }
        }
        return false;
    }

    /// Ends the operations that had ended when they were posted.
    ///
    /// @return how many there were
    int finishEnded() {
        int count = 0;
        int slots = watchedSlots;
        for (int slot = 0; slot < slots; slot++) {
            GroupMember member = watched[slot];
            if (member != null && member.hasEnded()) {
                count += finishEnded(member, slot);
            }
        }
        return count;
    }

    private int finishEnded(GroupMember member, int slot) {
        try {
            return member.finishEnded();
        } catch (RuntimeException | Error e) {
            condemn(bases[slot], e);
            return 1;
        }
    }

    /// Gives `member` a slot.
    ///
    /// @param group the group's name
    /// @return the part that the numbers of all its work requests share
    /// @throws RdmaException if there is no slot left
    long join(GroupMember member, String group) {
        lock.lock();
        try {
            for (int slot = 0; slot < members.length; slot++) {
                if (members[slot] == null) {
                    generations[slot] = generations[slot] % (WorkId.MAX_GENERATIONS - 1) + 1;
                    bases[slot] = WorkId.base(slot, generations[slot]);
                    condemned[slot] = null;
                    members[slot] = member;
                    return bases[slot];
                }
            }
        } finally {
            lock.unlock();
        }
        throw new RdmaException(group + " has its " + members.length + " channels already", null);
    }

    /// Frees the slot of the member with this number.
    void leave(long workIdBase) {
        lock.lock();
        try {
            int slot = WorkId.slot(workIdBase);
            members[slot] = null;
            if (slot < WATCHED) {
                watched[slot] = null;
            }
        } finally {
            lock.unlock();
        }
    }

    /// Makes the member with this number fail soon. Any thread; allocates nothing.
    void condemn(long workIdBase, Throwable why) {
        int slot = WorkId.slot(workIdBase);
        if (bases[slot] == WorkId.base(workIdBase) && condemned[slot] == null) {
            condemned[slot] = why;
            anyCondemned = true;
        }
    }

    /// Makes all members fail soon. Allocates nothing.
    void condemnAll(Throwable why) {
        for (int slot = 0; slot < members.length; slot++) {
            if (members[slot] != null) {
                condemn(bases[slot], why);
            }
        }
    }

    /// Whether a member must fail and was not notified yet.
    boolean areCondemned() {
        return anyCondemned;
    }

    /// Fails the condemned members. If memory is short, they stay condemned.
    ///
    /// @param what creates the failure from the reason
    void failCondemned(Function<Throwable, RdmaException> what) {
        if (!anyCondemned) {
            return;
        }
        anyCondemned = false;
        for (int slot = 0; slot < members.length; slot++) {
            Throwable why = condemned[slot];
            GroupMember member = members[slot];
            if (why == null || member == null) {
                continue;
            }
            condemned[slot] = null;
            boolean notified = false;
            try {
                member.failed(what.apply(why));
                notified = true;
            } finally {
                if (!notified) {
                    condemned[slot] = why;
                    anyCondemned = true;
                }
            }
        }
    }
}
