package io.rdmacomm.soft.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/// Packets that leave together: all have the same length, but the last may be shorter. Not thread-safe; allocates
/// nothing after its creation.
public final class SegmentBatch {
    /// UDP_MAX_SEGMENTS of Linux 4.18.
    private static final int MOST_PACKETS = 64;
    /// The longest UDP datagram over IPv4.
    private static final int MOST_BYTES = 65_507;
    /// The UDP port of RoCE v2.
    private static final int PEER_PORT = 4791;

    private final SegmentSocket socket;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(MOST_BYTES);
    private final MemorySegment memory = MemorySegment.ofBuffer(buffer);
    private final MessageHeader header = new MessageHeader(memory, PEER_PORT);
    private int count;
    private int end;
    private int length;

    SegmentBatch(SegmentSocket socket) {
        this.socket = socket;
        MemorySegment control = header.control();
        control.set(JAVA_LONG, 0, MessageHeader.CONTROL_DATA + Short.BYTES);
        control.set(JAVA_INT, MessageHeader.CONTROL_LEVEL, SocketCalls.SOL_UDP);
        control.set(JAVA_INT, MessageHeader.CONTROL_TYPE, SocketCalls.UDP_SEGMENT);
    }

    /// The buffer that packets are built in.
    public ByteBuffer buffer() {
        return buffer;
    }

    /// The same as a segment.
    public MemorySegment memory() {
        return memory;
    }

    /// The offset of the next packet.
    public int end() {
        return end;
    }

    /// The number of packets, which is the IP identification of the next one.
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
        SocketAddress.host(header.peer(), host);
        header.control().set(JAVA_SHORT, MessageHeader.CONTROL_DATA, (short) length);
        return header.send(socket.descriptor(), end, count > 1);
    }
}
