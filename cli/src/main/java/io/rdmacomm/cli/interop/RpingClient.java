package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

/// The client of rping(1). For one thread.
///
/// ```
/// client                                   server
///   | SEND where the text is                 |
///   |--------------------------------------->|
///   |                READ the text           |
///   |<---------------------------------------|
///   |                SEND go ahead           |
///   |<---------------------------------------|
///   | SEND where the text is wanted          |
///   |--------------------------------------->|
///   |                WRITE the text          |
///   |<---------------------------------------|
///   |                SEND go ahead           |
///   |<---------------------------------------|
/// ```
public final class RpingClient implements AutoCloseable {
    /// The TCP port of rping(1).
    public static final int PORT = 7174;

    /// What rping(1) asks for: one READ at a time.
    static final ConnectionParameters PARAMETERS =
            ConnectionParameters.defaults().withDepths(1, 1);

    /// What the server may do to both buffers.
    static final Set<AccessFlag> ACCESS =
            EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);

    private final Conversation conversation;
    private final MemoryRegion source;
    private final MemoryRegion target;

    private RpingClient(Conversation conversation, int bytes) {
        this.conversation = conversation;
        this.source = conversation.allocate(bytes, ACCESS);
        this.target = conversation.allocate(bytes, ACCESS);
    }

    /// Connects to a server. Blocks.
    ///
    /// @param bytes the length of the text with its NUL, 26 to 65535
    /// @param patience how long each step may take, here and later
    public static RpingClient connect(ConnectionManager manager, String host, int port, int bytes, Duration patience)
            throws IOException, InterruptedException {
        Conversation conversation = Conversation.connect(manager, host, port, PARAMETERS, patience);
        boolean complete = false;
        try {
            RpingClient client = new RpingClient(conversation, bytes);
            complete = true;
            return client;
        } finally {
            if (!complete) {
                conversation.close();
            }
        }
    }

    /// Has a text read, and written back to another place, and compares the two.
    ///
    /// @param number which ping it is, counted from 0
    /// @return the nanoseconds that it took
    /// @throws CommandFailure if it failed or other bytes came back
    public long ping(long number) throws InterruptedException {
        RpingText.fill(source.segment(), number);
        target.segment().fill((byte) 0);
        long begin = System.nanoTime();
        advertise(source);
        advertise(target);
        long nanos = System.nanoTime() - begin;
        long wrong = source.segment().mismatch(target.segment());
        if (wrong >= 0) {
            throw new CommandFailure("ping " + number + " came back wrong at byte " + wrong);
        }
        return nanos;
    }

    private void advertise(MemoryRegion region) throws InterruptedException {
        RpingAdvert advert = new RpingAdvert(region.address(), region.remoteKey(), (int) region.length());
        if (!conversation.send(advert.encode())) {
            throw new CommandFailure("the server ended the connection: has it the same --size?");
        }
        MemorySegment goAhead = conversation.expectMessage();
        RpingAdvert.checkLength(goAhead);
        conversation.postReceive();
    }

    /// What came back last, as text.
    public String text() {
        return RpingText.text(target.segment());
    }

    /// Disconnects.
    @Override
    public void close() {
        conversation.close();
    }
}
