package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.transport.GroupSocket;
import io.rdmacomm.verbs.service.ExtendedSocketOptions;
import io.rdmacomm.verbs.service.SystemSockets;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.DatagramChannel;

/// Opens sockets for multicast groups on the interface of an address. Thread-safe.
final class MulticastSockets {
    private static final InetAddress LOOPBACK = InetAddress.ofLiteral("127.0.0.1");

    private final InetAddress local;

    /// @param local the IPv4 address of the device
    MulticastSockets(InetAddress local) {
        this.local = local;
    }

    private NetworkInterface network() throws IOException {
        // Every address of 127.0.0.0/8 is this host, but Java knows only the first.
        NetworkInterface network = NetworkInterface.getByInetAddress(local.isLoopbackAddress() ? LOOPBACK : local);
        if (network == null) {
            throw new SocketException("no interface has the address " + local.getHostAddress());
        }
        return network;
    }

    /// Only joins a group (IGMP), and receives nothing.
    ///
    /// @return leaves the group when it is closed
    DatagramChannel join(InetAddress group) throws IOException {
        return open(channel -> channel.join(group, network()));
    }

    /// Joins a group and receives its packets; other sockets of this host may do so, too. A socket that is bound to
    /// an address of this host gets none of them.
    DatagramChannel receive(InetAddress group) throws IOException {
        return open(channel -> {
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            channel.setOption(StandardSocketOptions.SO_RCVBUF, PacketSocket.BUFFER_BYTES);
            channel.bind(new InetSocketAddress(group, PacketSocket.PORT));
            channel.join(group, network());
        });
    }

    /// Sends to groups, including members on this host. Like PacketSocket, it sends packets with the identification
    /// 0.
    ///
    /// @param hops the most routers on the way, plus 1
    GroupSocket send(int hops) throws IOException {
        DatagramChannel channel = open(sender -> {
            sender.setOption(ExtendedSocketOptions.IP_DONTFRAGMENT, true);
            sender.setOption(StandardSocketOptions.IP_MULTICAST_IF, network());
            sender.setOption(StandardSocketOptions.IP_MULTICAST_TTL, hops);
            sender.setOption(StandardSocketOptions.IP_MULTICAST_LOOP, true);
            sender.bind(new InetSocketAddress(local, 0));
        });
        return new GroupSocket(channel, ((InetSocketAddress) channel.getLocalAddress()).getPort());
    }

    private interface Setup {
        void accept(DatagramChannel channel) throws IOException;
    }

    private static DatagramChannel open(Setup setup) throws IOException {
        DatagramChannel channel = SystemSockets.openDatagramSocket(StandardProtocolFamily.INET);
        boolean complete = false;
        try {
            channel.configureBlocking(false);
            setup.accept(channel);
            complete = true;
            return channel;
        } finally {
            if (!complete) {
                channel.close();
            }
        }
    }
}
