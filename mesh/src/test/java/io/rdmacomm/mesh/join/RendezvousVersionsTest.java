package io.rdmacomm.mesh.join;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.SetupFailedException;
import io.rdmacomm.comm.exchange.ExchangeOptions;
import io.rdmacomm.mesh.launch.MeetingPoint;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Nodes and a rendezvous of different versions, byte by byte. No device takes part.
final class RendezvousVersionsTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final String PROTOCOL = "io.rdmacomm.mesh";
    /// The name of the protocol, at the end of a greeting.
    private static final String NAME = "0010" + HexFormat.of().formatHex(PROTOCOL.getBytes(UTF_8));
    /// Versions 2 to 4 of a mesh, with the features 1 and 4.
    private static final String OURS = "0004" + "0002" + "0004" + "0000" + "0000000000000005" + NAME;
    /// Rank 1 of 2, session port 1001, 2 channels, 20 s, job "job".
    private static final String REGISTER = "01" + "00000002" + "00000001" + "03e9" + "0002" + "00004e20" + "0003"
            + HexFormat.of().formatHex("job".getBytes(UTF_8));

    /// A field that is not used yet, and no features.
    private static final String ZEROS = "0000" + "0000000000000000";

    private final List<AutoCloseable> open = new CopyOnWriteArrayList<>();
    private int port;

    @BeforeEach
    void choosePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
    }

    /// The versions and the features of a node.
    private record Speaks(int lowest, int highest, long features) {
        ExchangeOptions options() {
            return ExchangeOptions.of(PROTOCOL)
                    .withVersions(lowest, highest)
                    .withFeatures(features)
                    .withStep(TIMEOUT);
        }
    }

    private void listen(int size) {
        open.add(RendezvousServer.listen("localhost", port, node(0, size), new Speaks(2, 4, 5).options()));
    }

    private static NodeRegistration node(int rank, int size) {
        return new NodeRegistration(size, rank, 1000 + rank, 2, TIMEOUT, "job");
    }

    private CompletableFuture<NodeTable> register(int rank, int size, Speaks speaks) {
        return CompletableFuture.supplyAsync(
                () -> {
                    RendezvousClient visit = RendezvousClient.reach(
                            MeetingPoint.of(rank, size, "localhost", port),
                            speaks.options(),
                            System.nanoTime() + TIMEOUT.toNanos());
                    open.add(visit);
                    return visit.register(node(rank, size), speaks.lowest());
                },
                task -> Thread.ofVirtual().start(task));
    }

    private static <T> T get(CompletableFuture<T> future) {
        return future.orTimeout(TIMEOUT.toSeconds(), TimeUnit.SECONDS).join();
    }

    /// A side that another release has written.
    private static final class Wire implements AutoCloseable {
        private static final int GREETING = 12;
        private static final int MESSAGE = 14;
        private final Socket socket;

        Wire(Socket socket) throws IOException {
            this.socket = socket;
            socket.setSoTimeout((int) TIMEOUT.toMillis());
        }

        void greet(String digits) throws IOException {
            send(GREETING, digits);
        }

        void send(String digits) throws IOException {
            send(MESSAGE, digits);
        }

        private void send(int type, String digits) throws IOException {
            byte[] payload = HexFormat.of().parseHex(digits);
            ByteBuffer frame = ByteBuffer.allocate(12 + payload.length).put("RDMC".getBytes(UTF_8));
            frame.putShort((short) 0).putShort((short) type).putInt(payload.length);
            socket.getOutputStream().write(frame.put(payload).array());
        }

        String receiveGreeting() throws IOException {
            return receive(GREETING);
        }

        String receive() throws IOException {
            return receive(MESSAGE);
        }

        private String receive(int type) throws IOException {
            DataInputStream in = new DataInputStream(socket.getInputStream());
            in.skipNBytes(6);
            assertThat(in.readUnsignedShort()).isEqualTo(type);
            return HexFormat.of().formatHex(in.readNBytes(in.readInt()));
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    private Wire node() throws IOException {
        Wire wire = new Wire(new Socket(InetAddress.getLoopbackAddress(), port));
        open.add(wire);
        return wire;
    }

    @ParameterizedTest
    @CsvSource({
        "older, 0004 0001 0003, 0000000000000001, '', '', 0003, 0000000000000001",
        "newer, 0004 0003 0009, ffffffffffffffff, cafe, 0011223344556677, 0004, 0000000000000005",
    })
    void aNodeOfAnotherReleaseMeetsTheOthers(
            String age, String versions, String features, String more, String behind, String version, String common)
            throws IOException {
        listen(2);
        CompletableFuture<NodeTable> zero = register(0, 2, new Speaks(2, 4, 5));
        Wire node = node();
        node.greet(versions.replace(" ", "") + "0000" + features + NAME + more);
        assertThat(node.receiveGreeting()).as(age).isEqualTo(OURS);
        node.send(REGISTER + behind);

        String table = node.receive();
        assertThat(table).startsWith("02");
        assertThat(table.substring(34))
                .isEqualTo("00000002" + version + "0000" + common + entry("03e8") + entry("03e9"));
        assertThat(get(zero).version()).isEqualTo(Integer.parseInt(version, 16));
        assertThat(get(zero).features()).isEqualTo(HexFormat.fromHexDigitsToLong(common));
        assertThat(get(zero).nodes()).extracting(NodeTable.Entry::port).containsExactly(1000, 1001);
    }

    /// On the host of the rendezvous.
    private static String entry(String sessionPort) {
        return "03" + sessionPort + "00";
    }

    @Test
    void allUseWhatAllHaveInCommon() {
        listen(3);
        List<CompletableFuture<NodeTable>> tables = List.of(
                register(0, 3, new Speaks(2, 4, 0b111)),
                register(1, 3, new Speaks(1, 3, 0b110)),
                register(2, 3, new Speaks(2, 9, 0b1101)));

        assertThat(tables).allSatisfy(table -> assertHas(get(table), 3, 0b100));
    }

    private static void assertHas(NodeTable table, int version, long features) {
        assertThat(table.version()).isEqualTo(version);
        assertThat(table.features()).isEqualTo(features);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1 | 1 | speaks versions 2 to 4 of the io.rdmacomm.mesh protocol, this side version 1; update the program on this side",
                "5 | 6 | speaks versions 2 to 4 of the io.rdmacomm.mesh protocol, this side versions 5 to 6; update the program on",
            })
    void aNodeWithoutACommonVersionSaysWhichSideToUpdate(int lowest, int highest, String words) {
        listen(2);
        CompletableFuture<NodeTable> stranger = register(1, 2, new Speaks(lowest, highest, 0));

        assertThatThrownBy(() -> get(stranger))
                .hasCauseInstanceOf(SetupFailedException.class)
                .hasMessageContaining(words);
        assertThatTwoMeet();
    }

    private void assertThatTwoMeet() {
        List<CompletableFuture<NodeTable>> tables =
                List.of(register(0, 2, new Speaks(2, 4, 5)), register(1, 2, new Speaks(2, 2, 0)));
        assertThat(tables).allSatisfy(table -> assertHas(get(table), 2, 0));
    }

    /// Each of the two can talk to the rendezvous, but not to the other: the newer one notices it in the table.
    @Test
    void aNodeWithoutACommonVersionWithAnotherNodeRejectsTheTable() {
        listen(3);
        CompletableFuture<NodeTable> zero = register(0, 3, new Speaks(2, 4, 5));
        CompletableFuture<NodeTable> old = register(1, 3, new Speaks(1, 2, 0));
        CompletableFuture<NodeTable> recent = register(2, 3, new Speaks(3, 4, 0));

        assertThatThrownBy(() -> get(recent))
                .cause()
                .isInstanceOfSatisfying(
                        SetupFailedException.class,
                        failure -> assertThat(failure.reason()).isEqualTo(SetupFailedException.Reason.OTHER_VERSION))
                .hasMessageContaining("another node speaks version 2 of the mesh protocol at most, this one 3 at least;"
                        + " update rdmacomm on the other node");
        assertThat(List.of(zero, old)).allSatisfy(table -> assertHas(get(table), 2, 0));
    }

    /// A table of a version that the node no longer speaks, from a rendezvous that has agreed on a higher one.
    @Test
    void aTableOfALowerVersionThanTheNodesLowestIsRejected() throws IOException {
        try (ServerSocket posing = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<NodeTable> joining = register(0, 1, new Speaks(2, 4, 5));
            Wire rendezvous = new Wire(posing.accept());
            open.add(rendezvous);
            assertThat(rendezvous.receiveGreeting()).isEqualTo(OURS);
            rendezvous.greet(OURS);
            assertThat(rendezvous.receive()).startsWith("01");
            rendezvous.send("02" + token() + "00000001" + "0001" + ZEROS + "03" + "03e8" + "00");

            assertThatThrownBy(() -> get(joining))
                    .hasCauseInstanceOf(SetupFailedException.class)
                    .hasMessageContaining("another node speaks version 1");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "01", "03", "ff"})
    void anotherMessageThanTheTableIsRejected(String type) throws IOException {
        try (ServerSocket posing = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<NodeTable> joining = register(0, 1, new Speaks(2, 4, 5));
            Wire rendezvous = new Wire(posing.accept());
            open.add(rendezvous);
            assertThat(rendezvous.receiveGreeting()).isEqualTo(OURS);
            rendezvous.greet(OURS);
            assertThat(rendezvous.receive()).startsWith("01");
            rendezvous.send(type);

            assertThatThrownBy(() -> get(joining))
                    .cause()
                    .isInstanceOfSatisfying(
                            SetupFailedException.class,
                            failure -> assertThat(failure.reason())
                                    .isEqualTo(SetupFailedException.Reason.PROTOCOL_VIOLATED))
                    .hasMessageContaining("another message than TABLE");
        }
    }

    /// A rendezvous of a later release: more features, longer frames, longer entries.
    @Test
    void aNodeUnderstandsANewerRendezvous() throws IOException {
        try (ServerSocket posing = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<NodeTable> joining = register(1, 2, new Speaks(2, 4, 5));
            Wire rendezvous = new Wire(posing.accept());
            open.add(rendezvous);
            assertThat(rendezvous.receiveGreeting()).isEqualTo(OURS);
            rendezvous.greet("0004" + "0004" + "0009" + "1234" + "ff00000000000004" + NAME + "beef");
            assertThat(rendezvous.receive()).isEqualTo(REGISTER);
            rendezvous.send("02" + token() + "00000002" + "0004" + "4711" + "ff00000000000004" + "06" + "03e8" + "00"
                    + "aabbcc" + "09" + "03e9" + "04" + "0a000001" + "ddee" + "0123456789");

            assertHas(get(joining), 4, 4);
            assertThat(get(joining).nodes())
                    .containsExactly(
                            new NodeTable.Entry(null, 1000),
                            new NodeTable.Entry(InetAddress.ofLiteral("10.0.0.1"), 1001));
        }
    }

    private static String token() {
        return "00112233445566778899aabbccddeeff";
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                // A version that the node does not speak.
                "00000001" + "0005" + ZEROS + "03" + "03e8" + "00",
                "00000001" + "0000" + ZEROS + "03" + "03e8" + "00",
                // Entries that are too short, or longer than what is there.
                "00000001" + "0002" + ZEROS + "00" + "03e8" + "00",
                "00000001" + "0002" + ZEROS + "02" + "03e8" + "00",
                "00000001" + "0002" + ZEROS + "04" + "03e8" + "00",
                "00000001" + "0002" + ZEROS + "ff" + "03e8" + "00",
                "00000001" + "0002" + ZEROS + "06" + "03e8" + "04" + "0a000001",
                // Addresses and ports that are none.
                "00000001" + "0002" + ZEROS + "08" + "03e8" + "05" + "0a00000102",
                "00000001" + "0002" + ZEROS + "07" + "03e8" + "ff" + "0a000001",
                "00000001" + "0002" + ZEROS + "03" + "0000" + "00",
                // Another size.
                "00000002" + "0002" + ZEROS + "03" + "03e8" + "00",
                "7fffffff" + "0002" + ZEROS + "03" + "03e8" + "00",
                "ffffffff" + "0002" + ZEROS + "03" + "03e8" + "00",
            })
    void aHostileTableIsRejected(String table) {
        ByteBuffer wire = ByteBuffer.wrap(HexFormat.of().parseHex("02" + token() + table));

        assertThatThrownBy(() -> NodeTable.decode(wire, 1, 4, 5)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void thePortOfASessionIsNoRendezvous() throws IOException {
        try (ServerSocket posing = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<NodeTable> joining = register(1, 2, new Speaks(2, 4, 5));
            Wire session = new Wire(posing.accept());
            open.add(session);
            session.greet("0001" + "0002" + "0004" + "0000" + "0000000000000005");

            assertThatThrownBy(() -> get(joining))
                    .hasCauseInstanceOf(SetupFailedException.class)
                    .hasMessageContaining("speaks the session protocol, this side the io.rdmacomm.mesh protocol");
        }
    }
}
