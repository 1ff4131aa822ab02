package io.rdmacomm.cli.rig;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.FailureText;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// A connected socket with a limit on the time in which no byte moves. For one thread.
public final class WatchedSocket implements AutoCloseable {
    /// How many calls without effect lie between two yields, as a bit mask.
    private static final int SPIN_MASK = 1023;

    private final SocketChannel channel;
    private final Duration timeout;
    private final @Nullable Selector selector;
    private final @Nullable SelectionKey key;
    private final StallWatch watch;
    private final String advice;
    private long sent;
    private long received;
    private int spins;
    private boolean ended;

    /// Takes a connected channel, which [#close()] closes.
    ///
    /// @param timeout the longest time in which no byte moves
    /// @param advice the end of error messages: what to do if the peer does not do its part
    public WatchedSocket(SocketChannel channel, Waiting waiting, Duration timeout, String advice) throws IOException {
        this.advice = advice;
        this.channel = channel;
        this.timeout = timeout;
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.configureBlocking(waiting == Waiting.BLOCKING);
        this.selector = waiting == Waiting.SELECTOR ? channel.provider().openSelector() : null;
        this.key = selector == null ? null : channel.register(selector, 0);
        this.watch = new StallWatch(timeout, this::closeChannel);
    }

    /// Sends the rest of the buffer.
    ///
    /// @throws CommandFailure if it cannot; the message says what to do
    public void send(ByteBuffer bytes) {
        try {
            while (bytes.hasRemaining()) {
                int moved = channel.write(bytes);
                if (moved > 0) {
                    sent += moved;
                    watch.moved();
                } else {
                    await(SelectionKey.OP_WRITE);
                }
            }
        } catch (IOException | ClosedSelectorException | CancelledKeyException e) {
            throw failure(e);
        }
    }

    /// Fills the buffer.
    ///
    /// @throws CommandFailure if it cannot; the message says what to do
    public void receive(ByteBuffer into) {
        if (!tryReceive(into)) {
            throw new CommandFailure("the peer ended the connection after " + progress() + ": " + advice);
        }
    }

    /// Fills the buffer.
    ///
    /// @return false if the peer ended the connection first
    /// @throws CommandFailure if it cannot; the message says what to do
    public boolean tryReceive(ByteBuffer into) {
        try {
            while (into.hasRemaining()) {
                int moved = channel.read(into);
                if (moved > 0) {
                    received += moved;
                    watch.moved();
                } else if (moved < 0) {
                    ended = true;
                    return false;
                } else {
                    await(SelectionKey.OP_READ);
                }
            }
            return true;
        } catch (IOException | ClosedSelectorException | CancelledKeyException e) {
            throw failure(e);
        }
    }

    /// Whether the peer has ended the connection while this side waited for its bytes.
    public boolean hasEnded() {
        return ended;
    }

    /// Whether no byte has moved for too long.
    public boolean hasStalled() {
        return watch.hasStalled();
    }

    /// Waits until the peer ends the connection, which means that it has received everything.
    ///
    /// @throws CommandFailure if the peer sends more data
    public void awaitEnd() {
        ByteBuffer more = ByteBuffer.allocate(1);
        try {
            int moved = channel.read(more);
            while (moved == 0) {
                await(SelectionKey.OP_READ);
                moved = channel.read(more);
            }
            if (moved > 0) {
                throw new CommandFailure("the peer sends more than " + progress() + ": " + advice);
            }
        } catch (IOException | ClosedSelectorException | CancelledKeyException _) {
            // This counts as the end, too: the peer has received everything, or reports that it has not.
        }
    }

    @SuppressWarnings("ThreadPriorityCheck") // only helps a machine with fewer processors than threads that spin
    private void await(int operation) throws IOException {
        if (selector != null && key != null) {
            key.interestOps(operation);
            selector.select();
            selector.selectedKeys().clear();
        } else if ((++spins & SPIN_MASK) == 0) {
            Thread.yield();
        } else {
            Thread.onSpinWait();
        }
    }

    private CommandFailure failure(Exception cause) {
        if (watch.hasStalled()) {
            return new CommandFailure(
                    "no byte has moved for " + timeout.toMillis() / 1e3 + " s, after " + progress() + ": " + advice,
                    cause);
        }
        return new CommandFailure(
                "the connection broke after " + progress() + ": " + FailureText.of(cause) + ": " + advice, cause);
    }

    private String progress() {
        return received + " bytes from it and " + sent + " to it";
    }

    private void closeChannel() throws IOException {
        // A selector does not notice when another thread closes its channel.
        if (selector != null) {
            selector.close();
        }
        channel.close();
    }

    @Override
    public void close() {
        watch.close();
        Sockets.close(this::closeChannel);
    }

    /// The way a program waits at its socket.
    public enum Waiting {
        /// In blocking calls.
        BLOCKING,
        /// In a selector, after a non-blocking call had nothing to do.
        SELECTOR,
        /// Not at all: calls again at once.
        SPINNING
    }
}
