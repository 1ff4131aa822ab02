package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.roce.wire.PacketOpcode;
import io.rdmacomm.soft.roce.wire.Psn;
import io.rdmacomm.soft.transport.DatagramAddress;
import io.rdmacomm.soft.transport.DatagramOutput;
import io.rdmacomm.soft.transport.OutgoingDatagram;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;

/// Sends the datagrams of one queue pair, each in one packet (IBTA 9.8.3).
final class DatagramPackets implements DatagramOutput {
    private final PacketOutput output;
    private final int longest;
    private final int source;
    private int next;

    /// @param longest the most bytes of payload
    /// @param source the number of the queue pair
    DatagramPackets(PacketSocket socket, int longest, int source) {
        this.output = new PacketOutput(socket, longest, /* together= */ false);
        this.longest = longest;
        this.source = source;
    }

    @Override
    public int longest() {
        return longest;
    }

    @Override
    public MemorySegment memory() {
        return output.segment();
    }

    @Override
    public int payloadAt(OutgoingDatagram datagram) {
        return Packet.payloadAt(opcode(datagram));
    }

    private static int opcode(OutgoingDatagram datagram) {
        return PacketOpcode.DATAGRAM
                | (datagram.hasImmediate ? PacketOpcode.SEND_ONLY_IMMEDIATE : PacketOpcode.SEND_ONLY);
    }

    @Override
    public void send(OutgoingDatagram datagram, DatagramAddress to) {
        output.through(to.own());
        send(datagram, to.socket());
    }

    /// Sends to a host.
    void send(OutgoingDatagram datagram, InetSocketAddress to) {
        Packet packet = output.packet();
        packet.opcode = opcode(datagram);
        packet.psn = next;
        packet.solicited = datagram.solicited;
        packet.wantsAnswer = false;
        packet.queueKey = datagram.queueKey;
        packet.source = source;
        packet.immediate = datagram.immediate;
        next = (next + 1) & Psn.MASK;
        output.address(to, datagram.destination & Psn.MASK);
        var _ = output.begin(datagram.bytes);
        // If the socket has no room, the datagram is lost, like any datagram.
        var _ = output.send();
    }

    @Override
    public void close() {
        // The socket belongs to the node.
    }
}
