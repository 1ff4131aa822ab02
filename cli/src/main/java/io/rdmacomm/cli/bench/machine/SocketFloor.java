package io.rdmacomm.cli.bench.machine;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.comm.setup.TcpListener;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/// The performance of a plain TCP socket between the two sides: the limit for a device that uses TCP, and what
/// programs with sockets achieve today. It takes two connections without any protocol: over the first, 8 bytes go
/// back and forth; over the second, the client streams parts of 8 MiB, and the server answers each with the number of
/// bytes so far.
public final class SocketFloor implements AutoCloseable {
    private static final int MESSAGE_BYTES = Long.BYTES;
    private static final int BLOCK_BYTES = 1 << 20;
    private static final long PART_BYTES = 8L * BLOCK_BYTES;
    private static final int ROUNDS = 25;
    private static final BestPart PARTS = BestPart.within(Duration.ofMillis(300), Duration.ofSeconds(2));
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final int CONNECT_MILLIS = 2000;

    private final ServerSocketChannel listener;
    private final InetAddress client;

    /// Listens on a free port. The server calls this.
    ///
    /// @param host the address that the server listens on; empty for loopback, `*` for all
    /// @param client the only client that is served, because this port requires no secret
    public SocketFloor(String host, InetAddress client) throws IOException {
        this.client = client;
        this.listener = ServerSocketChannel.open();
        try {
            listener.bind(new InetSocketAddress(address(host, client), 0));
            listener.configureBlocking(false);
        } catch (IOException | RuntimeException e) {
            listener.close();
            throw e;
        }
    }

    /// On loopback, client and server have the same address.
    private static InetAddress address(String host, InetAddress client) throws IOException {
        if (host.equals(TcpListener.ALL_ADDRESSES)) {
            return new InetSocketAddress(0).getAddress();
        }
        return host.isEmpty() || host.equalsIgnoreCase("localhost") ? client : InetAddress.getByName(host);
    }

    /// The port that the client connects to.
    public int port() {
        return listener.socket().getLocalPort();
    }

    /// Serves one client's measurement.
    public void serve() throws IOException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(BLOCK_BYTES);
        try (SocketChannel channel = accept()) {
            while (receive(channel, buffer.clear().limit(MESSAGE_BYTES))) {
                send(channel, buffer.flip());
            }
        }
        try (SocketChannel channel = accept()) {
            long count = 0;
            long deadline = System.nanoTime() + PATIENCE_NANOS;
            int received = channel.read(buffer.clear());
            while (received >= 0) {
                checkTime(deadline);
                count += received;
                if (received > 0 && count % PART_BYTES == 0) {
                    send(channel, buffer.clear().putLong(count).flip());
                }
                received = channel.read(buffer.clear());
            }
        }
    }

    private SocketChannel accept() throws IOException {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (true) {
            SocketChannel channel = listener.accept();
            if (channel != null && isOfClient(channel)) {
                return configure(channel);
            }
            checkTime(deadline);
            Thread.onSpinWait();
        }
    }

    private boolean isOfClient(SocketChannel channel) throws IOException {
        boolean same = channel.getRemoteAddress() instanceof InetSocketAddress from
                && from.getAddress().equals(client);
        if (!same) {
            channel.close();
        }
        return same;
    }

    /// Measures from the client's side.
    ///
    /// @param server where the server listens
    public static SocketFigures measure(InetSocketAddress server) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(BLOCK_BYTES);
        double micros;
        try (SocketChannel channel = connect(server)) {
            micros = pingPong(channel, buffer);
        }
        try (SocketChannel channel = connect(server)) {
            return new SocketFigures(micros, stream(channel, buffer));
        }
    }

    private static SocketChannel connect(InetSocketAddress server) throws IOException {
        SocketChannel channel = SocketChannel.open();
        try {
            channel.socket().connect(server, CONNECT_MILLIS);
            return configure(channel);
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    /// Both sides poll the socket: a wake-up would cost more than the message.
    private static SocketChannel configure(SocketChannel channel) throws IOException {
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.configureBlocking(false);
        return channel;
    }

    private static double pingPong(SocketChannel channel, ByteBuffer buffer) throws IOException {
        long nanos = PARTS.nanos(() -> exchange(channel, buffer));
        return nanos / (2.0 * ROUNDS) / 1000;
    }

    private static void exchange(SocketChannel channel, ByteBuffer buffer) throws IOException {
        for (int i = 0; i < ROUNDS; i++) {
            send(channel, buffer.clear().limit(MESSAGE_BYTES));
            if (!receive(channel, buffer.clear().limit(MESSAGE_BYTES))) {
                throw new CommandFailure("the peer closed the plain socket during the measurement");
            }
        }
    }

    private static double stream(SocketChannel channel, ByteBuffer buffer) throws IOException {
        AtomicLong sent = new AtomicLong();
        long nanos = PARTS.nanos(() -> streamPart(channel, buffer, sent.addAndGet(PART_BYTES)));
        return 8.0 * PART_BYTES / nanos;
    }

    private static void streamPart(SocketChannel channel, ByteBuffer buffer, long sent) throws IOException {
        for (long left = PART_BYTES; left > 0; left -= BLOCK_BYTES) {
            send(channel, buffer.clear());
        }
        boolean answered = receive(channel, buffer.clear().limit(Long.BYTES));
        if (!answered || buffer.getLong(0) != sent) {
            throw new CommandFailure("the plain socket lost bytes during the measurement");
        }
    }

    private static void send(SocketChannel channel, ByteBuffer bytes) throws IOException {
        long deadline = 0;
        while (bytes.hasRemaining()) {
            if (channel.write(bytes) == 0) {
                deadline = deadline == 0 ? System.nanoTime() + PATIENCE_NANOS : deadline;
                checkTime(deadline);
                Thread.onSpinWait();
            }
        }
    }

    /// Fills `into`.
    ///
    /// @return false if the peer closed its side before
    @SuppressWarnings("ThreadPriorityCheck") // only speeds up a machine that is too busy to measure anything
    private static boolean receive(SocketChannel channel, ByteBuffer into) throws IOException {
        long deadline = 0;
        int spins = 0;
        while (into.hasRemaining()) {
            int received = channel.read(into);
            if (received < 0) {
                return false;
            }
            if (received == 0 && (++spins & ClockCost.CHECK_MASK) == 0) {
                Thread.yield();
                deadline = deadline == 0 ? System.nanoTime() + PATIENCE_NANOS : deadline;
                checkTime(deadline);
            }
        }
        return true;
    }

    private static void checkTime(long deadline) {
        if (System.nanoTime() - deadline > 0) {
            throw new CommandFailure("the peer stopped answering while the plain socket was measured");
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }
}
