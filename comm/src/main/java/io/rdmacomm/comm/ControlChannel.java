package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Bounds;
import io.rdmacomm.comm.data.ProgressWait;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.Printable;
import java.lang.foreign.MemorySegment;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The library's internal channel of an endpoint: announces and withdraws buffers, signals barriers, moves
/// credits, and sends DONE and ABORT.
///
/// Its messages, in network order. Only messages about buffers have a name; a withdrawal has only the name. An
/// abort has its code in the access field and its reason in the name field. Messages about credits have the index
/// of the data channel in the access field, and those that return credits have their number in the address field:
///
/// ```
///  0       2       4       8               16              24      28      32
/// +-------+-------+-------+---------------+---------------+-------+-------+--------------+
/// | type  | name  |access | address       | length        | remote|   0   | name in UTF-8|
/// |       | length|       |               |               | key   |       |              |
/// +-------+-------+-------+---------------+---------------+-------+-------+--------------+
/// ```
final class ControlChannel {
    private static final int HEADER = 32;
    private static final int MAX_NAME_BYTES = 512;
    private static final int MESSAGE_BYTES = HEADER + MAX_NAME_BYTES;
    private static final int BUFFER = 1;
    private static final int BARRIER = 2;
    private static final int DONE = 3;
    private static final int ABORT = 4;
    private static final int CREDITS_WANTED = 5;
    private static final int CREDITS_RETURNED = 6;
    private static final int WITHDRAWN = 7;

    private final RdmaChannel channel;
    private final Supplier<BufferSlice> outgoing;
    private final long endPoint;
    private final int mostBuffers;
    private final PeerState peer;
    private final EndPointEvents events;
    private final ReentrantLock sending = new ReentrantLock();

    /// @param outgoing memory for one message, when it is connected
    /// @param endPoint the number of the endpoint
    /// @param mostBuffers how many buffers the peer may announce
    /// @param peer stores what the peer announces
    ControlChannel(
            RdmaChannel channel,
            Supplier<BufferSlice> outgoing,
            long endPoint,
            int mostBuffers,
            PeerState peer,
            EndPointEvents events) {
        this.channel = channel;
        this.outgoing = outgoing;
        this.endPoint = endPoint;
        this.mostBuffers = mostBuffers;
        this.peer = peer;
        this.events = events;
        channel.onMessage((on, message) -> received(message));
    }

    /// The options of control channels.
    ///
    /// @param connection the connection options of the data channels
    static ChannelOptions options(ConnectionOptions connection) {
        return ChannelOptions.defaults()
                .withSendWindow(8)
                .withReceives(16)
                .withMessageBytes(MESSAGE_BYTES)
                .withConnection(connection);
    }

    RdmaChannel channel() {
        return channel;
    }

    /// Announces a buffer to the peer. Blocks until the peer's device has received the message.
    ///
    /// @throws DeadlineException if that takes longer than `timeout`
    void announce(RemoteBuffer buffer, Duration timeout) {
        byte[] name = buffer.name().getBytes(StandardCharsets.UTF_8);
        ByteBuffer message = message(BUFFER, AccessFlag.mask(buffer.access()), name, name.length);
        message.putLong(8, buffer.address()).putLong(16, buffer.length()).putInt(24, buffer.key());
        deliver(message, timeout);
    }

    /// Withdraws a buffer from the peer. Blocks until the peer's device has received the message.
    ///
    /// @throws DeadlineException if that takes longer than `timeout`
    void withdraw(String buffer, Duration timeout) {
        byte[] name = buffer.getBytes(StandardCharsets.UTF_8);
        deliver(message(WITHDRAWN, 0, name, name.length), timeout);
    }

    /// Notifies the peer that this side has reached the next barrier.
    void barrier(Duration timeout) {
        send(bare(BARRIER), timeout);
    }

    /// Sends DONE. Blocks until the peer's device has received it, so that the connection may end.
    ///
    /// @throws DeadlineException if that takes longer than `timeout`
    void done(Duration timeout) {
        deliver(bare(DONE), timeout);
    }

    /// Sends ABORT with the reason. Blocks until the peer's device has received it.
    ///
    /// @param reason truncated if it does not fit into the message
    /// @throws DeadlineException if that takes longer than `timeout`
    void abort(int code, String reason, Duration timeout) {
        byte[] text = reason.getBytes(StandardCharsets.UTF_8);
        deliver(message(ABORT, code, text, Math.min(text.length, MAX_NAME_BYTES)), timeout);
    }

