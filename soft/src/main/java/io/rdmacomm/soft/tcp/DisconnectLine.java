package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.soft.transport.QueuePairResources;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.service.SafeLogger;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.function.Consumer;

/// A TCP connection between two queue pairs that were connected by address and use shared memory. Closing it
/// disconnects them; an orderly close sends one byte first. Under the queue pair's send lock.
final class DisconnectLine implements Engine.Ready {
    private static final SafeLogger LOGGER = SafeLogger.of(DisconnectLine.class);
    private static final byte FAREWELL = 1;
    private static final String LOST = "the connection to the peer was lost";

    private final QueuePairResources queuePair;
    private final SocketChannel channel;
    private final LinkContext context;
    private final Consumer<String> onEnd;
    private String reason = "";
    private boolean ended;

    /// @param onEnd called once with the reason
    DisconnectLine(QueuePairResources queuePair, SocketChannel channel, LinkContext context, Consumer<String> onEnd) {
        this.queuePair = queuePair;
        this.channel = channel;
        this.context = context;
        this.onEnd = onEnd;
    }

    /// Begins to watch.
    ///
    /// @throws IOException if the connection is closed
    void open() throws IOException {
        context.engineLinks().register(channel, SelectionKey.OP_READ, this);
    }

    /// The peer has closed the connection: after the farewell byte this is a disconnect; without it, the peer's
    /// process has ended.
    @Override
    public void ready(SelectionKey key) {
        queuePair.lock().enter();
        try {
            int count = read();
            if (ended || count == 0) {
                return;
            }
            key.cancel();
            boolean orderly = count > 0;
            reason = orderly ? "the peer has ended the connection" : LOST;
            WorkStatus status = orderly ? WorkStatus.FLUSHED : WorkStatus.RETRY_EXCEEDED;
            AsyncEventType event = orderly ? AsyncEventType.UNKNOWN : AsyncEventType.QUEUE_PAIR_FATAL;
            queuePair.events().failed(status.code(), 0, event);
        } finally {
            queuePair.lock().leave();
        }
    }

    private int read() {
        try {
            return channel.read(ByteBuffer.allocate(1));
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "a connection is lost", e);
            return -1;
        }
    }

    /// Ends the connection; called once.
    ///
    /// @param orderly whether the peer's queue pair should see a disconnect rather than a failure
    void end(boolean orderly) {
        if (reason.isEmpty()) {
            // Shared memory may have shown the peer's end first.
            reason = read() < 0 ? LOST : "this side has ended the connection";
        }
        ended = true;
        if (orderly) {
            sayFarewell();
        }
        context.closing().close(channel);
        onEnd.accept(reason);
    }

    private void sayFarewell() {
        try {
            channel.write(ByteBuffer.wrap(new byte[] {FAREWELL}));
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.TRACE, "the peer has ended the connection, too", e);
        }
    }
}
