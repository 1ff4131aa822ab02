package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.linux.SegmentBatch;
import io.rdmacomm.soft.linux.SegmentReceiver;
import io.rdmacomm.soft.linux.SegmentSocket;
import io.rdmacomm.verbs.service.ExtendedSocketOptions;
import io.rdmacomm.verbs.service.OperationLock;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.service.SystemSockets;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import org.jspecify.annotations.Nullable;

/// The UDP socket of an address. Sending is thread-safe. Only one thread may receive at a time, and none after the
/// close.
///
/// The socket is not connected and does not fragment. Linux then sends packets whose IP header has the
/// identification 0, which their invariant CRC assumes.
final class PacketSocket implements AutoCloseable {
    /// The UDP port of RoCE v2 (IBTA A17.9.2).
    static final int PORT = 4791;
    /// No peer.
    static final InetSocketAddress NOWHERE = new InetSocketAddress(0);

    private static final SafeLogger LOGGER = SafeLogger.of(PacketSocket.class);
    /// The requested size; Linux grants less by default.
    static final int BUFFER_BYTES = 4 << 20;

    private final int address;
    private final DatagramChannel channel;
    /// Held while one packet is sent: a thread that waits for the channel's own lock allocates.
    private final OperationLock sending = new OperationLock();
    /// Sends several packets at once; null without native access.
    private final @Nullable SegmentSocket segments;
    private final PacketInput input;
    private final RoceCounters counters;

    /// @param bursts whether packets leave and arrive in batches if this program has native access
    /// @throws java.net.BindException if the port is taken, or this host does not have the address
    PacketSocket(InetAddress local, boolean bursts, RoceCounters counters) throws IOException {
        this.address = bits(local);
        this.counters = counters;
        this.channel = SystemSockets.openDatagramSocket(StandardProtocolFamily.INET);
        boolean complete = false;
        try {
            channel.configureBlocking(false);
            if (!channel.supportedOptions().contains(ExtendedSocketOptions.IP_DONTFRAGMENT)) {
                throw new SocketException("RoCE needs the module jdk.net: add --add-modules jdk.net");
            }
            channel.setOption(ExtendedSocketOptions.IP_DONTFRAGMENT, true);
            channel.setOption(StandardSocketOptions.SO_RCVBUF, BUFFER_BYTES);
            channel.setOption(StandardSocketOptions.SO_SNDBUF, BUFFER_BYTES);
            InetSocketAddress here = new InetSocketAddress(local, PORT);
            channel.bind(here);
            this.input = new PacketInput(channel, bursts ? SegmentReceiver.open(here) : null);
            this.segments = bursts ? SegmentSocket.open(local) : null;
            complete = true;
        } finally {
            if (!complete) {
                channel.close();
            }
        }
    }

    /// An IPv4 address as a number.
    static int bits(InetAddress address) {
        return ByteBuffer.wrap(address.getAddress()).getInt();
    }

    /// The IPv4 address.
    int address() {
        return address;
    }

    /// The packets that arrive.
    PacketInput input() {
        return input;
    }

    /// Sends the remaining bytes of the buffer.
    ///
    /// @return false if the socket has no room
    boolean send(ByteBuffer packet, InetSocketAddress to) {
        return send(channel, packet, to);
    }

    /// Sends the remaining bytes of the buffer, through another socket of this address.
    ///
    /// @return false if the socket has no room
    boolean send(DatagramChannel through, ByteBuffer packet, InetSocketAddress to) {
        sending.lock();
        try {
            if (through.send(packet, to) == 0) {
                return false;
            }
            counters.sent.getAndIncrement();
        } catch (IOException e) {
            // Treated as lost in the network: it is retransmitted until the retries are exhausted.
            counters.unsent.getAndIncrement();
            LOGGER.log(System.Logger.Level.DEBUG, () -> "a packet to " + to + " was not sent", e);
        } finally {
            sending.unlock();
        }
        return true;
    }

    /// An empty batch of packets; null if packets leave one by one.
    @Nullable
    SegmentBatch takeBatch() {
        SegmentSocket socket = segments;
        return socket == null ? null : socket.take();
    }

    void giveBack(SegmentBatch batch) {
        SegmentSocket socket = segments;
        if (socket != null) {
            socket.giveBack(batch);
        }
    }

    /// The UDP port that the packets of batches come from.
    int batchPort() {
        return segments == null ? PORT : segments.port();
    }

    /// Sends all packets of a batch.
    ///
    /// @param to IPv4 address
    /// @return false if the socket has no room
    boolean send(SegmentBatch batch, int to) {
        int errno = batch.send(to);
        if (errno == 0) {
            counters.sent.getAndAdd(batch.count());
        } else if (errno > 0) {
            // Treated as lost in the network.
            counters.unsent.getAndAdd(batch.count());
        }
        return errno >= 0;
    }

    /// Closes the sockets. No thread sends or receives any more.
    @Override
    public void close() throws IOException {
        if (segments != null) {
            segments.close();
        }
        channel.close();
    }
}
