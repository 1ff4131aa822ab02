package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.fixture.PeerFailure.peer;
import static io.rdmacomm.tests.fixture.SetupFailure.because;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.Deadlines;
import io.rdmacomm.comm.PeerFailedException;
import io.rdmacomm.comm.Reconnect;
import io.rdmacomm.comm.Secret;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionListener;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.Setup;
import io.rdmacomm.comm.SetupFailedException.Reason;
import io.rdmacomm.comm.Tls;
import io.rdmacomm.comm.exchange.Exchange;
import io.rdmacomm.comm.exchange.ExchangeOptions;
import io.rdmacomm.comm.exchange.ExchangeServer;
import io.rdmacomm.comm.setup.FrameType;
import io.rdmacomm.tests.comm.FramedSocket.Frame;
import io.rdmacomm.tests.fixture.Certificates;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.PrivateMemory;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Sessions that are set up in TLS: the right peers connect, others fail on both sides with what to do, and nothing is
/// made for them.
@ExtendWith(LeakCheck.class)
final class TlsSessionTest {
    private static final Certificates FILES = Certificates.ofThisRun();
    private static final Tls HERE = Tls.read(FILES.here(), FILES.authority(), FILES.password());
    private static final Tls STRANGER = Tls.read(FILES.stranger(), FILES.authority(), FILES.password());
    private static final Tls ELSEWHERE = Tls.read(FILES.elsewhere(), FILES.authority(), FILES.password());
    private static final Tls TRUSTS_OTHERS = Tls.read(FILES.here(), FILES.otherAuthority(), FILES.password());
    private static final Secret SECRET = Secret.of("b0344c61d8db38535ca8afceaf0bf12b".getBytes(UTF_8));
    private static final SessionOptions PLAIN = SessionOptions.defaults()
            .withAddress("127.0.0.1", 0)
            .withDeadlines(Deadlines.defaults().withHandshake(Duration.ofSeconds(30)));
    private static final SessionOptions GUARDED = PLAIN.withTls(HERE);
    private static final SessionOptions IMPATIENT =
            GUARDED.withDeadlines(Deadlines.defaults().withHandshake(Duration.ofMillis(300)));

    private final LinkedBlockingQueue<RdmaException> refused = new LinkedBlockingQueue<>();
    private final SessionListener listener = new SessionListener() {
        @Override
        public void onRefused(String peer, RdmaException failure) {
            refused.add(failure);
        }
    };

    private static TrustManager[] trusted(Path authority) throws GeneralSecurityException {
        TrustManagerFactory trusted = TrustManagerFactory.getInstance("PKIX");
        trusted.init(FILES.load(authority));
        return trusted.getTrustManagers();
    }

