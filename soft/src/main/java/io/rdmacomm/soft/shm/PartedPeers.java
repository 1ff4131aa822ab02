package io.rdmacomm.soft.shm;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/// Peers whose connection has ended, until their process has ended, too: nearly always at once. A process that was
/// stopped may go on and finish what it was doing, so until then its claims and its journal are left to it, and its
/// memory stays mapped. Nothing tells when the lock of its folder becomes free, so the engine looks. Only for the
/// engine.
final class PartedPeers implements AutoCloseable {
    private static final long FIRST_LOOK_NANOS = 1_000_000;
    private static final long LONGEST_LOOK_NANOS = 100_000_000;

    /// A peer, and the connections to it in which it may be in the middle of an operation.
    private record Parted(Peer peer, List<ShmTransport> connections, List<ShmTransport> busy) {}

    private final Consumer<Runnable> attempt;
    private final SharedMemory.Events events;
    private final List<Parted> all = new ArrayList<>();
    private long next;
    private long lookNanos;

    /// @param attempt runs something whose failure must not keep the rest from being done
    PartedPeers(Consumer<Runnable> attempt, SharedMemory.Events events) {
        this.attempt = attempt;
        this.events = events;
    }

    /// The connection of `peer` has ended.
    ///
    /// @param connections with it, which have failed
    void add(Peer peer, List<ShmTransport> connections) {
        List<ShmTransport> busy = new ArrayList<>(connections);
        busy.removeIf(ShmTransport::isPeerIdle);
        all.add(new Parted(peer, connections, busy));
        lookNanos = FIRST_LOOK_NANOS;
        look();
    }

    private void look() {
        all.removeIf(this::hasEnded);
        next = System.nanoTime() + lookNanos;
        lookNanos = Math.min(2 * lookNanos, LONGEST_LOOK_NANOS);
    }

    private boolean hasEnded(Parted each) {
        boolean gone = each.peer.isGone();
        if (gone) {
            for (ShmTransport transport : each.connections) {
                attempt.accept(transport::peerDied);
            }
            attempt.accept(() -> events.onPeerDied(each.peer.lid()));
        }
        if (each.busy.removeIf(ShmTransport::isPeerIdle)) {
            // It has finished something meanwhile, and could not tell.
            attempt.accept(events::onPeerParted);
        }
        if (gone) {
            each.peer.close();
        }
        return gone;
    }

    /// Looks whether they have ended, if it is time to.
    ///
    /// @return nanoseconds until this is wanted again
    long onTime() {
        if (all.isEmpty()) {
            return Long.MAX_VALUE;
        }
        if (next - System.nanoTime() <= 0) {
            look();
        }
        return all.isEmpty() ? Long.MAX_VALUE : Math.max(0, next - System.nanoTime());
    }

    /// Unmaps the memory of those that have not ended; the engine has stopped.
    @Override
    public void close() {
        all.forEach(each -> each.peer.close());
        all.clear();
    }
}
