package io.rdmacomm.comm.setup;

import io.rdmacomm.comm.setup.SetupException.Reason;
import io.rdmacomm.verbs.service.SystemSockets;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/// The TCP port that clients connect to.
public final class TcpListener implements AutoCloseable {
    /// The host of a listener on all addresses.
    public static final String ALL_ADDRESSES = "*";

    private static final int BACKLOG = 1024;
    private static final Duration RESOLVE = Duration.ofSeconds(10);

    private final ServerSocketChannel channel;
    private final InetAddress address;
    private final int port;
    private final Semaphore accepting = new Semaphore(1);

    private TcpListener(ServerSocketChannel channel, InetAddress address) throws IOException {
        this.channel = channel;
        this.address = address;
        this.port = ((InetSocketAddress) channel.getLocalAddress()).getPort();
    }

    /// Opens the port.
    ///
    /// @param host the address to listen on; empty for this host's loopback address, [#ALL_ADDRESSES] for
    ///         all
    /// @param port the port; 0 for any free one
    /// @throws SetupException PORT_TAKEN, HOST_UNKNOWN, or OTHER if `host` is not an address of this host
    public static TcpListener listen(String host, int port) {
        InetSocketAddress address;
        if (host.equals(ALL_ADDRESSES)) {
            address = new InetSocketAddress(port);
        } else {
            InetAddress resolved = HostNames.resolve(host, System.nanoTime() + RESOLVE.toNanos())
                    .getFirst();
            address = new InetSocketAddress(resolved, port);
        }
        String target = (host.isEmpty() ? "localhost" : host) + ":" + port;
        ServerSocketChannel opened = null;
        boolean listening = false;
        try {
            opened = SystemSockets.openServerSocket();
            opened.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            opened.bind(address, BACKLOG);
            TcpListener listener = new TcpListener(opened, address.getAddress());
            listening = true;
            return listener;
        } catch (IOException e) {
            throw failure("cannot listen on " + target + ": " + e.getMessage(), address.getAddress(), e);
        } finally {
            if (!listening) {
                close(opened);
            }
        }
    }

    private static SetupException failure(String words, InetAddress address, IOException cause) {
        if (!(cause instanceof BindException)) {
            return new SetupException(Reason.OTHER, words, cause);
        }
        return isOfThisHost(address)
                ? new SetupException(
                        Reason.PORT_TAKEN, words + "; choose another port, or stop the program that uses it", cause)
                : new SetupException(
                        Reason.OTHER, words + "; use an address of this host, or " + ALL_ADDRESSES + " for all", cause);
    }

    private static boolean isOfThisHost(InetAddress address) {
        try {
            return address.isAnyLocalAddress()
                    || address.isLoopbackAddress()
                    || NetworkInterface.getByInetAddress(address) != null;
        } catch (SocketException e) {
            return true;
        }
    }

    /// The address it listens on; the wildcard address for all.
    public InetAddress address() {
        return address;
    }

    /// The port it listens on.
    public int port() {
        return port;
    }

    /// Waits for the next connection. Blocks.
    ///
    /// @return the connection; null when the listener is closed
    @Nullable
    public TcpConnector accept() throws IOException {
        accepting.acquireUninterruptibly();
        SocketChannel accepted;
        try {
            accepted = channel.accept();
        } catch (ClosedChannelException e) {
            return null;
        } finally {
            accepting.release();
        }
        return connector(accepted);
    }

    /// Closes the socket if the client has disconnected already.
    private static TcpConnector connector(SocketChannel accepted) throws IOException {
        boolean made = false;
        try {
            TcpConnector connector = new TcpConnector(accepted);
            made = true;
            return connector;
        } finally {
            if (!made) {
                accepted.close();
            }
        }
    }

    /// Ends [#accept]. The port is free when this returns: a virtual thread that accepts frees it when it wakes up.
    @Override
    public void close() {
        close(channel);
        accepting.acquireUninterruptibly();
        accepting.release();
    }

    private static void close(@Nullable ServerSocketChannel open) {
        if (open == null) {
            return;
        }
        try {
            open.close();
        } catch (IOException e) {
            // It no longer listens.
        }
    }
}
