package io.rdmacomm.verbs.service;

import java.io.IOException;
import java.net.ProtocolFamily;
import java.nio.channels.Channel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import org.jspecify.annotations.Nullable;

/// Opens the sockets and selectors that rdmacomm itself uses. A program may replace all its sockets by RDMA
/// connections, with a [SelectorProvider] for the whole JVM. Those connections use the sockets of this class, which
/// must then be those of the JDK. Thread-safe.
public final class SystemSockets {
    private static volatile @Nullable SelectorProvider chosen;

    private SystemSockets() {}

    /// Opens all sockets from now on with `provider` instead of that of the JVM.
    public static void use(SelectorProvider provider) {
        chosen = provider;
    }

    private static SelectorProvider provider() {
        SelectorProvider provider = chosen;
        return provider == null ? SelectorProvider.provider() : provider;
    }

    /// A new selector ([Selector#open()]).
    public static Selector openSelector() throws IOException {
        return provider().openSelector();
    }

    /// A new socket for any IP address ([SocketChannel#open()]).
    public static SocketChannel openSocket() throws IOException {
        return provider().openSocketChannel();
    }

    /// A new socket ([SocketChannel#open(ProtocolFamily)]).
    public static SocketChannel openSocket(ProtocolFamily family) throws IOException {
        return provider().openSocketChannel(family);
    }

    /// A new listening socket for any IP address ([ServerSocketChannel#open()]).
    public static ServerSocketChannel openServerSocket() throws IOException {
        return provider().openServerSocketChannel();
    }

    /// A new listening socket ([ServerSocketChannel#open(ProtocolFamily)]).
    public static ServerSocketChannel openServerSocket(ProtocolFamily family) throws IOException {
        return provider().openServerSocketChannel(family);
    }

    /// A new datagram socket for any IP address ([DatagramChannel#open()]).
    public static DatagramChannel openDatagramSocket() throws IOException {
        return provider().openDatagramChannel();
    }

    /// A new datagram socket ([DatagramChannel#open(ProtocolFamily)]).
    public static DatagramChannel openDatagramSocket(ProtocolFamily family) throws IOException {
        return provider().openDatagramChannel(family);
    }

    /// A new pipe ([Pipe#open()]).
    public static Pipe openPipe() throws IOException {
        return provider().openPipe();
    }

    /// The channel that the process has inherited ([System#inheritedChannel()]); null if there is none.
    public static @Nullable Channel inheritedChannel() throws IOException {
        return provider().inheritedChannel();
    }
}
