package io.rdmacomm.comm.setup;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.Secret;
import io.rdmacomm.comm.setup.SetupException.Reason;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.assertj.core.api.Condition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The first frames between sides of different versions, byte by byte, and somebody in between who changes them.
final class HandshakePreambleTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final String ZERO = "0000";
    private static final String FEATURES_5 = "0000000000000005";
    private static final String FEATURES_ALL = "ffffffffffffffff";
    /// Versions 2 to 4 of a session, with the features 1 and 4.
    private static final String OURS = "0001" + "0002" + "0004" + ZERO + FEATURES_5;

    private static final HandshakePreamble OPEN = preamble(2, 4, null);
    private static final HandshakePreamble GUARDED =
            preamble(2, 4, Secret.of("the secret of all".getBytes(UTF_8))::authenticate);

    private final TcpListener listener = TcpListener.listen("127.0.0.1", 0);
    private TcpConnector server;

    private static HandshakePreamble preamble(int lowest, int highest, UnaryOperator<byte[]> codes) {
        return new HandshakePreamble(
                null, new Greeting(Protocol.SESSION, lowest, highest, 5), new Proof(codes, FrameType.HELLO));
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

    private CompletableFuture<HandshakePreamble.AcceptedClient> serve(HandshakePreamble preamble) {
        return start(() -> {
            try {
                server = listener.accept();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
            return preamble.asServer(server, TIMEOUT, () -> {});
        });
    }

    private static <T> T get(CompletableFuture<T> side) {
        return side.orTimeout(TIMEOUT.toSeconds(), TimeUnit.SECONDS).join();
    }

    private static Throwable failure(CompletableFuture<?> side) {
        try {
            return new AssertionError("it did not fail: " + get(side));
        } catch (CompletionException e) {
            return e.getCause();
        }
    }

    private static Condition<Throwable> reason(Reason reason) {
        return new Condition<>(
                thrown -> thrown instanceof SetupException failure && failure.reason() == reason, "%s", reason);
    }

    /// Writes and reads frames as they are on the wire.
    private record Wire(Socket socket) implements AutoCloseable {
        Wire {
            try {
                socket.setSoTimeout((int) TIMEOUT.toMillis());
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }

        static Wire to(int port) throws IOException {
            return new Wire(new Socket(InetAddress.getLoopbackAddress(), port));
        }

        void send(FrameType type, byte[] payload) throws IOException {
            ByteBuffer frame = ByteBuffer.allocate(12 + payload.length).put("RDMC".getBytes(UTF_8));
            frame.putShort((short) 0).putShort((short) type.code()).putInt(payload.length);
            socket.getOutputStream().write(frame.put(payload).array());
        }

        void greet(String digits) throws IOException {
            send(FrameType.GREETING, HexFormat.of().parseHex(digits));
        }

        byte[] receive(FrameType type) throws IOException {
            DataInputStream in = new DataInputStream(socket.getInputStream());
            in.skipNBytes(6);
            assertThat(in.readUnsignedShort()).isEqualTo(type.code());
            return in.readNBytes(in.readInt());
        }

        String receiveGreeting() throws IOException {
            return HexFormat.of().formatHex(receive(FrameType.GREETING));
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    @Test
    void theGreetingIsTheFirstFrameOfBothSides() throws IOException {
        CompletableFuture<HandshakePreamble.AcceptedClient> serving = serve(OPEN);
        try (Wire client = Wire.to(listener.port())) {
            byte[] frame = HexFormat.of().parseHex("52444d43" + ZERO + "000c" + "00000010" + OURS);
            client.socket().getOutputStream().write(frame);

            assertThat(client.socket().getInputStream().readNBytes(frame.length))
                    .isEqualTo(frame);
            client.send(FrameType.HELLO, new byte[] {7});
            assertThat(get(serving))
                    .isEqualTo(new HandshakePreamble.AcceptedClient(
                            new AgreedVersion(4, 5), ByteBuffer.wrap(new byte[] {7})));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "older, 0001 0001 0003, 0000000000000001, '', 3, 1",
        "oldest, 0001 0001 0002, 0000000000000000, '', 2, 0",
        "newer, 0001 0003 0009, ffffffffffffffff, cafe, 4, 5",
        "newest, 0001 0004 ffff, 8000000000000004, 00112233445566778899, 4, 4",
    })
    void aServerUsesWhatItHasInCommonWithAClient(
            String age, String versions, String features, String more, int version, long common) throws IOException {
        CompletableFuture<HandshakePreamble.AcceptedClient> serving = serve(OPEN);
        try (Wire client = Wire.to(listener.port())) {
            client.greet(versions.replace(" ", "") + "4711" + features + more);

            assertThat(client.receiveGreeting()).isEqualTo(OURS);
            client.send(FrameType.HELLO, new byte[0]);
            assertThat(get(serving).agreed()).as(age).isEqualTo(new AgreedVersion(version, common));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "older, 0001 0001 0003, 0000000000000001, '', 3, 1",
        "newer, 0001 0003 0009, ffffffffffffffff, cafe, 4, 5",
    })
    void aClientUsesWhatItHasInCommonWithAServer(
            String age, String versions, String features, String more, int version, long common) throws Exception {
        try (ServerSocket posing = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                TcpConnector client = TcpConnector.connect("127.0.0.1", posing.getLocalPort(), TIMEOUT);
                Wire wire = new Wire(posing.accept())) {
            CompletableFuture<AgreedVersion> connecting = start(() -> OPEN.asClient(client, TIMEOUT));
            assertThat(wire.receiveGreeting()).isEqualTo(OURS);
            assertThat(connecting).as("it waits for the answer").isNotDone();
            wire.greet(versions.replace(" ", "") + "4711" + features + more);

            assertThat(get(connecting)).as(age).isEqualTo(new AgreedVersion(version, common));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "0001 0001 0001, 'speaks version 1 of the session protocol, this side versions 2 to 4', '127.0.0.1:'",
        "0001 0005 0007, 'speaks versions 5 to 7 of the session protocol, this side versions 2 to 4', 'this side'",
    })
    void withoutACommonVersionAServerAnswersAllTheSame(String versions, String words, String toUpdate)
            throws IOException {
        CompletableFuture<HandshakePreamble.AcceptedClient> serving = serve(OPEN);
        try (Wire client = Wire.to(listener.port())) {
            client.greet(versions.replace(" ", "") + ZERO + FEATURES_ALL);

            assertThat(client.receiveGreeting())
                    .as("the client learns both ranges")
                    .isEqualTo(OURS);
            assertThat(failure(serving))
                    .is(reason(Reason.OTHER_VERSION))
                    .hasMessageContaining(words)
                    .hasMessageContaining("update rdmacomm on " + toUpdate);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "1, 1, 'speaks versions 2 to 4 of the session protocol, this side version 1', 'this side'",
        "5, 7, 'speaks versions 2 to 4 of the session protocol, this side versions 5 to 7', '127.0.0.1:'",
    })
    void bothSidesSayWhichOfThemToUpdate(int lowest, int highest, String words, String toUpdate) {
        CompletableFuture<HandshakePreamble.AcceptedClient> serving = serve(OPEN);
        try (TcpConnector client = TcpConnector.connect("127.0.0.1", listener.port(), TIMEOUT)) {
            assertThatThrownBy(() -> preamble(lowest, highest, null).asClient(client, TIMEOUT))
                    .is(reason(Reason.OTHER_VERSION))
                    .hasMessageContaining(words)
                    .hasMessageContaining("update rdmacomm on " + toUpdate);
            assertThat(failure(serving)).is(reason(Reason.OTHER_VERSION));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0001" + "0003" + "0002" + ZERO + FEATURES_5,
                "0001" + "0000" + "0004" + ZERO + FEATURES_5,
                "0001" + "0000" + "0000" + ZERO + FEATURES_5,
                "7777" + "0002" + "0004" + ZERO + FEATURES_5,
                "0002" + "0002" + "0004" + ZERO + FEATURES_5,
                "0001" + "0002" + "0004" + ZERO,
                "",
            })
    void aHostileGreetingIsRefusedByBothSides(String digits) throws Exception {
        CompletableFuture<HandshakePreamble.AcceptedClient> serving = serve(OPEN);
        try (Wire client = Wire.to(listener.port())) {
            client.greet(digits);
            assertThat(failure(serving)).is(reason(Reason.PROTOCOL_VIOLATED));
        }
        try (ServerSocket posing = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                TcpConnector client = TcpConnector.connect("127.0.0.1", posing.getLocalPort(), TIMEOUT);
                Wire wire = new Wire(posing.accept())) {
            wire.greet(digits);
            assertThatThrownBy(() -> OPEN.asClient(client, TIMEOUT)).is(reason(Reason.PROTOCOL_VIOLATED));
        }
    }

    @Test
    void anythingElseInPlaceOfTheGreetingIsRefused() throws IOException {
        CompletableFuture<HandshakePreamble.AcceptedClient> serving = serve(OPEN);
        try (Wire client = Wire.to(listener.port())) {
            client.send(FrameType.HELLO, new byte[100]);

            assertThat(failure(serving))
                    .is(reason(Reason.PROTOCOL_VIOLATED))
                    .hasMessageContaining("HELLO where GREETING was expected");
        }
    }

    /// No more than any other frame.
    @Test
    void aGreetingThatIsTooLongIsRefusedBeforeAnythingIsAllocated() throws IOException {
        CompletableFuture<HandshakePreamble.AcceptedClient> serving = serve(OPEN);
        try (Wire client = Wire.to(listener.port())) {
            client.socket()
                    .getOutputStream()
                    .write(HexFormat.of().parseHex("52444d43" + ZERO + "000c" + "7fffffff" + OURS));

            assertThat(failure(serving)).is(reason(Reason.PROTOCOL_VIOLATED)).hasMessageContaining("2147483647 bytes");
        }
    }

    @Test
    void theLongestFrameMayBeAGreeting() throws IOException {
        CompletableFuture<HandshakePreamble.AcceptedClient> serving = serve(OPEN);
        try (Wire client = Wire.to(listener.port())) {
            client.send(FrameType.GREETING, Arrays.copyOf(HexFormat.of().parseHex(OURS), TcpConnector.MAX_PAYLOAD));
            assertThat(client.receiveGreeting()).isEqualTo(OURS);
            client.send(FrameType.HELLO, new byte[0]);

            assertThat(get(serving).agreed()).isEqualTo(new AgreedVersion(4, 5));
        }
    }

    /// Between a client and a server with the same secret: passes all frames on, and changes greetings.
    private final class Between implements AutoCloseable {
        private final ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());

        Between(UnaryOperator<String> fromClient, UnaryOperator<String> fromServer) throws IOException {
            var _ = start(() -> {
                try (Wire client = new Wire(socket.accept());
                        Wire there = Wire.to(listener.port())) {
                    there.greet(fromClient.apply(client.receiveGreeting()));
                    client.greet(fromServer.apply(there.receiveGreeting()));
                    var _ = start(() -> pass(client.socket(), there.socket()));
                    return pass(there.socket(), client.socket());
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
        }

        private static boolean pass(Socket from, Socket to) {
            try {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                in.transferTo(out);
                to.shutdownOutput();
                return true;
            } catch (IOException e) {
                // One of them has hung up.
                return false;
            }
        }

        TcpConnector connect() {
            return TcpConnector.connect("127.0.0.1", socket.getLocalPort(), TIMEOUT);
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    private void theProofFails(UnaryOperator<String> fromClient, UnaryOperator<String> fromServer) throws IOException {
        CompletableFuture<HandshakePreamble.AcceptedClient> serving = serve(GUARDED);
        try (Between between = new Between(fromClient, fromServer);
                TcpConnector client = between.connect()) {
            assertThatThrownBy(() -> GUARDED.asClient(client, TIMEOUT)).is(reason(Reason.UNPROVED));
            assertThat(failure(serving)).is(reason(Reason.UNPROVED));
        }
    }

    @Test
    void whoChangesNothingInBetweenIsNotNoticed() throws IOException {
        CompletableFuture<HandshakePreamble.AcceptedClient> serving = serve(GUARDED);
        try (Between between = new Between(all -> all, all -> all);
                TcpConnector client = between.connect()) {
            assertThat(GUARDED.asClient(client, TIMEOUT)).isEqualTo(new AgreedVersion(4, 5));
            client.send(FrameType.HELLO, ByteBuffer.allocate(0));
            assertThat(get(serving).agreed()).isEqualTo(new AgreedVersion(4, 5));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0001" + "0002" + "0003" + ZERO + FEATURES_5,
                "0001" + "0003" + "0004" + ZERO + FEATURES_5,
                "0001" + "0002" + "0004" + ZERO + "0000000000000001",
                "0001" + "0002" + "0004" + "0001" + FEATURES_5,
                "0001" + "0002" + "0004" + ZERO + FEATURES_5 + "00",
            })
    void nobodyInBetweenTakesVersionsOrFeaturesAway(String changed) throws IOException {
        theProofFails(_ -> changed, all -> all);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0001" + "0002" + "0003" + ZERO + FEATURES_5,
                "0001" + "0002" + "0004" + ZERO + "0000000000000001",
                "0001" + "0002" + "0004" + ZERO + FEATURES_5 + "00",
            })
    void norFromTheServersGreeting(String changed) throws IOException {
        theProofFails(all -> all, _ -> changed);
    }

    /// Both sides would come to the same result.
    @Test
    void norFromBoth() throws IOException {
        String changed = "0001" + "0002" + "0002" + ZERO + "0000000000000000";
        theProofFails(_ -> changed, _ -> changed);
    }
}
