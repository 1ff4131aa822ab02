package io.rdmacomm.soft.cm.ib;

import io.rdmacomm.soft.roce.cm.Conversation;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.spi.ConnectionDriver;
import io.rdmacomm.verbs.spi.ConnectionFacts;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// An established connection. As on adapters, its queue pair fails when the peer no longer answers, but only a message
/// of the peer, or this side, ends it.
final class IbConnection implements ConnectionDriver {
    private static final String BY_PEER = "the peer disconnected";
    private static final String BY_THIS_SIDE = "this side disconnected";

    private final IbDevice device;
    private final Conversation conversation;
    private final QueuePair queuePair;
    private final ConnectionFacts facts;
    private final AtomicReference<@Nullable String> reason = new AtomicReference<>();
    private final CompletableFuture<String> ended = new CompletableFuture<>();

    private IbConnection(IbDevice device, Conversation conversation, QueuePair queuePair, ConnectionFacts facts) {
        this.device = device;
        this.conversation = conversation;
        this.queuePair = queuePair;
        this.facts = facts;
    }

    /// A connection whose queue pair is ready.
    static IbConnection confirmed(
            IbDevice device, Conversation conversation, ConnectionTerms terms, ConnectionFacts facts) {
        IbConnection connection = new IbConnection(device, conversation, terms.queuePair(), facts);
        device.port().reached(terms.queuePair().number());
        if (!conversation.confirm(connection::endedByPeer)) {
            connection.endedByPeer();
        }
        return connection;
    }

    /// Ends on another thread: the receiving thread holds a lock.
    private void endedByPeer() {
        device.port().execute(() -> end(BY_PEER));
    }

    private void end(String why) {
        String known = reason.compareAndExchange(null, why);
        try {
            fail(queuePair);
        } finally {
            conversation.disconnect();
            if (known == null && !conversation.isPeers()) {
                // Return the port only once: another connection may have it next.
                device.protocol().returnPort(facts.local().getPort());
            }
            ended.complete(known == null ? why : known);
        }
    }

    /// Flushes what was posted.
    static void fail(QueuePair queuePair) {
        try {
            if (queuePair.state() != QueuePairState.ERROR && queuePair.state() != QueuePairState.RESET) {
                queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
            }
        } catch (IllegalStateException e) {
            // The owner has closed the queue pair.
        }
    }

    @Override
    public ConnectionFacts facts() {
        return facts;
    }

    @Override
    public @Nullable String disconnectReason() {
        return reason.get();
    }

    @Override
    public void disconnect() {
        end(BY_THIS_SIDE);
    }

    @Override
    public CompletableFuture<String> ended() {
        return ended;
    }

    @Override
    public void awaitConfirmation(long nanos) {
        try {
            var _ = conversation.awaitChange(Conversation.State.DISCONNECTING, nanos);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        disconnect();
    }

    @Override
    public String toString() {
        return "connection of " + queuePair + " to " + facts.remote();
    }
}
