package io.rdmacomm.soft;

import io.rdmacomm.soft.shm.ControlLayout;
import io.rdmacomm.soft.shm.Peer;
import io.rdmacomm.soft.shm.SharedWords;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// Waits for operations that are under way on the thread or process of somebody else.
///
/// A queue pair's counter is odd while its owner carries operations out, which takes as long as copying takes.
/// The wait has a deadline: a peer that was stopped in the middle of an operation writes, when it goes on, into
/// pages that only it still maps, which therefore must stay.
final class Executions {
    private static final long DEADLINE_NANOS = 1_000_000_000L;
    private static final int SPINS = 1_000;
    private static final long PARK_NANOS = 20_000;

    private Executions() {}

    /// Waits until they have ended, or have not in time.
    ///
    /// @param owner whose process it is, if not this one's
    /// @return false if they have not ended in time
    static boolean await(MemorySegment memory, long block, @Nullable Peer owner) {
        long seen = SharedWords.acquire(memory, block + ControlLayout.QP_EXECUTING);
        if ((seen & 1) == 0) {
            return true;
        }
        long deadline = System.nanoTime() + DEADLINE_NANOS;
        int spins = 0;
        while (SharedWords.acquire(memory, block + ControlLayout.QP_EXECUTING) == seen
                && (owner == null || owner.isAlive())) {
            if (System.nanoTime() - deadline >= 0) {
                return false;
            }
            if (++spins < SPINS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(PARK_NANOS);
            }
        }
        return true;
    }
}
