package io.rdmacomm.ibverbs.cm;

import io.rdmacomm.ibverbs.ffm.LibRdmacm;
import io.rdmacomm.ibverbs.structs.Deadline;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.spi.ConnectionDriver;
import io.rdmacomm.verbs.spi.ConnectionFacts;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// An identifier that is connected.
///
/// When the peer ends the connection, the thread of the event channel answers and fails the queue pair at once: the
/// program may be waiting only for its completions.
final class IbvConnection implements ConnectionDriver {
    private static final String ENDED_HERE = "this side disconnected";
    /// How long the end of a connection waits for the peer to notice.
    private static final long MOMENT_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final LibRdmacm library;
    private final ConnectionTransitions transitions;
    private final ConnectionIdentifier identifier;
    private final QueuePair queuePair;
    private final ConnectionFacts facts;
    private final CompletableFuture<String> end = new CompletableFuture<>();
    private boolean asked;
    private boolean over;

    IbvConnection(
            DeviceConnections connections,
            ConnectionIdentifier identifier,
            QueuePair queuePair,
            ConnectionFacts facts) {
        this.library = connections.library();
        this.transitions = connections.transitions();
        this.identifier = identifier;
        this.queuePair = queuePair;
        this.facts = facts;
    }

    @Override
    public ConnectionFacts facts() {
        return facts;
    }

    @Override
    public @Nullable String disconnectReason() {
        return end.getNow(null);
    }

    /// Handles an event; called by the thread of the channel, or by the one that made the connection.
    void occurred(IdentifierEvent event) {
        switch (event.type()) {
            case DISCONNECTED -> onEnd("the peer disconnected, or its host is gone");
            case DEVICE_REMOVAL -> onEnd("the device went away");
            // Ignored: TIMEWAIT_EXIT, after a reported end, and ADDR_CHANGE, which does not end the connection.
            default -> {}
        }
    }

    private void onEnd(String why) {
        boolean peerWaits = noteEnd();
        try {
            transitions.fail(queuePair);
            if (peerWaits && !transitions.isIwarp()) {
                // Answers the peer's request, which the peer would otherwise retransmit for a minute.
                disconnectInC();
            }
        } finally {
            end.complete(peerWaits ? why : ENDED_HERE);
        }
    }

    /// Notes that the connection has ended.
    ///
    /// @return whether the peer ended it, and waits for an answer
    private synchronized boolean noteEnd() {
        boolean peerWaits = !asked && !over;
        over = true;
        notifyAll();
        return peerWaits;
    }

    /// Ignores the errno: the peer may have disconnected first.
    private void disconnectInC() {
        try {
            int _ = identifier.call(library::disconnect);
        } catch (IllegalStateException e) {
            // The identifier was closed meanwhile, which disconnects as well.
        }
    }

    @Override
    public void disconnect() {
        synchronized (this) {
            if (asked || over) {
                return;
            }
            asked = true;
        }
        try {
            if (transitions.isIwarp()) {
                // Posted work is sent before the stream ends; failing the queue pair first would cut it off.
                disconnectInC();
                awaitOver();
                transitions.fail(queuePair);
            } else {
                transitions.fail(queuePair);
                disconnectInC();
            }
        } finally {
            end.complete(ENDED_HERE);
        }
    }

    /// Waits a moment for the event that shows that the peer was notified.
    private synchronized void awaitOver() {
        long deadline = Deadline.after(MOMENT_NANOS);
        try {
            while (!over && Deadline.left(deadline) > 0) {
                TimeUnit.NANOSECONDS.timedWait(this, Deadline.left(deadline));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public CompletableFuture<String> ended() {
        return end;
    }

    @Override
    public void close() {
        try {
            disconnect();
            awaitOver();
        } finally {
            identifier.destroy(this);
        }
    }

    @Override
    public String toString() {
        return "connection of " + queuePair + " to " + facts.remote();
    }
}
