package io.rdmacomm.soft;

import io.rdmacomm.soft.roce.wire.InvariantCrc;
import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.roce.wire.PacketFault;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;

/// A host that sends whatever RoCE packets a test wants, and shows those that come.
final class RawRoce implements AutoCloseable {
    static final int PORT = 4791;

    private final InetAddress local;
    private final InetSocketAddress peer;
    private final DatagramChannel channel;
    private final InvariantCrc crc = new InvariantCrc();
    private final ByteBuffer output = ByteBuffer.allocateDirect(8192);
    private final ByteBuffer input = ByteBuffer.allocateDirect(8192);

    RawRoce(String local, String peer) throws IOException {
        this.local = InetAddress.ofLiteral(local);
        this.peer = new InetSocketAddress(InetAddress.ofLiteral(peer), PORT);
        this.channel = DatagramChannel.open(StandardProtocolFamily.INET);
        channel.setOption(ExtendedSocketOptions.IP_DONTFRAGMENT, true);
        channel.setOption(StandardSocketOptions.IP_MULTICAST_IF, loopback());
        channel.bind(new InetSocketAddress(this.local, PORT));
        channel.configureBlocking(false);
    }

    private static NetworkInterface loopback() throws IOException {
        return Objects.requireNonNull(NetworkInterface.getByInetAddress(InetAddress.ofLiteral("127.0.0.1")));
    }

    private static int bits(InetAddress address) {
        return ByteBuffer.wrap(address.getAddress()).getInt();
    }

    /// Sends a packet with that many bytes of payload, all of them the lowest byte of its number.
    ///
    /// @param damage what the CRC is changed by
    void send(Packet packet, int bytes, int damage) throws IOException {
        byte[] payload = new byte[bytes];
        Arrays.fill(payload, (byte) packet.psn);
        send(packet, payload, damage);
    }

    /// Sends a packet with this payload.
    void send(Packet packet, byte[] payload, int damage) throws IOException {
        channel.send(encode(packet, payload, damage, peer.getAddress()), peer);
    }

    /// Sends the first bytes of a packet whose CRC is that of one for `named`.
    void sendMisled(Packet packet, byte[] payload, InetAddress named, int bytes) throws IOException {
        ByteBuffer whole = encode(packet, payload, 0, named);
        channel.send(whole.limit(Math.min(whole.limit(), bytes)), peer);
    }

    private ByteBuffer encode(Packet packet, byte[] payload, int damage, InetAddress to) {
        output.clear();
        output.put(packet.encode(output, 0, payload.length), payload);
        int end = packet.pad(output);
        int sum = crc.of(output, 0, end, bits(local), PORT, bits(to), PORT);
        output.putInt(end, sum ^ damage);
        return output.limit(end + Packet.CHECKSUM_BYTES).position(0);
    }

    /// The next packet that comes within that time, or null.
    @Nullable
    Packet receive(long millis) throws IOException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (channel.receive(input.clear()) == null) {
            if (System.nanoTime() - end > 0) {
                return null;
            }
            Thread.onSpinWait();
        }
        Packet packet = new Packet();
        if (packet.decode(input, 0, input.position()) != PacketFault.NONE) {
            throw new AssertionError("a malformed packet");
        }
        return packet;
    }

    /// A byte of the payload of the packet that was received last.
    byte payload(Packet packet, int offset) {
        return input.get(packet.payloadAt + offset);
    }

    /// The payload of the packet that was received last.
    ByteBuffer payload(Packet packet) {
        return input.slice(packet.payloadAt, packet.payloadBytes);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
