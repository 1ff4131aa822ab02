package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.roce.wire.InvariantCrc;
import io.rdmacomm.soft.roce.wire.Packet;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/// Sends the packets of one queue pair. Under the queue pair's send lock; allocates nothing.
final class PacketOutput {
    /// When to try again if the socket has no room.
    static final long ROOM_NANOS = 50_000;

    private final RoceNode node;
    private final ByteBuffer buffer;
    private final MemorySegment segment;
    private final InvariantCrc crc = new InvariantCrc();
    private final Packet packet = new Packet();
    private InetSocketAddress peer = RoceNode.NOWHERE;
    private int peerAddress;

    /// To be told where to send.
    ///
    /// @param mtu the most bytes of payload
    PacketOutput(RoceNode node, int mtu) {
        this.node = node;
        this.buffer = ByteBuffer.allocateDirect(mtu + Packet.MOST_OVERHEAD);
        this.segment = MemorySegment.ofBuffer(buffer);
    }

    /// Sends to this queue pair from now on.
    void address(InetSocketAddress to, int destination) {
        packet.destination = destination;
        if (!to.equals(peer)) {
            peer = to;
            peerAddress = RoceNode.bits(to.getAddress());
        }
    }

    /// The headers of the next packet, to be set before [#begin].
    Packet packet() {
        return packet;
    }

    /// Where the payload goes.
    MemorySegment segment() {
        return segment;
    }

    /// Writes the headers.
    ///
    /// @param bytes of payload
    /// @return where in the segment the payload goes
    int begin(int bytes) {
        buffer.clear();
        return packet.encode(buffer, 0, bytes);
    }

    /// Sends the packet.
    ///
    /// @return false if the socket has no room
    boolean send() {
        int bytes = packet.pad(buffer);
        int sum = crc.of(buffer, 0, bytes, node.address(), RoceNode.PORT, peerAddress, RoceNode.PORT);
        buffer.putInt(bytes, sum);
        buffer.limit(bytes + Packet.CHECKSUM_BYTES).position(0);
        return node.send(buffer, peer);
    }
}
