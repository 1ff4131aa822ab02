package io.rdmacomm.ibverbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.ReceiveRequestLayout;
import java.lang.foreign.MemorySegment;

/// The receives of a siw queue pair that have not ended yet; see [LateFlush]. They end in the order in which they
/// were posted, so only how many have ended needs to be known.
final class OutstandingReceives extends Leftovers {
    /// @param lateFlush where they are flushed, for the completion queue of the queue pair's receives
    /// @param depth how many receives the queue holds
    OutstandingReceives(LateFlush lateFlush, int queuePairNumber, int depth) {
        super(lateFlush, queuePairNumber, depth);
    }

    /// To be called before receives are posted, of which there is room for all: another thread may poll their
    /// completions at once.
    ///
    /// @return how many there was room for
    int add(ReceiveBatch batch, int from, int wanted) {
        lock.lock();
        try {
            int taken = Math.min(wanted, depth - count);
            for (int i = from; i < from + taken; i++) {
                ids[slot(count++)] = batch.segment().get(JAVA_LONG, batch.at(i) + ReceiveRequestLayout.WORK_ID);
            }
            return taken;
        } finally {
            lock.unlock();
        }
    }

    /// Takes the last receives back, which were not posted after all.
    void withdraw(int wanted) {
        if (wanted == 0) {
            return;
        }
        lock.lock();
        try {
            count = Math.max(0, count - wanted);
        } finally {
            lock.unlock();
        }
    }

    /// A completion has come.
    ///
    /// @return false if the program was told before that this receive ended
    boolean end() {
        lock.lock();
        try {
            if (over) {
                return false;
            }
            if (count > 0) {
                first = slot(1);
                count--;
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    @Override
    int flush(MemorySegment into, int from, int room) {
        lock.lock();
        try {
            over = true;
            int told = Math.min(count, room);
            for (int i = 0; i < told; i++) {
                writeFlushed(into, from + i, ids[first]);
                first = slot(1);
            }
            count -= told;
            return told;
        } finally {
            lock.unlock();
        }
    }
}
