package io.rdmacomm.soft.shm;

import io.rdmacomm.verbs.service.Closer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

/// Peers whose connection has ended, until their process has ended, too, which is nearly always at once. A process
/// that was stopped may resume and finish its operations. So until it has ended, its claims and its journal stay
/// untouched, and its memory stays mapped. No event reports that the lock of its folder is free, so the engine
/// checks. Only for the engine's thread.
final class DisconnectedPeers implements AutoCloseable {
    private static final long FIRST_CHECK_NANOS = 1_000_000;
    private static final long LONGEST_CHECK_NANOS = 100_000_000;

    /// A peer, and the connections to it in which it may be in the middle of an operation.
    private record Parted(ShmPeer peer, List<ShmTransport> connections, List<ShmTransport> busy) {}

    private final Consumer<Runnable> attempt;
    private final IntConsumer part;
    private final SharedMemory.Events events;
    private final List<Parted> all = new ArrayList<>();
    private long next;
    private long checkNanos;

    /// @param attempt runs a step, and reports its failure so that the next steps still run
    /// @param part gets the LID of a context that has ended, and ends a connection to it if there is one
    DisconnectedPeers(Consumer<Runnable> attempt, IntConsumer part, SharedMemory.Events events) {
        this.attempt = attempt;
        this.part = part;
        this.events = events;
    }

    /// The connection of `peer` has ended.
    ///
    /// @param connections with it, which have failed
    void add(ShmPeer peer, List<ShmTransport> connections) {
        List<ShmTransport> busy = new ArrayList<>(connections);
        attempt.accept(() -> busy.removeIf(ShmTransport::isPeerIdle));
        all.add(new Parted(peer, connections, busy));
        checkNanos = FIRST_CHECK_NANOS;
        next = System.nanoTime();
    }

    private void check() {
        next = System.nanoTime() + checkNanos;
        checkNanos = Math.min(2 * checkNanos, LONGEST_CHECK_NANOS);
        int[] ended = all.stream()
                .filter(each -> each.peer.isGone())
                .mapToInt(each -> each.peer.lid())
                .distinct()
                .toArray();
        for (int lid : ended) {
            end(lid);
        }
        all.forEach(this::reportIdle);
    }

    /// A context has ended. It has several entries if it had reconnected. Its claims are skipped last, because each
    /// connection may owe a completion for one of them.
    private void end(int lid) {
        attempt.accept(() -> part.accept(lid));
        List<Parted> ended = all.stream().filter(each -> each.peer.lid() == lid).toList();
        // First, so that no later check finds them again.
        all.removeAll(ended);
        for (Parted each : ended) {
            for (ShmTransport transport : each.connections) {
                attempt.accept(transport::peerDied);
            }
        }
        attempt.accept(() -> events.onPeerDied(lid));
        ended.forEach(this::reportIdle);
        ended.forEach(each -> attempt.accept(each.peer::close));
    }

    /// Reports operations that a peer has finished meanwhile, because the peer cannot report them.
    private void reportIdle(Parted each) {
        attempt.accept(() -> {
            if (each.busy.removeIf(ShmTransport::isPeerIdle)) {
                events.onPeerParted();
            }
        });
    }

    /// Checks whether they have ended, if a check is due.
    ///
    /// @return nanoseconds until the next call is due
    long onTime() {
        if (all.isEmpty()) {
            return Long.MAX_VALUE;
        }
        if (next - System.nanoTime() <= 0) {
            check();
        }
        return all.isEmpty() ? Long.MAX_VALUE : Math.max(0, next - System.nanoTime());
    }

    /// Unmaps the memory of those that have not ended; the engine has stopped.
    @Override
    public void close() {
        all.forEach(each -> Closer.step(each.peer, each.peer::close));
        all.clear();
    }
}
