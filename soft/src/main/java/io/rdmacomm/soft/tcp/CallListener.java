package io.rdmacomm.soft.tcp;

import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.service.SystemSockets;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.UnsupportedAddressTypeException;
import org.jspecify.annotations.Nullable;

/// The TCP port at which peers on other hosts call a context. The port number is the context's LID.
public final class CallListener implements AutoCloseable {
    // Linux's default maximum (somaxconn). A caller whose connection is dropped waits for seconds.
    private static final int BACKLOG = 4096;

    private final ServerSocketChannel server;

    private CallListener(ServerSocketChannel server) {
        this.server = server;
    }

    /// Starts to listen.
    ///
    /// @return null if this host has no such address, or no network; then the device serves this host only
    /// @throws BindException if the port is taken
    public static @Nullable CallListener open(InetAddress address, int port) throws IOException {
        ServerSocketChannel server = SystemSockets.openServerSocket();
        try {
            server.configureBlocking(false);
            server.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            server.bind(new InetSocketAddress(address, port), BACKLOG);
            return new CallListener(server);
        } catch (IOException | UnsupportedAddressTypeException e) {
            server.close();
            if (e instanceof BindException taken && isTaken(taken)) {
                throw taken;
            }
            SafeLogger.of(CallListener.class)
                    .log(System.Logger.Level.DEBUG, "no TCP peers: cannot listen at " + address, e);
            return null;
        }
    }

    private static boolean isTaken(BindException e) {
        return String.valueOf(e.getMessage()).contains("in use");
    }

    ServerSocketChannel channel() {
        return server;
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
