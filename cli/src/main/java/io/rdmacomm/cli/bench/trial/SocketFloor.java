package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.Rounding;
import io.rdmacomm.cli.rig.Sockets;
import io.rdmacomm.cli.rig.WatchedSocket;
import io.rdmacomm.cli.rig.WatchedSocket.Waiting;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/// The performance of a plain TCP socket between the two sides: the limit of a device that uses TCP, and of today's
/// programs with sockets. Uses two connections without any protocol. Over the first, 8 bytes go back and forth;
/// over the second, the client streams parts of 8 MiB, and the server answers each with the number of bytes so far.
public final class SocketFloor implements AutoCloseable {
    private static final int MESSAGE_BYTES = Long.BYTES;
    private static final int BLOCK_BYTES = 1 << 20;
    private static final long PART_BYTES = 8L * BLOCK_BYTES;
    private static final int ROUNDS = 25;
    private static final BestPart PARTS = BestPart.within(Duration.ofMillis(300), Duration.ofSeconds(2));
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final Duration CONNECT = Duration.ofSeconds(2);
    private static final String STOPPED = "the peer stopped answering while the plain socket was measured";
    private static final String CLOSED = "the peer closed the plain socket during the measurement";

    private final ServerSocketChannel listener;
    private final InetAddress client;

    /// Listens on a free port. The server calls this.
    ///
    /// @param host the address that the server listens on; empty for loopback, `*` for all
    /// @param client the only client to serve, because this port requires no secret
    public SocketFloor(String host, InetAddress client) throws IOException {
        this.client = client;
        this.listener = Sockets.listen(SelectorProvider.provider(), host, client);
    }

    /// The port that the client connects to.
    public int port() {
        return listener.socket().getLocalPort();
    }

    /// Serves one client's measurement.
    public void serve() throws IOException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(BLOCK_BYTES);
        try (WatchedSocket socket = accept()) {
            while (socket.tryReceive(buffer.clear().limit(MESSAGE_BYTES))) {
                socket.send(buffer.flip());
            }
        }
        try (WatchedSocket socket = accept()) {
            long count = 0;
            while (socket.tryReceive(buffer.clear())) {
                count += BLOCK_BYTES;
                if (count % PART_BYTES == 0) {
                    socket.send(buffer.clear().putLong(count).flip());
                }
            }
        }
    }

    private WatchedSocket accept() throws IOException {
        try {
            return watched(Sockets.accept(listener, this::isOfClient, TIMEOUT));
        } catch (SocketTimeoutException e) {
            throw new CommandFailure(STOPPED, e);
        }
    }

    private boolean isOfClient(SocketChannel channel) {
        return client.equals(channel.socket().getInetAddress());
    }

    /// Both sides poll the socket, because a wake-up would cost more than the message.
    private static WatchedSocket watched(SocketChannel channel) throws IOException {
        return new WatchedSocket(channel, Waiting.SPINNING, TIMEOUT, STOPPED);
    }

    /// Measures from the client's side.
    ///
    /// @param server where the server listens
    public static Figures measure(InetSocketAddress server) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(BLOCK_BYTES);
        long exchange = fastest(server, socket -> exchange(socket, buffer));
        AtomicLong sent = new AtomicLong();
        long part = fastest(server, socket -> stream(socket, buffer, sent.addAndGet(PART_BYTES)));
        return new Figures(exchange / (2.0 * ROUNDS) / 1000, 8.0 * PART_BYTES / part);
    }

    private static long fastest(InetSocketAddress server, Consumer<WatchedSocket> part) throws IOException {
        try (WatchedSocket socket = watched(Sockets.connect(SelectorProvider.provider(), server, CONNECT, _ -> {}))) {
            try {
                return PARTS.nanos(() -> part.accept(socket));
            } catch (CommandFailure e) {
                throw socket.hasStalled() || socket.hasEnded()
                        ? new CommandFailure(socket.hasEnded() ? CLOSED : STOPPED, e)
                        : e;
            }
        }
    }

    private static void exchange(WatchedSocket socket, ByteBuffer buffer) {
        for (int i = 0; i < ROUNDS; i++) {
            socket.send(buffer.clear().limit(MESSAGE_BYTES));
            socket.receive(buffer.clear().limit(MESSAGE_BYTES));
        }
    }

    private static void stream(WatchedSocket socket, ByteBuffer buffer, long sent) {
        for (long left = PART_BYTES; left > 0; left -= BLOCK_BYTES) {
            socket.send(buffer.clear());
        }
        socket.receive(buffer.clear().limit(Long.BYTES));
        if (buffer.getLong(0) != sent) {
            throw new CommandFailure("the plain socket lost bytes during the measurement");
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }

    /// The performance of a plain TCP socket between the two sides.
    ///
    /// @param micros the one-way time of 8 bytes; 0 if not measured
    /// @param gbps 10^9 bits per second of a stream; 0 if not measured
    public record Figures(double micros, double gbps) {
        public static final Figures NONE = new Figures(0, 0);

        /// Adds both to a JSON object.
        ///
        /// @param when a part of the member names that tells when they were measured
        public void addTo(Map<String, Object> members, String when) {
            if (micros > 0) {
                members.put("socket" + when + "_us", Rounding.to(micros, 3));
                members.put("socket" + when + "_gbps", Rounding.to(gbps, 3));
            }
        }
    }
}
