package io.rdmacomm.soft.transport;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/// An operation that a peer is executing on memory of this side. Any thread.
public abstract class PeerOperation {
    private static final long DEADLINE_NANOS = 1_000_000_000L;
    private static final int SPINS = 1_000;
    private static final long PARK_NANOS = 20_000;

    /// Whether the operation has ended, or the peer's process has.
    protected abstract boolean hasEnded();

    /// Whether an earlier wait for this operation has timed out: the peer is most likely stopped.
    protected abstract boolean wasWaitedFor();

    /// Notes that a wait for the operation has timed out.
    protected abstract void waitedFor();

    /// Waits until all of these have ended. One deadline covers them all, so several stopped peers cost no more
    /// than one. Skips operations that were waited for before, so a stopped peer costs this only once.
    ///
    /// @return false if one has not ended after a second
    public static boolean awaitAll(Collection<PeerOperation> operations) {
        List<PeerOperation> left = operations.stream()
                .filter(operation -> !operation.wasWaitedFor())
                .toList();
        long deadline = System.nanoTime() + DEADLINE_NANOS;
        for (int spins = 0; !left.stream().allMatch(PeerOperation::hasEnded); spins++) {
            if (System.nanoTime() - deadline >= 0) {
                left.stream().filter(operation -> !operation.hasEnded()).forEach(PeerOperation::waitedFor);
                break;
            }
            pause(spins);
        }
        return operations.stream().allMatch(PeerOperation::hasEnded);
    }

    /// Polls, as another process cannot wake a thread of this one.
    private static void pause(int spins) {
        if (spins < SPINS) {
            Thread.onSpinWait();
        } else {
            LockSupport.parkNanos(PARK_NANOS);
        }
    }
}
