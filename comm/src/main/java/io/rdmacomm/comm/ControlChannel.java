package io.rdmacomm.comm;

import io.rdmacomm.verbs.AccessFlag;
import java.lang.foreign.MemorySegment;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/// The library's own channel of an end point: announces buffers, meets at barriers, and says when a side is
/// done.
///
/// Its messages, in network order; the name is there for a buffer only:
///
/// ```
///  0       2       4       8               16              24      28      32
/// +-------+-------+-------+---------------+---------------+-------+-------+--------------+
/// | type  | name  |access | address       | length        | remote|   0   | name in UTF-8|
/// |       | length|       |               |               | key   |       |              |
/// +-------+-------+-------+---------------+---------------+-------+-------+--------------+
/// ```
final class ControlChannel {
    /// What the peer says; called on the polling thread.
    interface Events {
        /// MSG_MR: the peer has a buffer.
        void onBuffer(RemoteBuffer buffer);

        /// The peer is at the next barrier.
        void onBarrier();

        /// MSG_DONE: the peer has ended its operations and starts no more.
        void onDone();

        /// The peer said something else.
        void onNonsense(String what);
    }

    private static final int HEADER = 32;
    private static final int MAX_NAME_BYTES = 512;
    private static final int MESSAGE_BYTES = HEADER + MAX_NAME_BYTES;
    private static final int BUFFER = 1;
    private static final int BARRIER = 2;
    private static final int DONE = 3;
    private static final int LOOKS = 10_000;
    private static final long LOOK_NANOS = 50_000;

    private final RdmaChannel channel;
    private final BufferSlice outgoing;
    private final long endPoint;
    private final Events events;
    private final ReentrantLock sending = new ReentrantLock();

    /// @param outgoing memory for one message
    /// @param endPoint the number of the end point
    ControlChannel(RdmaChannel channel, BufferSlice outgoing, long endPoint, Events events) {
        this.channel = channel;
        this.outgoing = outgoing;
        this.endPoint = endPoint;
        this.events = events;
        channel.onMessage((on, message) -> received(message));
    }

    /// How control channels are made.
    static ChannelOptions options(SessionOptions session) {
        return ChannelOptions.defaults()
                .withSendWindow(8)
                .withReceives(16)
                .withMessageBytes(MESSAGE_BYTES)
                .withConnection(session.channel().connection());
    }

    RdmaChannel channel() {
        return channel;
    }

    /// Tells the peer of a buffer. Blocks until its device knows.
    ///
    /// @throws DeadlineException if that takes longer
    void announce(RdmaBuffer buffer, Duration timeout) {
        byte[] name = buffer.name().getBytes(StandardCharsets.UTF_8);
        ByteBuffer message = ByteBuffer.allocate(HEADER + name.length);
        message.putShort((short) BUFFER).putShort((short) name.length);
        message.putInt(AccessFlag.mask(buffer.access()));
        message.putLong(buffer.address()).putLong(buffer.length());
        message.putInt(buffer.remoteKey()).putInt(0).put(name);
        deliver(message.flip(), timeout);
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

    private static ByteBuffer bare(int type) {
        return ByteBuffer.allocate(HEADER)
                .putShort((short) type)
                .position(HEADER)
                .flip();
    }

    private void deliver(ByteBuffer message, Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        send(message, timeout);
        if (!new ChannelWait(List.of(channel), deadline, true).untilArrived()) {
            throw new DeadlineException(
                    channel + " has not delivered a message within " + timeout.toMillis()
                            + " ms: the peer does not answer",
                    null);
        }
    }

    private void send(ByteBuffer message, Duration timeout) {
        sending.lock();
        try {
            if (isBusy(System.nanoTime() + timeout.toNanos())) {
                throw new DeadlineException(
                        channel + " has not delivered an earlier message yet: the peer does not answer", null);
            }
            int length = message.remaining();
            MemorySegment.copy(
                    MemorySegment.ofBuffer(message), 0, outgoing.buffer().segment(), outgoing.offset(), length);
            channel.blocking(timeout).send(outgoing.slice(0, length));
        } finally {
            sending.unlock();
        }
    }

    /// Whether an earlier message, whose sender has given up waiting, is still on its way. A credit update that
    /// ends at this moment looks like one until the thread that polls has seen its end, so look for a while.
    private boolean isBusy(long deadline) {
        for (int look = 0; look < LOOKS; look++) {
            if (channel.inFlight() == 0) {
                return false;
            }
            if (System.nanoTime() - deadline >= 0) {
                return true;
            }
            LockSupport.parkNanos(LOOK_NANOS);
        }
        return true;
    }

    private void received(Message message) {
        ByteBuffer from = message.segment().asByteBuffer();
        try {
            int type = from.getShort();
            int nameLength = Checks.range("length of the name", from.getShort(), 0, MAX_NAME_BYTES);
            switch (type) {
                case BUFFER -> events.onBuffer(buffer(from, nameLength));
                case BARRIER -> events.onBarrier();
                case DONE -> events.onDone();
                default -> events.onNonsense("a control message of type " + type);
            }
        } catch (BufferUnderflowException | IllegalArgumentException e) {
            events.onNonsense("a control message that makes no sense: " + e.getMessage());
        }
    }

    private RemoteBuffer buffer(ByteBuffer from, int nameLength) {
        int access = from.getInt();
        long address = from.getLong();
        long length = from.getLong();
        int key = from.getInt();
        from.getInt();
        byte[] name = new byte[nameLength];
        from.get(name);
        return new RemoteBuffer(new String(name, StandardCharsets.UTF_8), address, length, key, access, endPoint);
    }
}
