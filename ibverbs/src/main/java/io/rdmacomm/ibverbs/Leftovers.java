package io.rdmacomm.ibverbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.CompletionLayout;
import io.rdmacomm.verbs.OperationLock;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.MemorySegment;

/// The requests of one queue of a siw queue pair that have not ended yet, in the order in which they were posted;
/// see [LateFlush].
abstract class Leftovers {
    private final LateFlush lateFlush;
    private final int queuePairNumber;
    private final OperationLock lock = new OperationLock();

    /// @param lateFlush where they are flushed, for the completion queue of the queue
    Leftovers(LateFlush lateFlush, int queuePairNumber) {
        this.lateFlush = lateFlush;
        this.queuePairNumber = queuePairNumber;
    }

    /// How many slots a ring for `depth` requests has: a power of two, so that finding one takes no division.
    static int slots(int depth) {
        return Integer.highestOneBit(Math.max(1, depth) * 2 - 1);
    }

    final OperationLock lock() {
        return lock;
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

    /// Whether there is nothing to flush.
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
