package io.rdmacomm.soft.shm;

import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.verbs.service.SafeLogger;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Watches the connection to a peer: for its end, and for room to send the messages that wait in the [Outbox]. Only
/// for the engine's thread.
final class PeerWatch implements Engine.Ready {
    private static final SafeLogger LOGGER = SafeLogger.of(PeerWatch.class);

    private final ShmPeer peer;
    private final Engine engine;
    private final Consumer<ShmPeer> onEnd;
    private final ByteBuffer nothing = ByteBuffer.allocate(ShmMessage.BYTES);
    private @Nullable SelectionKey key;

    /// @param onEnd called when the connection has ended
    PeerWatch(ShmPeer peer, Engine engine, Consumer<ShmPeer> onEnd) {
        this.peer = peer;
        this.engine = engine;
        this.onEnd = onEnd;
    }

    /// Begins to watch.
    void begin() {
        try {
            key = engine.register(peer.socket(), SelectionKey.OP_READ, this);
        } catch (IOException e) {
            end(e);
        }
    }

    @Override
    public void ready(SelectionKey ready) {
        try {
            // Peers never send on this connection, so it becomes readable only at its end.
            if (ready.isReadable() && peer.socket().read(nothing.clear()) < 0) {
                throw new IOException("the peer has ended the connection");
            }
            flush();
        } catch (IOException e) {
            end(e);
        }
    }

    /// Sends the waiting messages, now or when there is room.
    void flush() {
        SelectionKey watched = key;
        if (watched == null || !watched.isValid()) {
            return;
        }
        try {
            boolean sent = peer.outbox().flush();
            watched.interestOps(sent ? SelectionKey.OP_READ : SelectionKey.OP_READ | SelectionKey.OP_WRITE);
        } catch (IOException e) {
            end(e);
        }
    }

    private void end(IOException why) {
        LOGGER.log(System.Logger.Level.DEBUG, () -> "the connection to LID " + peer.lid() + " has ended", why);
        SelectionKey watched = key;
        if (watched != null) {
            watched.cancel();
        }
        onEnd.accept(peer);
    }
}
