package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.OnFailure;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

/// The client of rping(1). For one thread.
///
/// ```
/// client                                   server
///   | SEND address of the text               |
///   |--------------------------------------->|
///   |                READ the text           |
///   |<---------------------------------------|
///   |                SEND go ahead           |
///   |<---------------------------------------|
///   | SEND address of the target buffer      |
///   |--------------------------------------->|
///   |                WRITE the text          |
///   |<---------------------------------------|
///   |                SEND go ahead           |
///   |<---------------------------------------|
/// ```
public final class RpingClient implements AutoCloseable {
    /// The TCP port of rping(1).
    public static final int PORT = 7174;

    private static final int READS = 1;

    /// The rights of the server to both buffers.
    static final Set<AccessFlag> ACCESS =
            EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);

    private final SynchronousConnection connection;
    private final MemoryRegion source;
    private final MemoryRegion target;

    private RpingClient(SynchronousConnection connection, int bytes) {
        this.connection = connection;
        this.source = connection.allocate(bytes, ACCESS);
        this.target = connection.allocate(bytes, ACCESS);
    }

    /// The parameters of rping(1): one READ at a time.
    ///
    /// @param how the retries and the timeout
    static ConnectionParameters parameters(ConnectionOptions how) {
        return ConnectionParameters.of(how).withDepths(READS, READS);
    }

    /// Connects to a server. Blocks.
    ///
    /// @param how the traffic class, the retries and the timeout
    /// @param bytes the length of the text including its NUL, 26 to 65535
    /// @param timeout how long each step may take, here and later
    public static RpingClient connect(
            ConnectionManager manager, String host, int port, ConnectionOptions how, int bytes, Duration timeout)
            throws IOException, InterruptedException {
        SynchronousConnection connection = SynchronousConnection.connect(
                manager, host, port, IdentifierOptions.of(how.path()), parameters(how), timeout);
        return OnFailure.run(connection::close, () -> new RpingClient(connection, bytes));
    }

    /// Lets the server read a text and write it back into another buffer, and compares the two.
    ///
    /// @param number counts the pings from 0
    /// @return the round-trip time in nanoseconds
    /// @throws CommandFailure if the ping failed, or the text came back changed
    public long ping(long number) throws InterruptedException {
        RpingText.fill(source.segment(), number);
        target.segment().fill((byte) 0);
        long begin = System.nanoTime();
        advertise(source);
        advertise(target);
        long nanos = System.nanoTime() - begin;
        long wrong = source.segment().mismatch(target.segment());
        if (wrong >= 0) {
            throw new CommandFailure("ping " + number + " came back changed at byte " + wrong);
        }
        return nanos;
    }

    private void advertise(MemoryRegion region) throws InterruptedException {
        BufferFormat.Buffer buffer =
                new BufferFormat.Buffer(region.address(), (int) region.length(), region.remoteKey());
        if (!connection.send(BufferFormat.RPING.encode(buffer))) {
            throw new CommandFailure("the server ended the connection: does it use the same --size?");
        }
        MemorySegment goAhead = connection.expectMessage();
        BufferFormat.RPING.checkLength(goAhead);
        connection.postReceive();
    }

    /// The last text that came back.
    public String text() {
        return RpingText.text(target.segment());
    }

    /// Disconnects.
    @Override
    public void close() {
        connection.close();
    }
}
