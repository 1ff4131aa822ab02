package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.fixture.SetupFailure.because;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.Secret;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionListener;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.Setup;
import io.rdmacomm.comm.SetupFailedException.Reason;
import io.rdmacomm.comm.setup.FrameType;
import io.rdmacomm.tests.comm.FramedSocket.Frame;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.verbs.RdmaException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// Sessions with peers of other releases.
@ExtendWith(LeakCheck.class)
final class SessionVersionsTest {
    private static final SessionOptions OPTIONS =
            SessionOptions.defaults().withAddress("127.0.0.1", 0).withDevice("soft0");
    private static final Secret SECRET =
            Secret.of("b0344c61d8db38535ca8afceaf0bf12b".getBytes(StandardCharsets.US_ASCII));

    /// What the first release says: later ones have to understand it for as long as they speak version 1.
    private static final String GREETING_1 =
            "52444d43" + "0000" + "000c" + "00000010" + "0001" + "0001" + "0001" + "0000" + "0000000000000000";

    private static final String CHANNEL_1 = "00000011" + "00001267" + "4e20" + "03" + "01" + "0000000000000000"
            + "0000ffff7f000001" + "00000008" + "00001000" + "00000000" + "0000000000000000" + "00000000" + "00000000";
    private static final String HELLO_1 = "52444d43" + "0000" + "0001" + "00000087" + "02" + "01" + "0002" + "0005"
            + "0000" + "0000000000000000" + "0038" + "6669727374" + CHANNEL_1 + CHANNEL_1;

    private final LinkedBlockingQueue<RdmaException> refused = new LinkedBlockingQueue<>();
    private final SessionListener listener = new SessionListener() {
        @Override
        public void onRefused(String peer, RdmaException failure) {
            refused.add(failure);
        }
    };

    private static byte[] bytes(String digits) {
        return HexFormat.of().parseHex(digits);
    }

    @Test
    void aClientOfTheFirstReleaseIsUnderstood() throws IOException {
        try (ServerSession server = ServerSession.listen(OPTIONS.withName("first"));
                FramedSocket client = new FramedSocket(new Socket(InetAddress.getLoopbackAddress(), server.port()))) {
            client.send(bytes(GREETING_1));
            assertThat(client.nextOfAny().digits()).isEqualTo("0001" + "0001" + "0001" + "0000" + "0000000000000000");
            client.send(bytes(HELLO_1));

            Frame answer = client.nextOfAny();
            assertThat(answer.is(FrameType.WELCOME)).isTrue();
            assertThat(answer.digits())
                    .startsWith("02" + "01" + "0002" + "0005" + "0000" + "0000000000000000" + "0038" + "6669727374");
            assertThat(answer.payload().remaining()).isEqualTo(18 + 5 + 2 * 56);
        }
    }

    @ParameterizedTest
    @EnumSource(Setup.class)
    void sidesOfALaterReleaseConnectInEveryWay(Setup how) throws IOException {
        SessionOptions options = OPTIONS.withSetup(how);
        try (ServerSession server = ServerSession.listen(options);
                LaterRelease line = new LaterRelease(server.port());
                ClientSession client = ClientSession.connect(options.withPort(line.port()))) {
            EndPoint end = server.accept(TIMEOUT);
            var slice = client.allocate("message", 64, 1).block(0);
            client.endPoint().channel(0).blocking(TIMEOUT).send(slice);
            try (Message message = end.channel(0).blocking(TIMEOUT).receive()) {
                assertThat(message.length()).isEqualTo(64);
            }
            assertThat(end.peerName()).isEqualTo(client.name());
            assertThat(client.endPoint().peerName()).isEqualTo(server.name());
            assertThat(line.hasSeen(FrameType.GREETING)
                            && line.hasSeen(FrameType.HELLO)
                            && line.hasSeen(FrameType.WELCOME)
                            && line.hasSeen(FrameType.READY))
                    .isTrue();
        }
    }

    @Test
    void aClientWithoutACommonVersionIsToldBothRanges() throws Exception {
        try (ServerSession server = ServerSession.listen(OPTIONS.withListener(listener));
                FramedSocket client = new FramedSocket(new Socket(InetAddress.getLoopbackAddress(), server.port()))) {
            client.send(FrameType.GREETING, FramedSocket.greeting(2, 3, 0));

            Frame answer = client.nextOfAny();
            assertThat(answer.is(FrameType.GREETING)).isTrue();
            assertThat(answer.payload().getShort(2)).isEqualTo((short) 1);
            assertThat(answer.payload().getShort(4)).isEqualTo((short) 1);
            assertThat(refused.poll(20, TimeUnit.SECONDS))
                    .satisfies(because(Reason.OTHER_VERSION))
                    .hasMessageContaining("speaks versions 2 to 3 of the session protocol, this side version 1")
                    .hasMessageContaining("update rdmacomm on this side");
            assertThat(client.isAtEnd()).isTrue();
            assertThat(server.endPoints()).isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void aServerWithoutACommonVersionIsNamedWithBothRanges(boolean secret) throws IOException {
        SessionOptions options = secret ? OPTIONS.withSecret(SECRET) : OPTIONS;
        try (ServerSocket later = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Boolean> served = CompletableFuture.supplyAsync(
                    () -> answer(later, FramedSocket.greeting(2, 3, -1)),
                    task -> Thread.ofVirtual().start(task));

            assertThatThrownBy(() -> ClientSession.connect(options.withPort(later.getLocalPort())))
                    .satisfies(because(Reason.OTHER_VERSION))
                    .hasMessageContaining("127.0.0.1:" + later.getLocalPort())
                    .hasMessageContaining("speaks versions 2 to 3 of the session protocol, this side version 1")
                    .hasMessageContaining("update rdmacomm on this side");
            assertThat(served.join()).as("the client says nothing more").isTrue();
        }
    }

    private static boolean answer(ServerSocket listener, ByteBuffer greeting) {
        try (FramedSocket client = new FramedSocket(listener.accept())) {
            assertThat(client.nextOfAny().is(FrameType.GREETING)).isTrue();
            client.send(FrameType.GREETING, greeting);
            return client.isAtEnd();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /// Both sides have the secret, and somebody in between makes them believe something else about each other.
    @Test
    void theSecretProtectsVersionsAndFeatures() throws Exception {
        SessionOptions guarded = OPTIONS.withSecret(SECRET);
        try (ServerSession server = ServerSession.listen(guarded.withListener(listener));
                LaterRelease line = new LaterRelease(server.port())) {
            assertThatThrownBy(() -> ClientSession.connect(guarded.withPort(line.port())))
                    .satisfies(because(Reason.UNPROVED));
            assertThat(refused.poll(20, TimeUnit.SECONDS)).satisfies(because(Reason.UNPROVED));
            assertThat(server.endPoints()).isEmpty();
        }
    }
}
