package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.transport.Engine;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.util.function.BooleanSupplier;

/// Makes the engine of a context receive from a socket while none of its threads polls.
final class SocketWatch implements Engine.Ready {
    /// A context that was polled within this time is left to the thread that polls.
    static final long ATTENDED_NANOS = 2_000_000;
    /// A socket that another thread was reading is left to that thread for this time.
    private static final long BUSY_NANOS = 100_000;

    private static final int PACKETS = 64;

    private final BooleanSupplier attended;
    private final PacketReader reader;
    private final SelectionKey key;
    /// Whether the engine does not watch the socket, because a thread polls.
    private volatile boolean left;
    /// Until when the engine does not watch it even if no thread polls; the engine.
    private long leftUntil = System.nanoTime();

    /// Starts watching.
    ///
    /// @param attended whether a thread polls
    /// @throws ClosedChannelException if the socket is closed
    SocketWatch(BooleanSupplier attended, Engine engine, PacketReader reader) throws ClosedChannelException {
        this.attended = attended;
        this.reader = reader;
        this.key = engine.register(reader.channel(), SelectionKey.OP_READ, this);
    }

    PacketReader reader() {
        return reader;
    }

    /// Whether the engine has left the socket to a thread that polls.
    boolean isLeft() {
        return left;
    }

    @Override
    public void ready(SelectionKey ready) {
        boolean polled = attended.getAsBoolean();
        if (polled || !reader.receive(PACKETS)) {
            leftUntil = System.nanoTime() + (polled ? 0 : BUSY_NANOS);
            left = true;
            ready.interestOps(0);
        }
    }

    /// Watches the socket again if no thread polls; the engine.
    ///
    /// @return nanoseconds until the next call is due
    long onTime() {
        if (!left) {
            return Long.MAX_VALUE;
        }
        long wait = attended.getAsBoolean() ? ATTENDED_NANOS : leftUntil - System.nanoTime();
        if (wait > 0) {
            return wait;
        }
        left = false;
        try {
            key.interestOps(SelectionKey.OP_READ);
        } catch (CancelledKeyException e) {
            // The socket, or the context, is being closed.
        }
        return 0;
    }

    /// Stops watching.
    void stop() {
        key.cancel();
    }
}
