package io.rdmacomm.nio.rsocket;

import io.rdmacomm.soft.roce.mad.ConnectRequest;
import io.rdmacomm.soft.roce.mad.ManagementDatagram;
import io.rdmacomm.soft.roce.mad.PortSpace;
import io.rdmacomm.soft.roce.mad.ProgramAddress;
import io.rdmacomm.soft.roce.mad.ReadDepths;
import io.rdmacomm.soft.roce.wire.InvariantCrc;
import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.roce.wire.PacketOpcode;
import io.rdmacomm.verbs.Gid;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;

/// A host that sends requests for connections over RoCE v2 from its address, and never confirms what it is answered.
final class ForgedRequests implements AutoCloseable {
    private static final int PORT = 4791;
    private static final int KEY = 0x8001_0000;

    private final InetAddress local;
    private final DatagramChannel channel;
    private final InvariantCrc crc = new InvariantCrc();
    private final ByteBuffer output = ByteBuffer.allocateDirect(1024);
    private final ByteBuffer input = ByteBuffer.allocateDirect(1024);

    /// @param local an address on the loopback interface
    ForgedRequests(String local) throws IOException {
        this.local = InetAddress.ofLiteral(local);
        this.channel = DatagramChannel.open(StandardProtocolFamily.INET);
        channel.bind(new InetSocketAddress(this.local, PORT));
        channel.configureBlocking(false);
    }

    /// Asks a listener for a connection.
    ///
    /// @param id the number of the request
    void send(InetSocketAddress listener, int id) throws IOException {
        InetAddress to = listener.getAddress();
        ByteBuffer message = ByteBuffer.allocate(ManagementDatagram.BYTES);
        new ManagementDatagram(id, request(listener, id)).encode(message);
        Packet packet = new Packet();
        packet.opcode = PacketOpcode.DATAGRAM | PacketOpcode.SEND_ONLY;
        packet.destination = 1;
        packet.source = 1;
        packet.queueKey = KEY;
        output.clear();
        output.put(packet.encode(output, 0, ManagementDatagram.BYTES), message.array());
        int end = packet.pad(output);
        output.putInt(end, crc.of(output, 0, end, bits(local), PORT, bits(to), PORT));
        channel.send(output.limit(end + Packet.CHECKSUM_BYTES).position(0), new InetSocketAddress(to, PORT));
    }

    private ConnectRequest request(InetSocketAddress listener, int id) {
        Gid source = Gid.of(local);
        Gid destination = Gid.of(listener.getAddress());
        return new ConnectRequest(
                id,
                PortSpace.CONNECTIONS.service(listener.getPort()),
                0x0200_0000_5a00_0101L,
                0x1234,
                5,
                new ReadDepths(1, 1),
                /* reliable= */ true,
                1,
                7,
                7,
                14,
                0,
                source,
                destination,
                new ProgramAddress(40001, source, destination),
                Strangers.RSOCKET_DATA);
    }

    private static int bits(InetAddress address) {
        return ByteBuffer.wrap(address.getAddress()).getInt();
    }

    /// How many datagrams have come since the last call.
    int received() throws IOException {
        int count = 0;
        while (channel.receive(input.clear()) != null) {
            count++;
        }
        return count;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
