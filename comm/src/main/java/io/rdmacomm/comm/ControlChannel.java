package io.rdmacomm.comm;

import io.rdmacomm.verbs.DeadlineException;

import io.rdmacomm.comm.data.Bounds;
import io.rdmacomm.comm.data.ProgressWait;
import io.rdmacomm.comm.text.Printable;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.ConnectionOptions;
import java.lang.foreign.MemorySegment;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The library's own channel of an endpoint: announces and withdraws buffers, meets at barriers, moves
/// credits, and says when a side is done or aborts.
///
/// Its messages, in network order. The name is there for a buffer only, and alone if it is withdrawn; an
/// abort has its code in place of the access and its reason in place of the name. Messages about credits
/// have the index of the data channel in place of the access, and those that return credits have their
/// number in place of the address:
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
    /// @param peer keeps what the peer announces
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

    /// How control channels are made.
    ///
    /// @param connection as that of the data channels
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

    /// Tells the peer of a buffer. Blocks until its device knows.
    ///
    /// @throws DeadlineException if that takes longer
    void announce(RemoteBuffer buffer, Duration timeout) {
        byte[] name = buffer.name().getBytes(StandardCharsets.UTF_8);
        ByteBuffer message = message(BUFFER, AccessFlag.mask(buffer.access()), name, name.length);
        message.putLong(8, buffer.address()).putLong(16, buffer.length()).putInt(24, buffer.key());
        deliver(message, timeout);
    }

    /// Tells the peer that a buffer is not for it any more. Blocks until its device knows.
    ///
    /// @throws DeadlineException if that takes longer
    void withdraw(String buffer, Duration timeout) {
        byte[] name = buffer.getBytes(StandardCharsets.UTF_8);
        deliver(message(WITHDRAWN, 0, name, name.length), timeout);
    }

    /// Tells the peer that this side is at the next barrier.
    void barrier(Duration timeout) {
        send(bare(BARRIER), timeout);
    }

    /// Tells the peer that this side is done. Blocks until its device knows, so that the connection may end.
    ///
    /// @throws DeadlineException if that takes longer
    void done(Duration timeout) {
        deliver(bare(DONE), timeout);
    }

    /// Tells the peer that this side aborts the connection, and why. Blocks until its device knows.
    ///
    /// @param reason cut if it is longer than the message
    /// @throws DeadlineException if that takes longer
    void abort(int code, String reason, Duration timeout) {
        byte[] text = reason.getBytes(StandardCharsets.UTF_8);
        deliver(message(ABORT, code, text, Math.min(text.length, MAX_NAME_BYTES)), timeout);
    }

    /// Asks the peer for receives of a data channel that it does not use.
    void wantCredits(int index, Duration timeout) {
        send(bare(CREDITS_WANTED).putInt(4, index), timeout);
    }

    /// Gives the peer back `count` of its receives of a data channel.
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
            // A message whose sender has given up waiting may still be in flight, in the same memory.
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
            // The message is lost: the end of the peer, perhaps.
            channel.adapter().condemn(e);
        }
    }

    private void violated(String what, @Nullable RuntimeException cause) {
        events.onFailed(new PeerProtocolException("the peer of " + channel + " sent a control message " + what, cause));
    }

    private void keep(RemoteBuffer announced) {
        if (!peer.keep(announced, mostBuffers)) {
            violated(
                    "that announces more than " + mostBuffers
                            + " buffers; announce fewer and larger ones, or raise PeerLimits.withBuffers",
                    null);
        }
    }

    private static PeerAbortedException aborted(ByteBuffer from, int length) {
        int code = from.getInt();
        byte[] reason = new byte[length];
        from.position(HEADER).get(reason);
        return new PeerAbortedException(code, Printable.text(reason));
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