    /// A context that trusts the authority and has no certificate.
    private static SSLContext withoutCertificate() {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trusted(FILES.authority()), null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /// A context as [Tls#read] makes it.
    private static SSLContext context() {
        try {
            KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
            keys.init(FILES.load(FILES.here()), FILES.passwordText());
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys.getKeyManagers(), trusted(FILES.authority()), null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void exchange(ConnectedPair pair) {
        var remote = pair.target(pair.server.allocate("target", 64));
        pair.clientChannel()
                .blocking(TIMEOUT)
                .write(pair.client.allocate("source", 64).block(0), remote, 0);
    }

    @ParameterizedTest
    @EnumSource(Setup.class)
    void sidesThatTrustEachOtherConnectInEveryWay(Setup how) {
        try (ConnectedPair pair = ConnectedPair.of(GUARDED.withSetup(how))) {
            exchange(pair);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void bothVersionsWorkTogetherWithASecret(String version) {
        SSLParameters parameters = new SSLParameters();
        parameters.setProtocols(new String[] {version});
        parameters.setNeedClientAuth(true);
        Tls tls = Tls.of(context(), parameters);
        try (ConnectedPair pair = ConnectedPair.of(GUARDED.withTls(tls).withSecret(SECRET))) {
            exchange(pair);
        }
    }

    @Test
    void manyChannelsAndALongHelloGoThrough() {
        SessionOptions many = GUARDED.withChannels(200).withMaxChannels(200);
        try (ConnectedPair pair = ConnectedPair.of(many)) {
            assertThat(pair.clientEnd.channels()).hasSize(200);
        }
    }

    private void bothSidesFail(SessionOptions ofServer, SessionOptions ofClient, String atClient, String atServer)
            throws Exception {
        try (ServerSession server = ServerSession.listen(ofServer.withListener(listener))) {
            List<String> before = resources();
            assertThatThrownBy(() -> ClientSession.connect(ofClient.withPort(server.port())))
                    .satisfies(because(Reason.UNPROVED))
                    .hasMessageContaining(atClient)
                    .hasMessageContaining("--tls-")
                    .hasMessageNotContaining("\n");
            assertThat(refused.poll(30, TimeUnit.SECONDS))
                    .satisfies(because(Reason.UNPROVED))
                    .hasMessageContaining(atServer)
                    .hasMessageContaining("--tls-")
                    .hasMessageNotContaining("\n");
            assertThat(server.endPoints()).isEmpty();
            assertThat(resources()).isEqualTo(before);
        }
    }

    /// What this process has made: files of shared memory, and threads of the library.
    private static List<String> resources() {
        List<String> found = new ArrayList<>(PrivateMemory.contents());
        Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("rdmacomm-"))
                .forEach(found::add);
        found.sort(null);
        return found;
    }

    @Test
    void anExchangeOverTlsHasNoSocketForOtherBytes() {
        ExchangeOptions options =
                ExchangeOptions.of("org.example.tls").withTls(HERE).withStep(TIMEOUT);
        try (ExchangeServer server = ExchangeServer.listen(
                        "127.0.0.1", 0, options, exchange -> exchange.send(exchange.receive(TIMEOUT)));
                Exchange exchange = Exchange.connect("127.0.0.1", server.port(), options, TIMEOUT)) {
            exchange.send(ByteBuffer.wrap(new byte[] {7}));

            assertThat(exchange.receive(TIMEOUT)).isEqualTo(ByteBuffer.wrap(new byte[] {7}));
            assertThatThrownBy(exchange::socket).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void aServerOfAnotherAuthorityIsRejected() throws Exception {
        bothSidesFail(
                PLAIN.withTls(STRANGER), GUARDED, "signed by a CA in this side's truststore", "rejects this side's");
    }

    @Test
    void aClientOfAnotherAuthorityIsRejected() throws Exception {
        bothSidesFail(GUARDED, PLAIN.withTls(STRANGER), "rejects this side's", "give the client one");
    }

    /// Servers say which authorities they trust, so honest clients send no certificate of another one.
    @Test
    void aClientThatInsistsOnTheCertificateOfAnotherAuthorityIsRejected() throws Exception {
        SSLContext insisting = SSLContext.getInstance("TLS");
        insisting.init(
                new KeyManager[] {new InsistingKeys(FILES.load(FILES.stranger()), FILES.passwordText())},
                trusted(FILES.authority()),
                null);
        bothSidesFail(
                GUARDED,
                PLAIN.withTls(Tls.of(insisting)),
                "rejects this side's",
                "signed by a CA in this side's truststore");
    }

    @Test
    void aServerThatTrustsAnotherAuthorityRejectsTheClient() throws Exception {
        bothSidesFail(PLAIN.withTls(TRUSTS_OTHERS), GUARDED, "rejects this side's", "give the client one");
    }

    @Test
    void aClientWithoutACertificateIsRejected() throws Exception {
        bothSidesFail(
                GUARDED, PLAIN.withTls(Tls.of(withoutCertificate())), "rejects this side's", "give the client one");
    }

    @Test
    void aServerMayDoWithoutCertificatesOfClients() {
        SSLParameters parameters = new SSLParameters();
        Tls open = Tls.of(context(), parameters);
        try (ConnectedPair pair = new ConnectedPair(PLAIN.withTls(open), PLAIN.withTls(Tls.of(withoutCertificate())))) {
            exchange(pair);
        }
    }

    @Test
    void aServerOfAnotherHostIsRejected() throws Exception {
        bothSidesFail(
                PLAIN.withTls(ELSEWHERE), GUARDED, "connect to a name that is in the server's certificate", "rejects");
    }

    @Test
    void anyHostIsAcceptedIfTheClientWantsThat() {
        try (ConnectedPair pair = new ConnectedPair(PLAIN.withTls(ELSEWHERE), PLAIN.withTls(HERE.withAnyHost()))) {
            exchange(pair);
        }
        SSLParameters parameters = new SSLParameters();
        parameters.setEndpointIdentificationAlgorithm("");
        parameters.setNeedClientAuth(true);
        try (ConnectedPair pair =
                new ConnectedPair(PLAIN.withTls(ELSEWHERE), PLAIN.withTls(Tls.of(context(), parameters)))) {
            exchange(pair);
        }
    }

    @Test
    void versionsWithoutOverlapAreReported() throws Exception {
        SSLParameters old = new SSLParameters();
        old.setProtocols(new String[] {"TLSv1.2"});
        SSLParameters current = new SSLParameters();
        current.setProtocols(new String[] {"TLSv1.3"});
        try (ServerSession server =
                ServerSession.listen(PLAIN.withTls(Tls.of(context(), current)).withListener(listener))) {
            assertThatThrownBy(() -> ClientSession.connect(
                            PLAIN.withTls(Tls.of(context(), old)).withPort(server.port())))
                    .satisfies(because(Reason.UNPROVED))
                    .hasMessageContaining("common version");
            assertThat(refused.poll(30, TimeUnit.SECONDS)).satisfies(because(Reason.UNPROVED));
        }
    }

    @Test
    void aPlainClientIsToldToUseTls() throws Exception {
        bothSidesFail(GUARDED, PLAIN, "the server demands TLS", "the server demands TLS");
    }

    @Test
    void aPlainClientWithASecretIsToldToUseTls() throws Exception {
        bothSidesFail(GUARDED.withSecret(SECRET), PLAIN.withSecret(SECRET), "demands TLS", "demands TLS");
    }

    @Test
    void aClientIsToldThatTheServerHasNoTls() throws Exception {
        bothSidesFail(PLAIN, GUARDED, "uses TLS and the server does not", "uses TLS and the server does not");
    }

    @Test
    void theSecretIsStillNeeded() throws Exception {
        try (ServerSession server = ServerSession.listen(GUARDED.withSecret(SECRET))) {
            assertThatThrownBy(() -> ClientSession.connect(GUARDED.withPort(server.port())))
                    .satisfies(because(Reason.UNPROVED))
                    .hasMessageContaining("the server demands a secret");
        }
    }

    @Test
    void aClientThatReconnectsDoesTheHandshakeAgain() {
        try (ConnectedPair pair = new ConnectedPair(GUARDED, GUARDED.withReconnect(Reconnect.defaults()))) {
            pair.reconnect();
        }
    }

    @Test
    void aServerThatGoesAwayIsNoticed() throws IOException {
        try (ServerSocket far = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> closing = CompletableFuture.runAsync(() -> {
                try (Socket client = far.accept()) {
                    client.getInputStream().readNBytes(100);
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            assertThatThrownBy(() -> ClientSession.connect(GUARDED.withPort(far.getLocalPort())))
                    .satisfies(peer(PeerFailedException.Reason.GONE));
            closing.join();
        }
    }

    /// A client says nothing but its ClientHello.
    @Test
    void aSilentServerLearnsNothing() throws IOException {
        try (ServerSocket far = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThatThrownBy(() -> ClientSession.connect(IMPATIENT.withPort(far.getLocalPort())))
                    .isInstanceOf(DeadlineException.class)
                    .hasMessageContaining("TLS handshake");
            try (Socket client = far.accept()) {
                byte[] said = client.getInputStream().readAllBytes();
                assertThat(said[0]).as("handshake record").isEqualTo((byte) 22);
                assertThat(((said[3] & 0xff) << 8) | (said[4] & 0xff)).isEqualTo(said.length - 5);
            }
        }
    }

    @Test
    void garbageIsRefusedAtItsFirstByte() throws Exception {
        try (ServerSession server = ServerSession.listen(GUARDED.withListener(listener));
                Socket stranger = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            stranger.getOutputStream().write('G');

            assertThat(refused.poll(30, TimeUnit.SECONDS))
                    .satisfies(because(Reason.PROTOCOL_VIOLATED))
                    .hasMessageContaining("speaks another protocol");
        }
    }

    /// Records that begin right and go on at random.
    @Test
    void garbageInRecordsIsRefused() throws Exception {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        try (ServerSession server = ServerSession.listen(GUARDED.withListener(listener))) {
            for (int i = 0; i < 50; i++) {
                byte[] record = new byte[5 + random.nextInt(600)];
                random.nextBytes(record);
                record[0] = 22;
                record[1] = 3;
                record[2] = 1;
                record[3] = (byte) ((record.length - 5) >> 8);
                record[4] = (byte) (record.length - 5);
                try (Socket stranger = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
                    stranger.getOutputStream().write(record);
                    stranger.shutdownOutput();
                    assertThat(refused.poll(30, TimeUnit.SECONDS))
                            .satisfiesAnyOf(because(Reason.UNPROVED), peer(PeerFailedException.Reason.GONE));
                }
            }
            try (ClientSession _ = ClientSession.connect(GUARDED.withPort(server.port()))) {
                server.accept(TIMEOUT).close();
            }
        }
    }

    /// The most that a stranger can get is the time of one step.
    @Test
    void handshakesThatStopHalfwayAreDropped() throws Exception {
        byte[] hello = helloOfAClient();
        try (ServerSession server = ServerSession.listen(IMPATIENT.withListener(listener))) {
            List<String> before = resources();
            for (int length : new int[] {0, 1, 4, 5, 6, hello.length - 1, hello.length}) {
                try (Socket stranger = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
                    stranger.getOutputStream().write(hello, 0, length);

                    assertThat(refused.poll(30, TimeUnit.SECONDS))
                            .isInstanceOf(DeadlineException.class)
                            .hasMessageContaining("TLS handshake was not complete within 300 ms");
                }
            }
            assertThat(server.endPoints()).isEmpty();
            assertThat(resources()).isEqualTo(before);
        }
    }

    private static byte[] helloOfAClient() throws IOException {
        try (ServerSocket far = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThatThrownBy(() -> ClientSession.connect(IMPATIENT.withPort(far.getLocalPort())))
                    .isInstanceOf(DeadlineException.class);
            try (Socket client = far.accept()) {
                return client.getInputStream().readAllBytes();
            }
        }
    }

    /// Half-open handshakes are newcomers: the oldest gives way, so that nobody is locked out.
    @Test
    void handshakesThatStopHalfwayLockNobodyOut() throws Exception {
        byte[] hello = helloOfAClient();
        SessionOptions patient = GUARDED.withDeadlines(Deadlines.defaults().withHandshake(Duration.ofMinutes(10)));
        List<Socket> strangers = new ArrayList<>();
        try (ServerSession server = ServerSession.listen(patient)) {
            for (int i = 0; i < 300; i++) {
                Socket stranger = new Socket(InetAddress.getLoopbackAddress(), server.port());
                strangers.add(stranger);
                stranger.getOutputStream().write(hello);
            }
            Socket first = strangers.getFirst();
            first.setSoTimeout((int) TIMEOUT.toMillis());
            assertThat(endOf(first)).as("the first one is closed").isTrue();
            try (ClientSession _ = ClientSession.connect(patient.withPort(server.port()))) {
                server.accept(TIMEOUT).close();
            }
        } finally {
            for (Socket stranger : strangers) {
                stranger.close();
            }
        }
    }

    private static boolean endOf(Socket socket) {
        try {
            socket.getInputStream().readAllBytes();
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    /// A client that has completed the handshake and is silent then costs its connection, and that for one step.
    @Test
    void aClientThatIsSilentAfterTheHandshakeIsDropped() throws Exception {
        try (ServerSession server = ServerSession.listen(
                        GUARDED.withDeadlines(Deadlines.defaults().withHandshake(Duration.ofSeconds(2)))
                                .withListener(listener));
                SSLSocket stranger = (SSLSocket)
                        context().getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), server.port())) {
            List<String> before = resources();
            stranger.startHandshake();
            FramedSocket frames = new FramedSocket(stranger);
            Frame secure = frames.next();
            assertThat(secure.is(FrameType.SECURE)).isTrue();
            assertThat(resources()).isEqualTo(before);

            assertThat(refused.poll(30, TimeUnit.SECONDS))
                    .isInstanceOf(DeadlineException.class)
                    .hasMessageContaining("no complete frame");
            assertThat(frames.next().is(FrameType.REFUSE)).isTrue();
        }
    }

    /// The handshake is over; nobody needs another one.
    @Test
    void aClientThatNegotiatesAgainIsRefused() throws Exception {
        SSLParameters old = new SSLParameters();
        old.setProtocols(new String[] {"TLSv1.2"});
        try (ServerSession server = ServerSession.listen(
                        PLAIN.withTls(Tls.of(context(), old)).withListener(listener));
                SSLSocket stranger = (SSLSocket)
                        context().getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), server.port())) {
            stranger.setSoTimeout((int) TIMEOUT.toMillis());
            InputStream in = stranger.getInputStream();
            OutputStream out = stranger.getOutputStream();
            out.write(FramedSocket.frame(FrameType.HELLO, ByteBuffer.allocate(100)), 0, 5);
            assertThat(in.read()).isEqualTo('R');
            stranger.startHandshake();
            var _ = CompletableFuture.runAsync(() -> {
                try {
                    in.readAllBytes();
                } catch (IOException e) {
                    // The server ends the connection.
                }
            });

            assertThat(refused.poll(30, TimeUnit.SECONDS))
                    .isInstanceOf(RdmaException.class)
                    .hasMessageContaining("negotiate TLS again");
        }
    }
}
