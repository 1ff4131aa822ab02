package io.rdmacomm.nio;

import io.rdmacomm.nio.channel.RdmaSocketChannel;
import io.rdmacomm.verbs.statistics.ChannelStatistics;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Optional;

/// Opens rsockets, for programs that use only those: the factories of JEP 337. All addresses are served by an RDMA
/// device; to choose per address, open channels with [RdmaSelectorProvider#of]. The system property
/// `io.rdmacomm.nio.device` names the device; without it, the first one is used. Thread-safe.
public final class RdmaSockets {
    private static final String EVERYWHERE = "*";

    private RdmaSockets() {}

    /// A provider that is created when it is first needed.
    private static final class Shared {
        static final RdmaSelectorProvider PROVIDER =
                RdmaSelectorProvider.of(System.getProperty(RdmaSelectorProvider.DEVICE, ""), EVERYWHERE);

        private Shared() {}
    }

    /// A socket that is not connected. Its channel is [Socket#getChannel()].
    ///
    /// @throws IOException if it cannot be opened
    public static Socket openSocket() throws IOException {
        return openSocketChannel().socket();
    }

    /// A server socket that is not bound.
    ///
    /// @throws IOException if it cannot be opened
    public static ServerSocket openServerSocket() throws IOException {
        return openServerSocketChannel().socket();
    }

    /// A channel that is not connected.
    ///
    /// @throws IOException if it cannot be opened
    public static SocketChannel openSocketChannel() throws IOException {
        return Shared.PROVIDER.openSocketChannel();
    }

    /// A listening channel that is not bound.
    ///
    /// @throws IOException if it cannot be opened
    public static ServerSocketChannel openServerSocketChannel() throws IOException {
        return Shared.PROVIDER.openServerSocketChannel();
    }

    /// The counters of a connected channel, for example the bytes, and the number of writes that found no room at
    /// the peer.
    ///
    /// @return empty if the channel is not an rsocket, or not connected yet
    public static Optional<ChannelStatistics> statistics(SocketChannel channel) {
        return channel instanceof RdmaSocketChannel ours ? ours.statistics() : Optional.empty();
    }

    /// A selector, for rsockets and for channels of the JDK.
    ///
    /// @throws IOException if it cannot be opened
    public static Selector openSelector() throws IOException {
        return Shared.PROVIDER.openSelector();
    }
}
