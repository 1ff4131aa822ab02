package io.rdmacomm.tests.lab;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.RdmaException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// A session in which both sides send messages and write into each other's memory, and the client reads. Data travels
/// in both directions although only the client can connect. Every byte is compared.
final class SessionTalk implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final Duration CALL = Duration.ofHours(1);
    private static final String LOST = "talk lost its client: ";
    private static final int BYTES = 1 << 20;
    private static final int MESSAGES = 50;
    private static final int MESSAGE = 4000;
    private static final long SEED_OF_SERVER = 7;
    private static final long SEED_OF_CLIENT = 8;

    private final ServerSession server;
    private final FutureTask<Boolean> service = new FutureTask<>(this::serve);

    private SessionTalk(ServerSession server) {
        this.server = server;
        Thread.ofPlatform().daemon().name("talk").start(service);
    }

    /// Starts the server side, for one client.
    static SessionTalk listen(String device, String address, int port, int connectionPort) {
        return listen(SessionOptions.defaults()
                .withDevice(device)
                .withAddress(address, port)
                .withConnectionPort(connectionPort));
    }

    /// Starts the server side, for one client.
    static SessionTalk listen(SessionOptions options) {
        return new SessionTalk(ServerSession.listen(options));
    }

    int port() {
        return server.port();
    }

    /// A lost client may connect once more. The client knows whether it has a good reason.
    private boolean serve() {
        RdmaBuffer own = server.allocate("own", BYTES);
        fill(own, SEED_OF_SERVER);
        RdmaBuffer inbox = server.allocate("inbox", BYTES);
        EndPoint first = server.accept(CALL);
        try {
            return serve(first, own, inbox);
        } catch (RdmaException e) {
            System.out.println(LOST + e.getMessage());
            return serve(server.accept(CALL), own, inbox);
        }
    }

    private static boolean serve(EndPoint client, RdmaBuffer own, RdmaBuffer inbox) {
        client.announce(own, AccessFlag.allRemote());
        client.announce(inbox, AccessFlag.allRemote());
        RdmaChannel channel = client.channel(0);
        channel.blocking(TIMEOUT).write(own.block(0), client.peerBuffer("inbox", TIMEOUT), 0);
        sendAll(channel, own);
        receiveAll(channel, SEED_OF_CLIENT);
        assertHolds(inbox, SEED_OF_CLIENT);
        return client.awaitPeerDone(TIMEOUT);
    }

    /// Runs the client side.
    static void call(SessionOptions options) {
        try (ClientSession client = ClientSession.connect(options)) {
            RdmaBuffer inbox = client.allocate("inbox", BYTES);
            EndPoint there = client.endPoint();
            there.announce(inbox, AccessFlag.allRemote());
            RdmaChannel channel = there.channel(0);
            receiveAll(channel, SEED_OF_SERVER);
            assertHolds(inbox, SEED_OF_SERVER);
            RdmaBuffer copy = client.allocate("copy", BYTES);
            RemoteBuffer remote = there.peerBuffer("own", TIMEOUT);
            channel.blocking(TIMEOUT).read(copy.block(0), remote, 0);
            assertHolds(copy, SEED_OF_SERVER);
            fill(copy, SEED_OF_CLIENT);
            channel.blocking(TIMEOUT).write(copy.block(0), there.peerBuffer("inbox", TIMEOUT), 0);
            sendAll(channel, copy);
        }
    }

    /// Checks that the server has served its client without an error.
    void end() throws InterruptedException, ExecutionException, TimeoutException {
        assertThat(service.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    /// The output of a server process without the lines about a lost client.
    static String withoutLost(String text) {
        return text.replaceAll("(?m)^(" + LOST + "|WARNING: endpoint server-).*", "");
    }

    private static void sendAll(RdmaChannel channel, RdmaBuffer from) {
        for (int i = 0; i < MESSAGES; i++) {
            channel.blocking(TIMEOUT).send(from.slice((long) i * MESSAGE, MESSAGE));
        }
    }

    private static void receiveAll(RdmaChannel channel, long seed) {
        byte[] expected = bytes(seed);
        for (int i = 0; i < MESSAGES; i++) {
            try (Message message = channel.blocking(TIMEOUT).receive()) {
                assertThat(message.segment().toArray(JAVA_BYTE))
                        .as("message " + i)
                        .isEqualTo(Arrays.copyOfRange(expected, i * MESSAGE, (i + 1) * MESSAGE));
            }
        }
    }

    private static void fill(RdmaBuffer buffer, long seed) {
        buffer.segment().copyFrom(MemorySegment.ofArray(bytes(seed)));
    }

    private static void assertHolds(RdmaBuffer buffer, long seed) {
        assertThat(buffer.segment().mismatch(MemorySegment.ofArray(bytes(seed))))
                .isEqualTo(-1);
    }

    private static byte[] bytes(long seed) {
        byte[] bytes = new byte[BYTES];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    @Override
    public void close() {
        server.close();
    }
}
