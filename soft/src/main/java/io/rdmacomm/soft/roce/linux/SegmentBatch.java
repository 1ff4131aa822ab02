package io.rdmacomm.soft.roce.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/// Packets that leave together: all of one length, only the last may be shorter. One thread at a time; allocates
/// nothing
/// once it is made.
public final class SegmentBatch {
    /// UDP_MAX_SEGMENTS of Linux 4.18.
    private static final int MOST_PACKETS = 64;
    /// The longest UDP datagram over IPv4.
    private static final int MOST_BYTES = 65_507;
    /// The UDP port of RoCE v2.
    private static final int PEER_PORT = 4791;
    // struct msghdr (recvmsg(2)), struct iovec, struct cmsghdr (cmsg(3)) with 64-bit pointers.
    private static final int HEADER_BYTES = 56;
    private static final int VECTOR_BYTES = 16;
    private static final int CONTROL_BYTES = 24;
    private static final int CONTROL_LENGTH = 18;

    private final SegmentSocket socket;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(MOST_BYTES);
    private final MemorySegment memory = MemorySegment.ofBuffer(buffer);
    private final MemorySegment peer;
    private final MemorySegment vector;
    private final MemorySegment control;
    private final MemorySegment header;
    private final MemorySegment state;
    private int count;
    private int end;
    private int length;

    SegmentBatch(SegmentSocket socket) {
        this.socket = socket;
        this.peer = SocketAddress.allocate(0, PEER_PORT);
        this.vector = LibC.allocate(VECTOR_BYTES);
        vector.set(ADDRESS, 0, memory);
        this.control = LibC.allocate(CONTROL_BYTES);
        control.set(JAVA_LONG, 0, CONTROL_LENGTH);
        control.set(JAVA_INT, 8, LibC.SOL_UDP);
        control.set(JAVA_INT, 12, LibC.UDP_SEGMENT);
        this.header = LibC.allocate(HEADER_BYTES);
        header.set(ADDRESS, 0, peer);
        header.set(JAVA_INT, 8, (int) peer.byteSize());
        header.set(ADDRESS, 16, vector);
        header.set(JAVA_LONG, 24, 1);
        this.state = LibC.allocateState();
    }

    /// Where packets are built.
    public ByteBuffer buffer() {
        return buffer;
    }

    /// The same as a segment.
    public MemorySegment memory() {
        return memory;
    }

    /// Where the next packet begins.
    public int end() {
        return end;
    }

    /// How many packets there are, which is the identification of the next one.
    public int count() {
        return count;
    }

    /// Whether a packet of this length can be the next one.
    public boolean fits(int bytes) {
        return count == 0
                || (count < MOST_PACKETS && bytes <= length && end == count * length && end + bytes <= MOST_BYTES);
    }

    /// A packet of this length was built at [#end].
    public void add(int bytes) {
        if (count == 0) {
            length = bytes;
        }
        end += bytes;
        count++;
    }

    /// Forgets all packets.
    public void clear() {
        count = 0;
        end = 0;
    }

    /// Sends all packets.
    ///
    /// @param host the IPv4 address of the peer
    /// @return 0, the errno, or -1 if there is no room in the socket
    public int send(int host) {
        SocketAddress.host(peer, host);
        vector.set(JAVA_LONG, 8, end);
        boolean several = count > 1;
        control.set(JAVA_SHORT, 16, (short) length);
        header.set(ADDRESS, 32, several ? control : MemorySegment.NULL);
        header.set(JAVA_LONG, 40, several ? CONTROL_BYTES : 0);
        return LibC.send(socket.descriptor(), header, state);
    }
}
