package io.rdmacomm.tests.nio;

import io.rdmacomm.nio.RdmaSelectorProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;

/// The providers that the same cases run with. That of the JDK shows that a case asks for what Java users know.
enum Sockets {
    /// The JDK's own.
    JDK {
        @Override
        SelectorProvider provider() {
            return SelectorProvider.provider();
        }
    },
    /// Rsockets on the software device.
    RSOCKETS {
        @Override
        SelectorProvider provider() {
            return RdmaSelectorProvider.of("soft0", "*");
        }
    },
    /// Ours, for addresses that it leaves to the JDK.
    LEFT_TO_TCP {
        @Override
        SelectorProvider provider() {
            return RdmaSelectorProvider.of("soft0", "");
        }
    };

    /// A provider whose device nobody else has; [#close(SelectorProvider)] closes it.
    abstract SelectorProvider provider();

    static void close(SelectorProvider provider) {
        if (provider instanceof RdmaSelectorProvider ours) {
            ours.close();
        }
    }

    /// A listening channel at any port of this host.
    static ServerSocketChannel listen(SelectorProvider provider) throws IOException {
        return provider.openServerSocketChannel().bind(anyPort());
    }

    static InetSocketAddress anyPort() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    /// Two connected channels.
    record Pair(SocketChannel client, SocketChannel server) implements AutoCloseable {
        static Pair connect(SelectorProvider provider) throws IOException {
            try (ServerSocketChannel listening = listen(provider)) {
                SocketChannel client = provider.openSocketChannel();
                client.connect(listening.getLocalAddress());
                return new Pair(client, listening.accept());
            }
        }

        @Override
        public void close() throws IOException {
            client.close();
            server.close();
        }
    }
}
