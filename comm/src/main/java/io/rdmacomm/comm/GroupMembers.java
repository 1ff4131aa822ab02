package io.rdmacomm.comm;

import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// The adapters whose work completes in one completion group, by the slot in the numbers of their work requests.
final class GroupMembers {
    private final @Nullable RdmaAdapter[] adapters;
    private final int[] generations;
    private final ReentrantLock lock = new ReentrantLock();

    /// @param most how many adapters may join
    GroupMembers(int most) {
        adapters = new @Nullable RdmaAdapter[most];
        generations = new int[most];
    }

    /// The adapter that posted the work with this number; null if it has parted.
    @Nullable
    RdmaAdapter of(long workId) {
        RdmaAdapter adapter = adapters[WorkId.slot(workId)];
        return adapter == null || adapter.workIdBase() != WorkId.base(workId) ? null : adapter;
    }

    /// Gives `adapter` a slot.
    ///
    /// @param group what the group is called
    /// @return the part that the numbers of all its work requests share
    /// @throws CommException if there is no place for it
    long join(RdmaAdapter adapter, String group) {
        lock.lock();
        try {
            for (int slot = 0; slot < adapters.length; slot++) {
                if (adapters[slot] == null) {
                    adapters[slot] = adapter;
                    generations[slot] = (generations[slot] + 1) % WorkId.MAX_GENERATIONS;
                    return WorkId.base(slot, generations[slot]);
                }
            }
        } finally {
            lock.unlock();
        }
        throw new CommException(group + " has its " + adapters.length + " channels already", null);
    }

    /// Takes the slot back from the adapter with this number.
    void part(long workIdBase) {
        lock.lock();
        try {
            adapters[WorkId.slot(workIdBase)] = null;
        } finally {
            lock.unlock();
        }
    }

    /// Fails all of them.
    void fail(CommException why) {
        for (RdmaAdapter adapter : adapters) {
            if (adapter != null) {
                adapter.fail(why);
            }
        }
    }
}
