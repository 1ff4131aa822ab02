package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.fixture.SetupFailure.because;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.Deadlines;
import io.rdmacomm.comm.Reconnect;
import io.rdmacomm.comm.Secret;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionListener;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.Setup;
import io.rdmacomm.comm.SetupFailedException.Reason;
import io.rdmacomm.comm.setup.FrameType;
import io.rdmacomm.tests.comm.FramedSocket.Frame;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.PrivateMemory;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Sessions with a secret: nothing is told to, or made for, a peer that has not proved itself.
@ExtendWith(LeakCheck.class)
final class SecretSessionTest {
    private static final Secret SECRET = Secret.of("b0344c61d8db38535ca8afceaf0bf12b".getBytes(UTF_8));
    private static final Secret OTHER = Secret.of("00000000000000000000000000000000".getBytes(UTF_8));
    private static final SessionOptions OPEN = SessionOptions.defaults().withAddress("127.0.0.1", 0);
    private static final SessionOptions GUARDED = OPEN.withSecret(SECRET);

    private final LinkedBlockingQueue<RdmaException> refused = new LinkedBlockingQueue<>();
    private final SessionListener listener = new SessionListener() {
        @Override
        public void onRefused(String peer, RdmaException failure) {
            refused.add(failure);
        }
    };

    @ParameterizedTest
    @EnumSource(Setup.class)
    void sidesWithTheSameSecretConnectInEveryWay(Setup how) {
        try (ConnectedPair pair = ConnectedPair.of(GUARDED.withSetup(how))) {
            var remote = pair.target(pair.server.allocate("target", 64));
            pair.clientChannel()
                    .blocking(TIMEOUT)
                    .write(pair.client.allocate("source", 64).block(0), remote, 0);
        }
    }

    private void bothSidesFail(SessionOptions ofServer, SessionOptions ofClient, String words) throws Exception {
        try (ServerSession server = ServerSession.listen(ofServer.withListener(listener))) {
            assertThatThrownBy(() -> ClientSession.connect(ofClient.withPort(server.port())))
                    .satisfies(because(Reason.UNPROVED))
                    .hasMessageContaining(words)
                    .hasMessageContaining("withSecret");
            assertThat(refused.poll(20, TimeUnit.SECONDS))
                    .satisfies(because(Reason.UNPROVED))
                    .hasMessageContaining(words);
            assertThat(server.endPoints()).isEmpty();
        }
    }

    /// A service may give up when somebody without the secret has come.
    @Test
    void onRefusedMayCloseTheSession() throws Exception {
        AtomicReference<@Nullable ServerSession> session = new AtomicReference<>();
        CountDownLatch closed = new CountDownLatch(1);
        SessionListener closer = new SessionListener() {
            @Override
            public void onRefused(String peer, RdmaException failure) {
                Objects.requireNonNull(session.get()).close();
                closed.countDown();
            }
        };
        ServerSession server = ServerSession.listen(GUARDED.withListener(closer));
        session.set(server);
        assertThatThrownBy(() -> ClientSession.connect(OPEN.withPort(server.port())))
                .isInstanceOf(RdmaException.class);
        assertThat(closed.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(server.isOpen()).isFalse();
    }

    @Test
    void differentSecretsAreRefusedOnBothSides() throws Exception {
        bothSidesFail(GUARDED, OPEN.withSecret(OTHER), "is not that of the server");
    }

    @Test
    void aClientWithoutASecretIsRefusedOnBothSides() throws Exception {
        bothSidesFail(GUARDED, OPEN, "the server demands a secret");
    }

    @Test
    void aServerWithoutASecretIsRefusedOnBothSides() throws Exception {
        bothSidesFail(OPEN, GUARDED, "the server has none");
    }

    /// The resources that the server has created so far: files of shared memory, and threads of the library.
    private static List<String> resources() {
        List<String> found = new ArrayList<>(PrivateMemory.contents());
        Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("rdmacomm-"))
                .sorted()
                .forEach(found::add);
        found.sort(null);
        return found;
    }

    @Test
    void strangersThatWantManyChannelsCostNothing() throws IOException {
        SessionOptions generous = GUARDED.withMaxChannels(64);
        int[] ports = new int[65];
        Arrays.fill(ports, 20_000);
        try (ServerSession server = ServerSession.listen(generous)) {
            List<String> before = resources();
            List<FramedSocket> strangers = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                FramedSocket stranger = new FramedSocket(server.port());
                strangers.add(stranger);
                stranger.send(FrameType.HELLO, FramedSocket.description(InetAddress.getLoopbackAddress(), ports));
                Frame answer = stranger.next();

                assertThat(answer.is(FrameType.UNPROVED)).isTrue();
                assertThat(resources()).isEqualTo(before);
            }
            // In the middle of the proof, too.
            FramedSocket half = new FramedSocket(server.port());
            strangers.add(half);
            half.send(FrameType.PROVE, ByteBuffer.allocate(32));
            assertThat(half.next().is(FrameType.PROVE)).isTrue();
            assertThat(resources()).isEqualTo(before);
            for (FramedSocket stranger : strangers) {
                stranger.close();
            }
            assertThat(server.endPoints()).isEmpty();
        }
    }

    @Test
    void aStrangerThatIsSilentInTheProofIsDropped() throws Exception {
        SessionOptions impatient = GUARDED.withDeadlines(Deadlines.defaults().withHandshake(Duration.ofMillis(300)));
        try (ServerSession server = ServerSession.listen(impatient.withListener(listener));
                FramedSocket stranger = new FramedSocket(server.port())) {
            stranger.send(FrameType.PROVE, ByteBuffer.allocate(32));

            assertThat(refused.poll(20, TimeUnit.SECONDS)).isInstanceOf(DeadlineException.class);
        }
    }

    /// A client says nothing about itself to a server that has not proved itself.
    @Test
    void anImpostorLearnsNothingFromAClient() throws IOException {
        try (ServerSocket impostor = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Frame> learned = CompletableFuture.supplyAsync(
                    () -> pose(impostor), task -> Thread.ofVirtual().start(task));

            assertThatThrownBy(() -> ClientSession.connect(GUARDED.withPort(impostor.getLocalPort())))
                    .satisfies(because(Reason.UNPROVED))
                    .hasMessageContaining("does not have the secret of this side");
            assertThat(learned.join().is(FrameType.UNPROVED)).isTrue();
        }
    }

    /// Takes a client's proof and goes on as if all was well.
    private static Frame pose(ServerSocket listener) {
        try (FramedSocket client = new FramedSocket(listener.accept())) {
            client.answerGreeting();
            client.next();
            client.send(FrameType.PROVE, ByteBuffer.allocate(32));
            client.next();
            client.send(FrameType.PROOF, ByteBuffer.allocate(32));
            return client.next();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aClientThatReconnectsProvesItselfAgain() {
        try (ConnectedPair pair = new ConnectedPair(GUARDED, GUARDED.withReconnect(Reconnect.defaults()))) {
            pair.reconnect();
        }
    }
}
