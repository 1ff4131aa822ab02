package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

/// The client of the string copy: describes its string, receives a buffer of that length, WRITEs the string into
/// it, READs it back, compares and disconnects.
///
/// ```
/// client                                   server
///   | SEND source buffer                     |
///   |--------------------------------------->|  allocates as many bytes
///   |                     SEND target buffer |
///   |<---------------------------------------|
///   | WRITE the string, READ it back         |
///   |--------------------------------------->|
///   | disconnect                             |
/// ```
public final class StringCopyClient {
    /// The port of the C example.
    public static final int PORT = 20_886;
    /// The longest string, in bytes of UTF-8.
    public static final int MAX_BYTES = 16 << 20;

    static final ConnectionParameters PARAMETERS =
            ConnectionParameters.defaults().withDepths(3, 3);
    static final Set<AccessFlag> ACCESS =
            EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);

    private StringCopyClient() {}

    /// Copies `text` to the server and back. Blocks.
    ///
    /// @param text 1 to [#MAX_BYTES] bytes
    /// @param timeout how long each step may take
    /// @throws CommandFailure if the copy failed, or the text came back changed
    public static Result copy(ConnectionManager manager, String host, int port, byte[] text, Duration timeout)
            throws IOException, InterruptedException {
        try (SynchronousConnection connection =
                SynchronousConnection.connect(manager, host, port, IdentifierOptions.none(), PARAMETERS, timeout)) {
            MemoryRegion source = connection.allocate(text.length, ACCESS);
            MemoryRegion target = connection.allocate(text.length, ACCESS);
            source.segment().copyFrom(MemorySegment.ofArray(text));
            BufferFormat.Buffer own = new BufferFormat.Buffer(source.address(), text.length, source.remoteKey());
            connection.send(BufferFormat.STRING_COPY.encode(own));
            BufferFormat.Buffer remote = BufferFormat.STRING_COPY.decode(connection.expectMessage());
            if (remote.length() != text.length) {
                throw new CommandFailure("the server offers " + Integer.toUnsignedString(remote.length())
                        + " bytes, but the client asked for " + text.length);
            }
            long begin = System.nanoTime();
            connection.write(source, text.length, remote.address(), remote.key());
            long written = System.nanoTime();
            connection.read(target, text.length, remote.address(), remote.key());
            long read = System.nanoTime();
            long wrong = source.segment().mismatch(target.segment());
            if (wrong >= 0) {
                throw new CommandFailure("source and destination buffers differ at byte " + wrong);
            }
            return new Result(text.length, written - begin, read - written);
        }
    }

    /// The figures of a copied string, which came back unchanged.
    ///
    /// @param bytes the length of the string in UTF-8
    /// @param writeNanos how long the WRITE into the server's buffer took
    /// @param readNanos how long the READ back took
    public record Result(int bytes, long writeNanos, long readNanos) {}
}
