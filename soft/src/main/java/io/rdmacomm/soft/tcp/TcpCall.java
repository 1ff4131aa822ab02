package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.verbs.service.SafeLogger;
import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/// A TCP connection during its handshake. Never blocks; ends at its deadline regardless of the other side. Driven by
/// the engine.
abstract class TcpCall implements Engine.Ready {
    private static final SafeLogger LOGGER = SafeLogger.of(TcpCall.class);
    private static final long TIMEOUT_NANOS = 5_000_000_000L;

    private final TcpNode node;
    private final SocketChannel channel;
    private final long begin = System.nanoTime();

    TcpCall(TcpNode node, SocketChannel channel) {
        this.node = node;
        this.channel = channel;
    }

    final SocketChannel channel() {
        return channel;
    }

    final TcpNode node() {
        return node;
    }

    @Override
    public final void ready(SelectionKey key) {
        try {
            advance(key);
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "a call is ended: {0}", e.toString());
            onMalformed();
            end();
        } catch (RuntimeException | Error e) {
            // A bug here, or a lack of memory for a link's buffers, ends only this call.
            LOGGER.log(System.Logger.Level.WARNING, "a call is ended after an unexpected failure", e);
            onMalformed();
            end();
        }
    }

    /// Continues the handshake as far as the socket allows without blocking.
    abstract void advance(SelectionKey key) throws IOException;

    /// Ends the call, and closes its connection.
    final void end() {
        leave();
        node.links().closing().close(channel);
        onEnd();
    }

    /// Ends the call; its connection stays open.
    final void leave() {
        node.left(this);
    }

    /// The other side speaks another protocol, or has disconnected early; the call is about to end.
    void onMalformed() {}

    /// The call has timed out; it is about to end.
    void onTimeout() {}

    /// The call has ended without success.
    void onEnd() {}

    /// How long the call may take.
    long timeoutNanos() {
        return TIMEOUT_NANOS;
    }

    final boolean isOlderThan(long nanos) {
        return System.nanoTime() - begin >= nanos;
    }

    /// Ends the call if it has timed out.
    final void checkTime() {
        if (isOlderThan(timeoutNanos())) {
            try {
                onTimeout();
            } finally {
                end();
            }
        }
    }
}
