package io.rdmacomm.comm.setup;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.Secret;
import io.rdmacomm.comm.setup.SetupException.Reason;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.assertj.core.api.Condition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The exchange of proofs, between two sides and against attackers.
final class ProofTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    /// The greetings, which have their own tests.
    private static final Transcript SAID =
            new Transcript(ByteBuffer.wrap(new byte[] {1, 2, 3}), ByteBuffer.wrap(new byte[] {4, 5}));
    private static final Proof NONE = new Proof(null, FrameType.HELLO);
    private static final Proof RIGHT = proof("the secret of all", FrameType.HELLO);
    private static final Proof WRONG = proof("another, of others", FrameType.HELLO);

    private final TcpListener listener = TcpListener.listen("127.0.0.1", 0);
    private final AtomicBoolean proved = new AtomicBoolean();
    private TcpConnector server;

    private static Proof proof(String secret, FrameType next) {
        return new Proof(Secret.of(secret.getBytes(UTF_8))::authenticate, next);
    }

    @AfterEach
    void close() {
        if (server != null) {
            server.close();
        }
        listener.close();
    }

    private static <T> CompletableFuture<T> start(Supplier<T> side) {
        return CompletableFuture.supplyAsync(side, task -> Thread.ofVirtual().start(task));
    }

    private CompletableFuture<ByteBuffer> serve(Proof proof) {
        return start(() -> {
            try {
                server = listener.accept();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
            return proof.asServer(server, SAID, TIMEOUT, () -> proved.set(true));
        });
    }

    private TcpConnector connect() {
        return TcpConnector.connect("127.0.0.1", listener.port(), TIMEOUT);
    }

    private static Condition<Throwable> reason(Reason reason) {
        return new Condition<>(
                thrown -> thrown instanceof SetupException failure && failure.reason() == reason, "%s", reason);
    }

    private static Throwable failure(CompletableFuture<?> side) {
        try {
            return new AssertionError(
                    "it did not fail: " + side.orTimeout(30, TimeUnit.SECONDS).join());
        } catch (CompletionException e) {
            return e.getCause();
        }
    }

    @Test
    void twoSidesWithTheSameSecretGoOn() {
        CompletableFuture<ByteBuffer> serving = serve(RIGHT);
        try (TcpConnector client = connect()) {
            RIGHT.asClient(client, SAID, TIMEOUT);
            client.send(FrameType.HELLO, ByteBuffer.wrap(new byte[] {5, 6}));

            assertThat(serving.join()).isEqualTo(ByteBuffer.wrap(new byte[] {5, 6}));
            assertThat(proved).isTrue();
        }
    }

    @Test
    void withoutASecretNothingIsAdded() {
        CompletableFuture<ByteBuffer> serving = serve(NONE);
        try (TcpConnector client = connect()) {
            NONE.asClient(client, SAID, TIMEOUT);
            client.send(FrameType.HELLO, ByteBuffer.wrap(new byte[] {5, 6}));

            assertThat(serving.join()).isEqualTo(ByteBuffer.wrap(new byte[] {5, 6}));
        }
    }

    private void bothFail(Proof ofServer, Proof ofClient, String words) {
        CompletableFuture<ByteBuffer> serving = serve(ofServer);
        try (TcpConnector client = connect()) {
            assertThatThrownBy(() -> {
                        ofClient.asClient(client, SAID, TIMEOUT);
                        client.send(FrameType.HELLO, ByteBuffer.allocate(4));
                        client.receive(FrameType.WELCOME, TIMEOUT);
                    })
                    .is(reason(Reason.UNPROVED))
                    .hasMessageContaining(words)
                    .hasMessageContaining("--secret-file");
            assertThat(failure(serving)).is(reason(Reason.UNPROVED)).hasMessageContaining(words);
            assertThat(proved).isFalse();
        }
    }

    @Test
    void anotherSecretIsRefusedOnBothSides() {
        bothFail(RIGHT, WRONG, "is not that of the server");
    }

    @Test
    void aClientWithoutASecretIsToldThatItNeedsOne() {
        bothFail(RIGHT, NONE, "the server demands a secret");
    }

    @Test
    void aClientWithASecretIsToldThatTheServerHasNone() {
        bothFail(NONE, RIGHT, "the server has none");
    }

    @Test
    void aProofForAnExchangeOpensNoSession() {
        bothFail(RIGHT, proof("the secret of all", FrameType.MESSAGE), "is not that of the server");
    }

    /// An attacker with a socket.
    private final class Attacker implements AutoCloseable {
        private final Socket socket;

        Attacker(Socket socket) throws IOException {
            this.socket = socket;
            socket.setSoTimeout((int) TIMEOUT.toMillis());
        }

        Attacker() throws IOException {
            this(new Socket(InetAddress.getLoopbackAddress(), listener.port()));
        }

        void send(FrameType type, byte[] payload) throws IOException {
            send(type, payload, payload.length);
        }

        void send(FrameType type, byte[] payload, int announced) throws IOException {
            socket.getOutputStream()
                    .write(ByteBuffer.allocate(12 + payload.length)
                            .put("RDMC".getBytes(UTF_8))
                            .putShort((short) 0)
                            .putShort((short) type.code())
                            .putInt(announced)
                            .put(payload)
                            .array());
        }

        byte[] receive(FrameType type) throws IOException {
            DataInputStream in = new DataInputStream(socket.getInputStream());
            in.skipNBytes(6);
            assertThat(in.readUnsignedShort()).isEqualTo(type.code());
            return in.readNBytes(in.readInt());
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    @Test
    void aRecordedProofIsWorthNothing() throws IOException {
        byte[] nonce = new byte[32];
        CompletableFuture<byte[]> recorded = start(() -> {
            try (Attacker posing = new Attacker(new Socket(InetAddress.getLoopbackAddress(), listener.port()))) {
                posing.send(FrameType.PROVE, nonce);
                byte[] first = posing.receive(FrameType.PROVE);
                // The frame that a client with the secret would send to this server now.
                posing.send(FrameType.PROOF, code(first, nonce));
                posing.receive(FrameType.PROOF);
                return code(first, nonce);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        CompletableFuture<ByteBuffer> once = serve(RIGHT);
        byte[] proof = recorded.join();
        assertThat(failure(once)).is(reason(Reason.PEER_CLOSED));
        assertThat(proved).isTrue();
        server.close();
        proved.set(false);

        CompletableFuture<ByteBuffer> again = serve(RIGHT);
        try (Attacker attacker = new Attacker()) {
            attacker.send(FrameType.PROVE, nonce);
            attacker.receive(FrameType.PROVE);
            attacker.send(FrameType.PROOF, proof);

            attacker.receive(FrameType.UNPROVED);
            assertThat(failure(again)).is(reason(Reason.UNPROVED));
            assertThat(proved).isFalse();
        }
    }

    /// The frame of the client with the secret; written here once more, as it is on the wire.
    private static byte[] code(byte[] ofServer, byte[] ofClient) {
        ByteBuffer message = ByteBuffer.allocate(14 + 2 + 1 + 4 + 3 + 4 + 2 + 4 + ofClient.length + 4 + ofServer.length)
                .put("rdmacomm proof".getBytes(UTF_8))
                .putShort((short) 1)
                .put((byte) 1)
                .putInt(3)
                .put(new byte[] {1, 2, 3})
                .putInt(2)
                .put(new byte[] {4, 5})
                .putInt(ofClient.length)
                .put(ofClient)
                .putInt(ofServer.length)
                .put(ofServer);
        return Secret.of("the secret of all".getBytes(UTF_8)).authenticate(message.array());
    }

    /// A server that sends a client's nonce and code back to it.
    @Test
    void aProofSentBackIsNone() throws IOException {
        try (TcpListener posing = TcpListener.listen("127.0.0.1", 0)) {
            CompletableFuture<Void> mirror = start(() -> {
                try (TcpConnector client = posing.accept()) {
                    client.send(FrameType.PROVE, client.receive(FrameType.PROVE, TIMEOUT));
                    client.send(FrameType.PROOF, client.receive(FrameType.PROOF, TIMEOUT));
                    client.receive(FrameType.HELLO, TIMEOUT);
                    return null;
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            try (TcpConnector client = TcpConnector.connect("127.0.0.1", posing.port(), TIMEOUT)) {
                assertThatThrownBy(() -> RIGHT.asClient(client, SAID, TIMEOUT))
                        .is(reason(Reason.UNPROVED))
                        .hasMessageContaining("does not have the secret of this side");
            }
            assertThat(failure(mirror)).isInstanceOf(SetupException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 31})
    void noncesThatAreTooShortAreRefused(int length) throws IOException {
        CompletableFuture<ByteBuffer> serving = serve(RIGHT);
        try (Attacker attacker = new Attacker()) {
            attacker.send(FrameType.PROVE, new byte[length]);

            assertThat(failure(serving)).is(reason(Reason.PROTOCOL_VIOLATED)).hasMessageContaining(length + " bytes");
        }
    }

    /// Of a later version: it says more, and the code covers all of it.
    @ParameterizedTest
    @ValueSource(ints = {33, 16_384})
    void aNonceMayHaveMoreBehindIt(int length) throws IOException {
        byte[] nonce = new byte[length];
        CompletableFuture<ByteBuffer> serving = serve(RIGHT);
        try (Attacker newer = new Attacker()) {
            newer.send(FrameType.PROVE, nonce);
            byte[] code = code(newer.receive(FrameType.PROVE), nonce);
            newer.send(FrameType.PROOF, Arrays.copyOf(code, code.length + 8));
            newer.receive(FrameType.PROOF);
            newer.send(FrameType.HELLO, new byte[] {7});

            assertThat(serving.join()).isEqualTo(ByteBuffer.wrap(new byte[] {7}));
            assertThat(proved).isTrue();
        }
    }

    @Test
    void whatIsBehindANonceCannotBeChangedOnTheWay() throws IOException {
        CompletableFuture<ByteBuffer> serving = serve(RIGHT);
        try (Attacker between = new Attacker()) {
            between.send(FrameType.PROVE, new byte[32]);
            byte[] code = code(between.receive(FrameType.PROVE), new byte[33]);
            between.send(FrameType.PROOF, code);

            between.receive(FrameType.UNPROVED);
            assertThat(failure(serving)).is(reason(Reason.UNPROVED));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 31})
    void proofsThatAreTooShortAreRefused(int length) throws IOException {
        CompletableFuture<ByteBuffer> serving = serve(RIGHT);
        try (Attacker attacker = new Attacker()) {
            attacker.send(FrameType.PROVE, new byte[32]);
            attacker.receive(FrameType.PROVE);
            attacker.send(FrameType.PROOF, new byte[length]);

            assertThat(failure(serving)).is(reason(Reason.PROTOCOL_VIOLATED)).hasMessageContaining(length + " bytes");
            assertThat(proved).isFalse();
        }
    }

    @Test
    void aFrameThatIsCutOffIsRefused() throws IOException {
        CompletableFuture<ByteBuffer> serving = serve(RIGHT);
        try (Attacker attacker = new Attacker()) {
            attacker.send(FrameType.PROVE, new byte[10], 32);
        }
        assertThat(failure(serving)).is(reason(Reason.PEER_CLOSED));
    }

    @Test
    void aFrameInTheWrongPlaceIsRefused() throws IOException {
        CompletableFuture<ByteBuffer> serving = serve(RIGHT);
        try (Attacker attacker = new Attacker()) {
            attacker.send(FrameType.PROOF, new byte[32]);

            assertThat(failure(serving)).is(reason(Reason.PROTOCOL_VIOLATED));
        }
    }

    @Test
    void noncesAreNotRepeated() throws IOException {
        byte[][] nonces = new byte[2][];
        for (int i = 0; i < 2; i++) {
            CompletableFuture<ByteBuffer> serving = serve(RIGHT);
            try (Attacker attacker = new Attacker()) {
                attacker.send(FrameType.PROVE, new byte[32]);
                nonces[i] = attacker.receive(FrameType.PROVE);
            }
            assertThat(failure(serving)).isInstanceOf(SetupException.class);
            server.close();
        }
        assertThat(Arrays.equals(nonces[0], nonces[1])).isFalse();
    }
}
