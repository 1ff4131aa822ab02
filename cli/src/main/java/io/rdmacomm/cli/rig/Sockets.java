package io.rdmacomm.cli.rig;

import io.rdmacomm.cli.command.ListenOptions;
import io.rdmacomm.cli.command.OnFailure;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/// Connects the two sides of a measurement with sockets of any provider.
public final class Sockets {
    private Sockets() {}

    /// Prepares a socket before it connects.
    @FunctionalInterface
    public interface Preparation {
        /// Sets its options.
        void prepare(SocketChannel channel) throws IOException;
    }

    /// Listens on a free port.
    ///
    /// @param host the address that the server listens on; empty for loopback, `*` for all
    /// @param client the address of the client, which is also the server's on loopback
    public static ServerSocketChannel listen(SelectorProvider provider, String host, InetAddress client)
            throws IOException {
        ServerSocketChannel listener = provider.openServerSocketChannel();
        return OnFailure.run(() -> close(listener), () -> listener.bind(new InetSocketAddress(local(host, client), 0)));
    }

    private static InetAddress local(String host, InetAddress client) throws IOException {
        if (host.equals(ListenOptions.ALL_ADDRESSES)) {
            return new InetSocketAddress(0).getAddress();
        }
        return host.isEmpty() || host.equalsIgnoreCase("localhost") ? client : InetAddress.getByName(host);
    }

    /// Waits for the connection of the client, and closes all others.
    ///
    /// @throws SocketTimeoutException if the client does not connect in time
    public static SocketChannel accept(ServerSocketChannel listener, Predicate<SocketChannel> isOfClient, Duration time)
            throws IOException {
        long deadline = System.nanoTime() + time.toNanos();
        while (true) {
            long millis = Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime()));
            listener.socket().setSoTimeout((int) millis);
            SocketChannel channel = listener.socket().accept().getChannel();
            if (isOfClient.test(channel)) {
                return channel;
            }
            channel.close();
        }
    }

    /// Connects to a server.
    public static SocketChannel connect(
            SelectorProvider provider, InetSocketAddress server, Duration time, Preparation preparation)
            throws IOException {
        SocketChannel channel = provider.openSocketChannel();
        return OnFailure.run(() -> close(channel), () -> {
            preparation.prepare(channel);
            channel.socket().connect(server, (int) time.toMillis());
            return channel;
        });
    }

    /// Closes a resource. Ignores errors, because it is closed in any case.
    public static void close(Closeable resource) {
        try {
            resource.close();
        } catch (IOException _) {
            // It is closed in any case.
        }
    }
}