    /// Asks the peer to return unused receives of a data channel.
    void wantCredits(int index, Duration timeout) {
        send(bare(CREDITS_WANTED).putInt(4, index), timeout);
    }

    /// Returns `count` unused receives of a data channel to the peer.
    void returnCredits(int index, int count, Duration timeout) {
        send(bare(CREDITS_RETURNED).putInt(4, index).putLong(8, count), timeout);
    }

    private static ByteBuffer bare(int type) {
        return message(type, 0, new byte[0], 0);
    }

    private static ByteBuffer message(int type, int word, byte[] text, int length) {
        return ByteBuffer.allocate(HEADER + length)
                .putShort((short) type)
                .putShort((short) length)
                .putInt(word)
                .position(HEADER)
                .put(text, 0, length)
                .flip();
    }

    private void deliver(ByteBuffer message, Duration timeout) {
        ProgressWait wait = new ProgressWait(List.of(channel.adapter()), System.nanoTime() + timeout.toNanos());
        send(message, timeout);
        await(wait::untilArrived, "has not delivered a message within " + timeout.toMillis() + " ms");
    }

    private void send(ByteBuffer message, Duration timeout) {
        ProgressWait wait = new ProgressWait(List.of(channel.adapter()), System.nanoTime() + timeout.toNanos());
        sending.lock();
        try {
            // After a timeout, the previous message may still be in flight, in the same memory.
            await(wait::untilIdle, "has not delivered an earlier message yet");
            int length = message.remaining();
            BufferSlice room = outgoing.get();
            MemorySegment.copy(MemorySegment.ofBuffer(message), 0, room.buffer().segment(), room.offset(), length);
            channel.blocking(timeout).send(room.slice(0, length));
        } finally {
            sending.unlock();
        }
    }

    private void await(ProgressWait.Step wait, String otherwise) {
        try {
            if (!wait.await()) {
                throw new DeadlineException(channel + " " + otherwise + ": the peer does not answer", null);
            }
        } catch (InterruptedException e) {
            throw Failures.interrupted("waiting for the peer", e);
        }
    }

    private void received(Message message) {
        ByteBuffer from = message.segment().asByteBuffer();
        try {
            int type = from.getShort();
            int nameLength = Bounds.range("length of the name", from.getShort(), 0, MAX_NAME_BYTES);
            switch (type) {
                case BUFFER -> keep(buffer(from, nameLength));
                case WITHDRAWN -> peer.forget(name(from, nameLength));
                case BARRIER -> peer.reachedBarrier();
                case DONE -> events.onPeerDone();
                case ABORT -> events.onFailed(aborted(from, nameLength));
                case CREDITS_WANTED -> events.onCreditsWanted(from.getInt());
                case CREDITS_RETURNED ->
                    events.onCreditsReturned(
                            from.getInt(), (int) Bounds.range("returned credits", from.getLong(), 0, 1 << 20));
                default -> violated("of type " + type, null);
            }
        } catch (BufferUnderflowException | IllegalArgumentException e) {
            violated("that is invalid: " + e.getMessage(), e);
        } catch (RuntimeException | Error e) {
            // The message is lost, and it may have been the peer's DONE.
            channel.adapter().condemn(e);
        }
    }

    private void violated(String what, @Nullable RuntimeException cause) {
        events.onFailed(PeerFailedException.protocolViolated(
                "the peer of " + channel + " sent a control message " + what, cause));
    }

    private void keep(RemoteBuffer announced) {
        if (!peer.keep(announced, mostBuffers)) {
            violated(
                    "that announces more than " + mostBuffers
                            + " buffers; announce fewer and larger ones, or raise PeerLimits.withBuffers",
                    null);
        }
    }

    private static PeerFailedException aborted(ByteBuffer from, int length) {
        int code = from.getInt();
        byte[] reason = new byte[length];
        from.position(HEADER).get(reason);
        return PeerFailedException.aborted(code, Printable.text(reason));
    }

    private RemoteBuffer buffer(ByteBuffer from, int nameLength) {
        int access = from.getInt();
        long address = from.getLong();
        long length = from.getLong();
        int key = from.getInt();
        return new RemoteBuffer(name(from, nameLength), address, length, key, access, endPoint);
    }

    private static String name(ByteBuffer from, int length) {
        byte[] name = new byte[length];
        from.position(HEADER).get(name);
        return Printable.text(name);
    }
}
