package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.Consumer;

/// The server of rping(1); [RpingClient] shows the protocol. Only the position of a message in the sequence tells
/// whether it describes the source or the target buffer.
public final class RpingServer implements ConnectionServer.Handler {
    private static final MemorySegment GO_AHEAD =
            MemorySegment.ofArray(new byte[BufferFormat.BYTES]).asReadOnly();

    private final Consumer<String> texts;

    private RpingServer(Consumer<String> texts) {
        this.texts = texts;
    }

    /// Starts to listen.
    ///
    /// @param address where to listen; port 0 picks a free one
    /// @param how the traffic class, the retries and the timeout
    /// @param timeout how long to wait for a client at each step
    /// @param texts receives the text of each ping, as rping(1) prints it with -v
    public static InteropServer listen(
            ConnectionManager manager,
            InetSocketAddress address,
            ConnectionOptions how,
            Duration timeout,
            Consumer<String> texts) {
        return new ConnectionServer(
                manager,
                address,
                IdentifierOptions.of(how.path()),
                RpingClient.parameters(how),
                timeout,
                new RpingServer(texts));
    }

    @Override
    public String serve(SynchronousConnection client) throws InterruptedException {
        long pings = 0;
        // Large enough for any size, while the C program needs the same -S on both sides.
        MemoryRegion text = client.allocate(RpingText.MAX_BYTES, RpingClient.ACCESS);
        while (answer(client, text)) {
            pings++;
        }
        return pings + " pings served";
    }

    /// Answers the next ping.
    ///
    /// @return false if the client has disconnected
    private boolean answer(SynchronousConnection client, MemoryRegion text) throws InterruptedException {
        MemorySegment message = client.awaitMessage();
        if (message == null) {
            return false;
        }
        BufferFormat.Buffer from = BufferFormat.RPING.decode(message);
        checkSize(from);
        client.read(text, from.length(), from.address(), from.key());
        MemorySegment content = text.segment().asSlice(0, from.length());
        texts.accept("server ping data: " + RpingText.text(content));
        client.postReceive();
        if (!client.send(GO_AHEAD)) {
            throw new CommandFailure("the client disconnected in the middle of a ping");
        }
        BufferFormat.Buffer to = BufferFormat.RPING.decode(client.expectMessage());
        long length = RpingText.length(content);
        if (Integer.toUnsignedLong(to.length()) < length) {
            throw new CommandFailure("the client asks for " + length + " bytes in a buffer of "
                    + Integer.toUnsignedString(to.length()) + ": it speaks a different protocol than rping");
        }
        client.write(text, length, to.address(), to.key());
        client.postReceive();
        // The client may disconnect now without acknowledging this message, so its result does not matter.
        client.send(GO_AHEAD);
        return true;
    }

    private static void checkSize(BufferFormat.Buffer buffer) {
        if (buffer.length() < 1 || buffer.length() > RpingText.MAX_BYTES) {
            throw new CommandFailure("the client offers a text of " + Integer.toUnsignedString(buffer.length())
                    + " bytes where rping has 1 to " + RpingText.MAX_BYTES + ": it speaks a different protocol");
        }
    }
}
