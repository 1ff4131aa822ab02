package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.verbs.service.Closer;
import io.rdmacomm.verbs.service.SafeLogger;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Closes connections so that the peer can still read a closing frame. Closing a socket that has unread data makes
/// TCP reset the connection, which may discard that frame at the peer. So this side sends FIN, then reads and drops
/// incoming data until the peer closes its side or a second is over. Runs on the engine.
final class LingeringClose implements AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.of(LingeringClose.class);
    private static final long TIMEOUT_NANOS = 1_000_000_000L;
    /// Enough for a large program whose links all end at once, plus the callers that TcpNode limits. Without a limit,
    /// a program that keeps making links to peers that do not hang up would run out of file descriptors.
    private static final int MOST_OPEN = 4096;

    private static final int SCRATCH_BYTES = 64 * 1024;
    private static final int ROUNDS = 16;

    private final Engine engine;
    private final Set<Lingering> open = ConcurrentHashMap.newKeySet();
    private final ByteBuffer scratch = ByteBuffer.allocateDirect(SCRATCH_BYTES);
    private volatile boolean closed;

    LingeringClose(Engine engine) {
        this.engine = engine;
    }

    /// Ends a connection; any thread.
    ///
    /// @param lastWords whether a closing frame was sent that the peer should still read
    void close(SocketChannel channel, boolean lastWords) {
        if (lastWords) {
            linger(channel, () -> {});
        } else {
            close(channel);
        }
    }

    /// Ends a connection whose peer should still read a closing frame; any thread.
    ///
    /// @param onEnd called when the socket is closed, perhaps more than once
    Lingering linger(SocketChannel channel, Runnable onEnd) {
        Lingering lingering = new Lingering(channel, onEnd);
        if (closed || open.size() >= MOST_OPEN) {
            lingering.end();
        } else {
            open.add(lingering);
            engine.execute(lingering::begin);
        }
        return lingering;
    }

    /// Closes a socket at once; errors are only logged.
    void close(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "closing a connection", e);
        }
        engine.wakeup();
    }

    boolean isEmpty() {
        return open.isEmpty();
    }

    /// Closes the connections whose timeout has expired; the engine.
    void checkTimes(long now) {
        for (Lingering lingering : open) {
            if (now - lingering.deadline >= 0) {
                lingering.end();
            }
        }
    }

    /// Closes all connections at once; the engine has stopped.
    @Override
    public void close() {
        closed = true;
        open.forEach(lingering -> Closer.step(lingering.channel, lingering::end));
    }

    /// A connection whose peer may still read a closing frame.
    final class Lingering implements Engine.Ready {
        private final SocketChannel channel;
        private final Runnable onEnd;
        private final long deadline = System.nanoTime() + TIMEOUT_NANOS;

        private Lingering(SocketChannel channel, Runnable onEnd) {
            this.channel = channel;
            this.onEnd = onEnd;
        }

        private void begin() {
            try {
                channel.shutdownOutput();
                engine.register(channel, SelectionKey.OP_READ, this);
            } catch (IOException | RuntimeException e) {
                end();
            }
        }

        @Override
        public void ready(SelectionKey key) {
            try {
                int count = 1;
                for (int i = 0; i < ROUNDS && count > 0; i++) {
                    count = channel.read(scratch.clear());
                }
                if (count < 0) {
                    end();
                }
            } catch (IOException e) {
                end();
            }
        }

        /// Closes the socket at once.
        void end() {
            open.remove(this);
            close(channel);
            onEnd.run();
        }
    }
}
