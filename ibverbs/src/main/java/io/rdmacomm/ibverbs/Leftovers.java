package io.rdmacomm.ibverbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.CompletionLayout;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.MemorySegment;

/// The requests of one queue of a siw queue pair that have not ended yet, in the order in which they were posted;
/// see [LateFlush].
///
/// One thread at a time posts, one at a time polls, and they may be two. While all goes well neither takes a lock: who
/// posts writes the requests down, who polls counts those that have succeeded.
abstract class Leftovers {
    /// The numbers of the requests, in a ring whose size is a power of two: finding a slot takes no division.
    final long[] ids;
    /// How many requests the queue holds.
    final int depth;
    /// Whether the program was told that the rest is flushed. Only for the polling thread.
    boolean over;

    private final LateFlush lateFlush;
    private final int queuePairNumber;

    /// @param lateFlush where they are flushed, for the completion queue of the queue
    /// @param depth how many requests the queue holds
    /// @param places how many places the ring has at least
    Leftovers(LateFlush lateFlush, int queuePairNumber, int depth, int places) {
        this.lateFlush = lateFlush;
        this.queuePairNumber = queuePairNumber;
        this.depth = depth;
        this.ids = new long[Integer.highestOneBit(Math.max(1, places) * 2 - 1)];
    }

    /// The slot of a request, by how many were posted before it.
    final int slot(long position) {
        return (int) position & (ids.length - 1);
    }

    /// The queue pair is in ERROR by now.
    final void fail() {
        lateFlush.add(this);
        if (!isEmpty()) {
            lateFlush.announce();
        }
    }

    /// There is something to flush.
    final void announce() {
        lateFlush.announce();
    }

    /// The queue pair is gone.
    final void close() {
        lateFlush.remove(this);
    }

    /// Whether all have ended.
    abstract boolean isEmpty();

    /// Flushes what is left, for a queue pair that has failed and whose completions were all polled. What the kernel
    /// says from now on comes too late.
    ///
    /// @param into where the completions go, from the one at `from` on
    /// @param room how many fit
    /// @return how many there were
    abstract int flush(MemorySegment into, int from, int room);

    /// Writes the completion at `index` in `into`.
    final void writeFlushed(MemorySegment into, int index, long workId) {
        long at = (long) index * CompletionLayout.BYTES;
        for (long i = 0; i < CompletionLayout.BYTES; i += Long.BYTES) {
            into.set(JAVA_LONG, at + i, 0);
        }
        into.set(JAVA_LONG, at + CompletionLayout.WORK_ID, workId);
        into.set(JAVA_INT, at + CompletionLayout.STATUS, WorkStatus.FLUSHED.code());
        into.set(JAVA_INT, at + CompletionLayout.QUEUE_PAIR_NUMBER, queuePairNumber);
    }
}
