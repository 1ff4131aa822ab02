package io.rdmacomm.comm;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// The TCP port that clients connect to.
final class TcpListener implements AutoCloseable {
    private static final int BACKLOG = 1024;
    private static final Duration RESOLVE = Duration.ofSeconds(10);

    private final ServerSocketChannel channel;
    private final int port;

    private TcpListener(ServerSocketChannel channel) throws IOException {
        this.channel = channel;
        this.port = ((InetSocketAddress) channel.getLocalAddress()).getPort();
    }

    /// @param host the address to listen on; empty for all
    /// @param port the port; 0 for any free one
    static TcpListener listen(String host, int port) {
        InetSocketAddress address;
        if (host.isEmpty()) {
            address = new InetSocketAddress(port);
        } else {
            InetAddress resolved = HostNames.resolve(host, System.nanoTime() + RESOLVE.toNanos())
                    .getFirst();
            address = new InetSocketAddress(resolved, port);
        }
        String target = (host.isEmpty() ? "*" : host) + ":" + port;
        ServerSocketChannel opened = null;
        try {
            opened = ServerSocketChannel.open();
            opened.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            opened.bind(address, BACKLOG);
            return new TcpListener(opened);
        } catch (IOException e) {
            close(opened);
            String hint = e instanceof BindException ? "; choose another port, or end the program that has it" : "";
            throw new CommException("cannot listen on " + target + ": " + e.getMessage() + hint, e);
        }
    }

    int port() {
        return port;
    }

    /// Waits for the next connection. Blocks.
    ///
    /// @return the connection; null when the listener is closed
    @Nullable
    TcpConnector accept() throws IOException {
        try {
            return new TcpConnector(channel.accept());
        } catch (ClosedChannelException e) {
            return null;
        }
    }

    @Override
    public void close() {
        close(channel);
    }

    private static void close(@Nullable ServerSocketChannel open) {
        if (open == null) {
            return;
        }
        try {
            open.close();
        } catch (IOException e) {
            // Nothing listens on it any more.
        }
    }
}
