package io.rdmacomm.soft.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/// `struct msghdr` (recvmsg(2)) with 64-bit pointers: the peer's address, one buffer, and room for one control
/// message with a number. Not thread-safe; allocates nothing after its creation.
final class MessageHeader {
    private static final int BYTES = 56;
    private static final int NAME_LENGTH = 8;
    private static final int VECTOR = 16;
    private static final int VECTOR_COUNT = 24;
    private static final int CONTROL = 32;
    private static final int CONTROL_LENGTH = 40;
    private static final int FLAGS = 48;
    // struct iovec.
    private static final int VECTOR_BYTES = 16;
    private static final int VECTOR_LENGTH = 8;

    /// The control message, `struct cmsghdr` (cmsg(3)): its length, level, type, and the number.
    private static final int CONTROL_BYTES = 24;

    static final int CONTROL_LEVEL = 8;
    static final int CONTROL_TYPE = 12;
    static final int CONTROL_DATA = 16;

    private final MemorySegment peer;
    private final MemorySegment vector = SocketCalls.allocate(VECTOR_BYTES);
    private final MemorySegment control = SocketCalls.allocate(CONTROL_BYTES);
    private final MemorySegment header = SocketCalls.allocate(BYTES);
    private final MemorySegment state = SocketCalls.allocateState();

    /// @param buffer the bytes of the message
    /// @param port the UDP port of the peer
    MessageHeader(MemorySegment buffer, int port) {
        this.peer = SocketAddress.allocate(0, port);
        vector.set(ADDRESS, 0, buffer);
        header.set(ADDRESS, 0, peer);
        header.set(JAVA_INT, NAME_LENGTH, (int) peer.byteSize());
        header.set(ADDRESS, VECTOR, vector);
        header.set(JAVA_LONG, VECTOR_COUNT, 1);
    }

    /// The address of the peer.
    MemorySegment peer() {
        return peer;
    }

    /// The control message.
    MemorySegment control() {
        return control;
    }

    /// Whether there is a control message: after [#receive].
    boolean hasControl() {
        return header.get(JAVA_LONG, CONTROL_LENGTH) > CONTROL_DATA;
    }

    /// Sends the first bytes of the buffer.
    ///
    /// @param withControl whether the control message goes with them
    /// @return as [SocketCalls#send]
    int send(int descriptor, int bytes, boolean withControl) {
        vector.set(JAVA_LONG, VECTOR_LENGTH, bytes);
        header.set(ADDRESS, CONTROL, withControl ? control : MemorySegment.NULL);
        header.set(JAVA_LONG, CONTROL_LENGTH, withControl ? CONTROL_BYTES : 0);
        return SocketCalls.send(descriptor, header, state);
    }

    /// Receives into the buffer.
    ///
    /// @param bytes the length of the buffer
    /// @return as [SocketCalls#receive]
    int receive(int descriptor, int bytes) {
        vector.set(JAVA_LONG, VECTOR_LENGTH, bytes);
        header.set(JAVA_INT, NAME_LENGTH, (int) peer.byteSize());
        header.set(ADDRESS, CONTROL, control);
        header.set(JAVA_LONG, CONTROL_LENGTH, CONTROL_BYTES);
        header.set(JAVA_INT, FLAGS, 0);
        return (int) SocketCalls.receive(descriptor, header, state);
    }
}
