package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.Printable;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;

/// The server of the string copy: lends each client as much memory as it asks for, until it disconnects.
/// [StringCopyClient] shows the protocol.
public final class StringCopyServer implements ConnectionServer.Handler {
    private static final int SHOWN = 60;

    private StringCopyServer() {}

    /// Starts to listen.
    ///
    /// @param address where to listen; port 0 picks a free one
    /// @param timeout how long to wait for a client at each step
    public static InteropServer listen(ConnectionManager manager, InetSocketAddress address, Duration timeout) {
        return new ConnectionServer(
                manager,
                address,
                IdentifierOptions.none(),
                StringCopyClient.PARAMETERS,
                timeout,
                new StringCopyServer());
    }

    @Override
    public String serve(SynchronousConnection client) throws InterruptedException {
        BufferFormat.Buffer wanted = BufferFormat.STRING_COPY.decode(client.expectMessage());
        if (wanted.length() < 1 || wanted.length() > StringCopyClient.MAX_BYTES) {
            throw new CommandFailure("the client asks for " + Integer.toUnsignedString(wanted.length())
                    + " bytes; the limit is 1 to " + StringCopyClient.MAX_BYTES);
        }
        MemoryRegion buffer = client.allocate(wanted.length(), StringCopyClient.ACCESS);
        // The client sends nothing more: this receive completes when the client disconnects.
        client.postReceive();
        client.send(BufferFormat.STRING_COPY.encode(
                new BufferFormat.Buffer(buffer.address(), wanted.length(), buffer.remoteKey())));
        if (client.awaitMessage() != null) {
            throw new CommandFailure("the client sent a message instead of disconnecting");
        }
        return wanted.length() + " bytes copied: " + shown(buffer.segment());
    }

    /// The beginning of the text, with only printable characters.
    private static String shown(MemorySegment buffer) {
        byte[] bytes =
                buffer.asSlice(0, Math.min(buffer.byteSize(), 4L * (SHOWN + 1))).toArray(ValueLayout.JAVA_BYTE);
        String beginning = Printable.text(bytes);
        int count = beginning.codePointCount(0, beginning.length());
        return count <= SHOWN
                ? "\"" + beginning + "\""
                : "\"" + beginning.substring(0, beginning.offsetByCodePoints(0, SHOWN)) + "\" ...";
    }
}
