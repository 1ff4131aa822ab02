package io.rdmacomm.ibverbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.ReceiveRequestLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// The receives of a siw queue pair that have not ended yet; see [LateFlush]. They end in the order in which they
/// were posted, so only how many have ended needs to be known.
final class OutstandingReceives extends Leftovers {
    private static final VarHandle POSTED;
    private static final VarHandle ENDED;

    static {
        try {
            POSTED = MethodHandles.lookup().findVarHandle(OutstandingReceives.class, "posted", long.class);
            ENDED = MethodHandles.lookup().findVarHandle(OutstandingReceives.class, "ended", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // Written by who posts.
    private long posted;
    // Written by who polls. A receive may have ended before its poster gets to write it down.
    private long ended;

    /// @param lateFlush where they are flushed, for the completion queue of the queue pair's receives
    /// @param depth how many receives the queue holds
    OutstandingReceives(LateFlush lateFlush, int queuePairNumber, int depth) {
        super(lateFlush, queuePairNumber, depth, depth);
    }

    /// How many more receives fit, for a queue pair in ERROR.
    int room() {
        return (int) Math.min(depth, depth - posted + (long) ENDED.getAcquire(this));
    }

    /// Receives were posted, of which there was room for all.
    void add(ReceiveBatch batch, int from, int count) {
        long position = posted;
        for (int i = from; i < from + count; i++) {
            ids[slot(position++)] = batch.segment().get(JAVA_LONG, batch.at(i) + ReceiveRequestLayout.WORK_ID);
        }
        POSTED.setRelease(this, position);
    }

    /// A completion has come.
    ///
    /// @return false if the program was told before that this receive ended
    boolean end() {
        if (over) {
            return false;
        }
        ENDED.setRelease(this, ended + 1);
        return true;
    }

    @Override
    boolean isEmpty() {
        return (long) ENDED.getAcquire(this) >= (long) POSTED.getAcquire(this);
    }

    @Override
    int flush(MemorySegment into, int from, int room) {
        over = true;
        long position = ended;
        int told = (int) Math.min(room, (long) POSTED.getAcquire(this) - position);
        for (int i = 0; i < told; i++) {
            writeFlushed(into, from + i, ids[slot(position++)]);
        }
        ENDED.setRelease(this, position);
        return Math.max(0, told);
    }
}
