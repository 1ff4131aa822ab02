package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.interop.InteropServer;
import io.rdmacomm.cli.interop.RpingClient;
import io.rdmacomm.cli.interop.RpingServer;
import io.rdmacomm.cli.interop.RpingText;
import io.rdmacomm.soft.iwarp.MpaNegotiation;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionRejectedException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The protocol of rping(1): both sides, and the server against clients that break the protocol.
@ExtendWith(LeakCheck.class)
class RpingTest {
    private static final ConnectionOptions HOW = ConnectionOptions.defaults();
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private final List<String> texts = new CopyOnWriteArrayList<>();

    private ConnectionPair pair(Duration timeout) {
        return new ConnectionPair(manager -> RpingServer.listen(manager, ANY_PORT, HOW, timeout, texts::add));
    }

    @ParameterizedTest
    @ValueSource(ints = {RpingText.MIN_BYTES, 64, 4096, RpingText.MAX_BYTES})
    void textsComeBackUnchanged(int bytes) throws Exception {
        try (ConnectionPair pair = pair(TIMEOUT)) {
            try (RpingClient client =
                    RpingClient.connect(pair.clients(), "127.0.0.1", pair.port(), HOW, bytes, TIMEOUT)) {
                for (int number = 0; number < 60; number++) {
                    assertThat(client.ping(number)).isPositive();
                }
                assertThat(client.text()).startsWith("rdma-ping-59: ").hasSize(bytes - 1);
            }
            Deadline.await("the server's line", () -> !pair.lines().isEmpty());

            assertThat(pair.lines()).singleElement().asString().endsWith(": 60 pings served");
            assertThat(pair.failures()).isEmpty();
            assertThat(texts).hasSize(60);
        }
    }

    @Test
    void theTextIsTheSameAsThatOfTheCProgram() throws Exception {
        try (ConnectionPair pair = pair(TIMEOUT);
                RpingClient client = RpingClient.connect(pair.clients(), "127.0.0.1", pair.port(), HOW, 64, TIMEOUT)) {
            client.ping(0);
            assertThat(client.text()).isEqualTo("rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqr");
            client.ping(57);
            assertThat(client.text()).isEqualTo("rdma-ping-57: zABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnop");
            client.ping(58);
            assertThat(client.text()).startsWith("rdma-ping-58: ABC");
            assertThat(texts)
                    .first()
                    .asString()
                    .isEqualTo("server ping data: rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqr");
        }
    }

    @Test
    void servesSeveralClientsAtTheSameTime() throws Exception {
        try (ConnectionPair pair = pair(TIMEOUT);
                RpingClient one = RpingClient.connect(pair.clients(), "127.0.0.1", pair.port(), HOW, 64, TIMEOUT);
                RpingClient two = RpingClient.connect(pair.clients(), "localhost", pair.port(), HOW, 1000, TIMEOUT)) {
            for (int number = 0; number < 10; number++) {
                one.ping(number);
                two.ping(number);
            }
            assertThat(pair.failures()).isEmpty();
        }
    }

