package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.linux.SegmentBatch;
import io.rdmacomm.soft.roce.wire.InvariantCrc;
import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.transport.GroupSocket;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// Sends the packets of one queue pair: one by one, or, where the system can split a long datagram into packets,
/// together with [#flush]. Under the queue pair's send lock; allocates nothing.
final class PacketOutput {
    /// How soon to try again if the socket has no room.
    static final long ROOM_NANOS = 50_000;

    private final PacketSocket socket;
    private final boolean together;
    private final ByteBuffer single;
    private final MemorySegment singleMemory;
    private final InvariantCrc crc = new InvariantCrc();
    private final Packet packet = new Packet();
    private InetSocketAddress peer = PacketSocket.NOWHERE;
    private int peerAddress;
    /// The socket that packets leave through, null for the socket of the node.
    private @Nullable GroupSocket own;
    /// The packets that were not sent yet.
    private @Nullable SegmentBatch batch;
    /// Whether the present packet belongs to the batch.
    private boolean joins;

    /// Needs [#address] before the first packet.
    ///
    /// @param mtu the most bytes of payload
    /// @param together whether packets may wait for [#flush]
    PacketOutput(PacketSocket socket, int mtu, boolean together) {
        this.socket = socket;
        this.together = together;
        this.single = ByteBuffer.allocateDirect(mtu + Packet.MOST_OVERHEAD);
        this.singleMemory = MemorySegment.ofBuffer(single);
    }

    /// Sends to this queue pair from now on. There must be nothing to [#flush].
    void address(InetSocketAddress to, int destination) {
        packet.destination = destination;
        if (!to.equals(peer)) {
            peer = to;
            peerAddress = PacketSocket.bits(to.getAddress());
        }
    }

    /// Sends through this socket from now on, null for the node's. Only for packets that do not wait for [#flush].
    void through(@Nullable GroupSocket group) {
        own = group;
    }

    /// The headers of the next packet. Set them before [#begin].
    Packet packet() {
        return packet;
    }

    /// The memory for the payload of the present packet.
    MemorySegment segment() {
        SegmentBatch open = batch;
        return joins && open != null ? open.memory() : singleMemory;
    }

    /// Writes the headers.
    ///
    /// @param bytes of payload
    /// @return the offset of the payload in [#segment]
    int begin(int bytes) {
        SegmentBatch open = joining(Packet.bytes(packet.opcode, bytes));
        joins = open != null;
        if (open != null) {
            return packet.encode(open.buffer(), open.end(), bytes);
        }
        single.clear();
        return packet.encode(single, 0, bytes);
    }

    /// The batch that the next packet joins, null to send it alone.
    private @Nullable SegmentBatch joining(int bytes) {
        SegmentBatch open = batch;
        if (open != null && !open.fits(bytes) && flush()) {
            open = null;
        }
        if (open == null && together) {
            open = socket.takeBatch();
            batch = open;
        }
        return open != null && open.fits(bytes) ? open : null;
    }

    /// Sends the packet, now or with the next [#flush].
    ///
    /// @return false if the socket has no room
    boolean send() {
        SegmentBatch open = batch;
        if (joins && open != null) {
            int begin = open.end();
            int bytes = packet.pad(open.buffer()) - begin;
            int sum = crc.of(
                    open.buffer(),
                    begin,
                    bytes,
                    open.count(),
                    socket.address(),
                    socket.batchPort(),
                    peerAddress,
                    PacketSocket.PORT);
            open.buffer().putInt(begin + bytes, sum);
            open.add(bytes + Packet.CHECKSUM_BYTES);
            return true;
        }
        if (open != null) {
            // The packets before it could not be sent.
            return false;
        }
        GroupSocket through = own;
        int port = through == null ? PacketSocket.PORT : through.port();
        int bytes = packet.pad(single);
        int sum = crc.of(single, 0, bytes, socket.address(), port, peerAddress, PacketSocket.PORT);
        single.putInt(bytes, sum);
        single.limit(bytes + Packet.CHECKSUM_BYTES).position(0);
        return through == null ? socket.send(single, peer) : socket.send(through.channel(), single, peer);
    }

    /// Sends the packets that were not sent yet.
    ///
    /// @return false if the socket has no room
    boolean flush() {
        SegmentBatch open = batch;
        if (open != null && open.count() > 0 && !socket.send(open, peerAddress)) {
            return false;
        }
        release();
        return true;
    }

    /// Drops the packets that were not sent yet.
    void release() {
        SegmentBatch open = batch;
        if (open != null) {
            batch = null;
            socket.giveBack(open);
        }
    }
}
