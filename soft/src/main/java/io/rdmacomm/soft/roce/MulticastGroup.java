package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.roce.wire.PacketOpcode;
import io.rdmacomm.soft.transport.IncomingDatagram;
import io.rdmacomm.verbs.SendBatch;
import java.net.InetAddress;
import java.nio.channels.DatagramChannel;
import java.util.Arrays;
import java.util.stream.Stream;

/// The queue pairs of a context that are attached to a multicast group. Each gets every datagram of the group,
/// including its own.
final class MulticastGroup implements PacketReader.Receiver {
    private final InetAddress address;
    private final RoceCounters counters;
    private final PacketReader reader;
    private final IncomingDatagrams datagrams;
    /// Replaced as a whole.
    private volatile IncomingDatagram.Target[] members = {};

    /// @param channel bound to the address of the group
    MulticastGroup(InetAddress address, DatagramChannel channel, RoceCounters counters) {
        this.address = address;
        this.counters = counters;
        int bits = PacketSocket.bits(address);
        PacketInput input = new PacketInput(channel, null);
        this.reader = new PacketReader(input, bits, counters, this);
        this.datagrams = new IncomingDatagrams(input.memory(), bits);
    }

    PacketReader reader() {
        return reader;
    }

    /// The number of members.
    int size() {
        return members.length;
    }

    boolean has(IncomingDatagram.Target member) {
        return Arrays.asList(members).contains(member);
    }

    /// Adds a member. Under the lock of all groups, like [#remove].
    void add(IncomingDatagram.Target member) {
        members = Stream.concat(Arrays.stream(members), Stream.of(member)).toArray(IncomingDatagram.Target[]::new);
    }

    void remove(IncomingDatagram.Target member) {
        members = Arrays.stream(members).filter(each -> !each.equals(member)).toArray(IncomingDatagram.Target[]::new);
    }

    @Override
    public void arrived(Packet packet, PacketInput from) {
        if (PacketOpcode.transport(packet.opcode) != PacketOpcode.DATAGRAM
                || packet.destination != SendBatch.MULTICAST) {
            counters.strays.getAndIncrement();
            return;
        }
        for (IncomingDatagram.Target member : members) {
            datagrams.deliver(packet, from.host(), member);
        }
    }

    @Override
    public String toString() {
        return "multicast group " + address.getHostAddress();
    }
}