    /// They have sent a right request, and do not complete the handshake.
    @Test
    void silentCallersKeepNobodyOutOfAServerForOneClient() throws Exception {
        List<SocketChannel> silent = new ArrayList<>();
        try (Context context = Rdma.open("soft0");
                ConnectionManager servers = ConnectionManager.open(context);
                Context clientContext = Rdma.open("soft0");
                ConnectionManager clients = ConnectionManager.open(clientContext);
                InteropServer server = RpingServer.listen(servers, ANY_PORT, HOW, TIMEOUT, texts::add)) {
            InetSocketAddress address = new InetSocketAddress(ANY_PORT.getAddress(), server.port());
            for (int i = 0; i < 3; i++) {
                SocketChannel stranger = SocketChannel.open(address);
                silent.add(stranger);
                stranger.write(new MpaNegotiation(false, 1, 1)
                        .request(new byte[0])
                        .askingForHandshake()
                        .encode());
            }
            List<String> lines = new CopyOnWriteArrayList<>();
            FutureTask<Void> serving = new FutureTask<>(() -> {
                server.runOnce(lines::add);
                return null;
            });
            Thread.ofPlatform().daemon().start(serving);
            try (RpingClient client = RpingClient.connect(clients, "127.0.0.1", server.port(), HOW, 64, TIMEOUT)) {
                client.ping(0);
            }
            serving.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
            assertThat(lines).singleElement().asString().endsWith(": 1 pings served");
        } finally {
            for (SocketChannel each : silent) {
                each.close();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "0, offers a text of 0 bytes",
        "65536, offers a text of 65536 bytes",
        "-1, offers a text of 4294967295 bytes",
    })
    void anInvalidSizeEndsOnlyThatClient(int size, String expected) throws Exception {
        try (ConnectionPair pair = pair(TIMEOUT)) {
            pair.assertRejected(
                    hostile -> hostile.send(
                            advert(hostile.region().address(), hostile.region().remoteKey(), size)),
                    expected);
            assertStillServes(pair);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 15, 17, 64})
    void aMessageOfTheWrongLengthEndsOnlyThatClient(int length) throws Exception {
        try (ConnectionPair pair = pair(TIMEOUT)) {
            pair.assertRejected(
                    hostile -> hostile.send(ByteBuffer.allocate(length).position(length)),
                    "a message of " + length + " bytes where rping sends 16");
            assertStillServes(pair);
        }
    }

    @Test
    void aMessageThatIsTooLongEndsOnlyThatClient() throws Exception {
        try (ConnectionPair pair = pair(TIMEOUT)) {
            try (RawClient hostile = new RawClient(pair.clients(), pair.port())) {
                hostile.send(ByteBuffer.allocate(200).position(200));
            }
            pair.assertOneFailure("receiving a message failed with LOCAL_LENGTH_ERROR");
            assertStillServes(pair);
        }
    }

    @Test
    void aForgedKeyEndsOnlyThatClient() throws Exception {
        try (ConnectionPair pair = pair(TIMEOUT)) {
            pair.assertRejected(
                    hostile -> hostile.send(
                            advert(hostile.region().address(), hostile.region().remoteKey() ^ 0x5555, 64)),
                    "READ of 64 bytes of the peer's memory failed with REMOTE_ACCESS_ERROR");
            assertStillServes(pair);
        }
    }

    @Test
    void aClientThatDisconnectsInTheMiddleIsReported() throws Exception {
        try (ConnectionPair pair = pair(TIMEOUT)) {
            try (RawClient hasty = new RawClient(pair.clients(), pair.port())) {
                hasty.send(advert(hasty.region().address(), hasty.region().remoteKey(), 64));
                Deadline.await("the first half", () -> !texts.isEmpty());
            }
            pair.assertOneFailure("");
            assertStillServes(pair);
        }
    }

    @Test
    void aSilentClientTimesOut() throws Exception {
        try (ConnectionPair pair = pair(Duration.ofMillis(900));
                RawClient silent = new RawClient(pair.clients(), pair.port())) {
            silent.awaitEnd();

            pair.assertOneFailure("timed out after 900 ms");
        }
    }

    @Test
    void theClientDetectsThatTheServerGaveUp() throws Exception {
        // Long enough for a ping on a busy machine.
        try (ConnectionPair pair = pair(Duration.ofSeconds(2));
                RpingClient client = RpingClient.connect(pair.clients(), "127.0.0.1", pair.port(), HOW, 64, TIMEOUT)) {
            client.ping(0);
            Deadline.await("the server to give up", () -> !pair.failures().isEmpty());

            assertThatThrownBy(() -> client.ping(1)).isInstanceOf(CommandFailure.class);
        }
    }

    @Test
    void aPortWithoutListenerIsReported() throws Exception {
        try (ConnectionPair pair = pair(TIMEOUT)) {
            assertThatThrownBy(() -> RpingClient.connect(pair.clients(), "127.0.0.1", 1, HOW, 64, TIMEOUT))
                    .isInstanceOf(ConnectionRejectedException.class)
                    .hasMessageContaining("no program listens");
        }
    }

    private static void assertStillServes(ConnectionPair pair) throws Exception {
        try (RpingClient next = RpingClient.connect(pair.clients(), "127.0.0.1", pair.port(), HOW, 64, TIMEOUT)) {
            next.ping(0);
        }
    }

    private static ByteBuffer advert(long address, int key, int size) {
        return ByteBuffer.allocate(16).putLong(address).putInt(key).putInt(size);
    }
}
