package io.rdmacomm.soft;

import io.rdmacomm.soft.shm.Engine;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/// The end of a connection whose peer is to read why. Closing a socket that has unread data makes TCP reset the
/// connection, which may take the last words from the peer; so what still comes is read and dropped, until the
/// peer closes its side or a second is over. The engine.
final class Farewell implements Engine.Ready {
    private static final long PATIENCE_NANOS = 1_000_000_000L;
    private static final int ROUNDS = 16;

    private final Links links;
    private final SocketChannel channel;
    private final ByteBuffer scratch;
    private final long deadline = System.nanoTime() + PATIENCE_NANOS;

    /// @param scratch of the engine: what is read is not looked at
    Farewell(Links links, SocketChannel channel, ByteBuffer scratch) {
        this.links = links;
        this.channel = channel;
        this.scratch = scratch;
    }

    SocketChannel channel() {
        return channel;
    }

    @Override
    public void ready(SelectionKey key) {
        try {
            int count = 1;
            for (int i = 0; i < ROUNDS && count > 0; i++) {
                count = channel.read(scratch.clear());
            }
            if (count < 0) {
                links.ended(this);
            }
        } catch (IOException e) {
            links.ended(this);
        }
    }

    /// Ends it when its time is over.
    void checkTime(long now) {
        if (now - deadline >= 0) {
            links.ended(this);
        }
    }
}
