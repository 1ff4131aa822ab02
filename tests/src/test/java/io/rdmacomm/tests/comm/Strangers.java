package io.rdmacomm.tests.comm;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.rdmacomm.comm.setup.FrameType;
import io.rdmacomm.tests.comm.GuardedServer.Guard;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;

/// Hostile clients, one after another and of every kind. They come from four addresses, so that they fill all places of
/// a server, and stay connected until the server or a newer one ends that. For one thread.
final class Strangers implements AutoCloseable {
    /// More than a server keeps.
    private static final int MOST_OPEN = 1500;
    private static final int ADDRESSES = 4;
    private static final int SLOW_BYTES = 5;
    private static final InetAddress FOREIGN = InetAddress.ofLiteral("192.0.2.1");

    /// The kinds of hostile clients.
    enum Kind {
        IDLE,
        GARBAGE,
        SLOW,
        FOREIGN_GID,
        MANY_CHANNELS,
        WRONG_SECRET,
        HALF_OF_TLS;

        /// The kinds that get past the guard as far as possible.
        static List<Kind> against(Guard guard) {
            return switch (guard) {
                case NOTHING -> List.of(IDLE, GARBAGE, SLOW, FOREIGN_GID, MANY_CHANNELS);
                case SECRET -> List.of(IDLE, GARBAGE, SLOW, FOREIGN_GID, MANY_CHANNELS, WRONG_SECRET);
                case TLS -> List.of(values());
            };
        }
    }

    private final int port;
    private final List<Kind> kinds;
    private final SplittableRandom random;
    private final byte[] tlsHello;
    private final Queue<Socket> open = new ArrayDeque<>();
    private int count;

    Strangers(int port, Guard guard, long seed) {
        this.port = port;
        this.kinds = Kind.against(guard);
        this.random = new SplittableRandom(seed);
        this.tlsHello = tlsHello();
    }

    /// The first message of a TLS client.
    private static byte[] tlsHello() {
        try {
            SSLEngine engine = SSLContext.getDefault().createSSLEngine();
            engine.setUseClientMode(true);
            ByteBuffer hello = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
            engine.wrap(ByteBuffer.allocate(0), hello);
            return Arrays.copyOf(hello.array(), hello.position());
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /// One more of them.
    void next() {
        Kind kind = kinds.get(count % kinds.size());
        InetAddress from = InetAddress.ofLiteral("127.0.0." + (2 + count++ % ADDRESSES));
        if (open.size() >= MOST_OPEN) {
            close(open.remove());
        }
        Socket socket = new Socket();
        open.add(socket);
        try {
            socket.bind(new InetSocketAddress(from, 0));
            socket.connect(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port));
            socket.setTcpNoDelay(true);
            act(kind, from, socket);
        } catch (IOException e) {
            // The server has had enough of it.
            close(socket);
        }
    }

    private void act(Kind kind, InetAddress from, Socket socket) throws IOException {
        switch (kind) {
            case IDLE -> {}
            case GARBAGE -> send(socket, garbage());
            case SLOW -> slowly(socket, tlsHello);
            case FOREIGN_GID -> send(socket, hello(FOREIGN, 2));
            case MANY_CHANNELS -> send(socket, hello(from, 65));
            case WRONG_SECRET -> {
                send(socket, FramedSocket.opening(FrameType.PROVE, ByteBuffer.allocate(32)));
                send(socket, FramedSocket.frame(FrameType.PROOF, ByteBuffer.allocate(32)));
            }
            case HALF_OF_TLS -> send(socket, tlsHello);
        }
    }

    private byte[] garbage() {
        byte[] bytes = new byte[1 + random.nextInt(200)];
        random.nextBytes(bytes);
        return bytes;
    }

    private static byte[] hello(InetAddress at, int channels) {
        int[] ports = new int[channels];
        Arrays.fill(ports, 20_000);
        return FramedSocket.opening(FrameType.HELLO, FramedSocket.description(at, ports));
    }

    private static void send(Socket socket, byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
    }

    /// Byte after byte, and then no more; in between a few others come.
    private void slowly(Socket socket, byte[] tls) throws IOException {
        byte[] bytes = kinds.contains(Kind.HALF_OF_TLS) ? tls : "RDMC\0\0\0\14".getBytes(UTF_8);
        for (int i = 0; i < SLOW_BYTES; i++) {
            send(socket, new byte[] {bytes[i]});
            LockSupport.parkNanos(1);
        }
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // It was closed by the server.
        }
    }

    @Override
    public void close() {
        open.forEach(Strangers::close);
    }
}
