package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.roce.wire.PacketOpcode;
import io.rdmacomm.soft.transport.IncomingDatagram;
import io.rdmacomm.verbs.GlobalRoutingHeader;
import java.lang.foreign.MemorySegment;

/// Turns packets with datagrams into [IncomingDatagram] objects for their queue pairs. Used by the receiving
/// thread.
final class IncomingDatagrams {
    private static final int UDP_BYTES = 8;

    private final IncomingDatagram datagram;
    private final int address;

    /// @param memory the memory that packets are read into
    /// @param address of this side
    IncomingDatagrams(MemorySegment memory, int address) {
        this.datagram = new IncomingDatagram(memory);
        this.address = address;
    }

    /// Hands a packet to its queue pair.
    ///
    /// @param from the address of the sender
    void deliver(Packet packet, int from, IncomingDatagram.Target to) {
        datagram.payloadAt = packet.payloadAt;
        datagram.payloadBytes = packet.payloadBytes;
        datagram.destination = packet.destination;
        datagram.source = packet.source;
        datagram.queueKey = packet.queueKey;
        datagram.hasImmediate = PacketOpcode.hasImmediate(packet.opcode);
        datagram.immediate = packet.immediate;
        datagram.solicited = packet.solicited;
        GlobalRoutingHeader.writeIpv4(datagram.header, from, address, UDP_BYTES + packet.bytes());
        to.arrived(datagram);
    }
}
