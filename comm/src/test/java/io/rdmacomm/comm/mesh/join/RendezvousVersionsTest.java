package io.rdmacomm.comm.mesh.join;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.SetupFailedException;
import io.rdmacomm.comm.mesh.launch.MeetingPoint;
import io.rdmacomm.comm.setup.FrameType;
import io.rdmacomm.comm.setup.Greeting;
import io.rdmacomm.comm.setup.Opening;
import io.rdmacomm.comm.setup.Proof;
import io.rdmacomm.comm.setup.Protocol;
import io.rdmacomm.comm.setup.Terms;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Nodes and a rendezvous of different versions, byte by byte. No device takes part.
final class RendezvousVersionsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    /// Versions 2 to 4 of a mesh, with the features 1 and 4.
    private static final String OURS = "0002" + "0002" + "0004" + "0000" + "0000000000000005";
    /// Rank 1 of 2, session port 1001, 2 channels, 20 s, job "job".
    private static final String REGISTER = "00000002" + "00000001" + "03e9" + "0002" + "00004e20" + "0003"
            + HexFormat.of().formatHex("job".getBytes(UTF_8));

    /// A field that is not used yet, and no features.
    private static final String ZEROS = "0000" + "0000000000000000";

    private final List<AutoCloseable> open = new ArrayList<>();
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

    private static Opening speaks(int lowest, int highest, long features) {
        return new Opening(
                null, new Greeting(Protocol.MESH, lowest, highest, features), new Proof(null, FrameType.REGISTER));
    }

    private void listen(int size) {
        open.add(RendezvousServer.listen("localhost", port, node(0, size), speaks(2, 4, 5), PATIENCE));
    }

    private static NodeRegistration node(int rank, int size) {
        return new NodeRegistration(size, rank, 1000 + rank, 2, PATIENCE, "job");
    }

    private CompletableFuture<NodeTable> register(int rank, int size, Opening opening) {
        RendezvousClient visit = RendezvousClient.reach(
                MeetingPoint.of(rank, size, "localhost", port), System.nanoTime() + PATIENCE.toNanos());
        open.add(visit);
        return CompletableFuture.supplyAsync(
                () -> visit.register(node(rank, size), opening),
                task -> Thread.ofVirtual().start(task));
    }

    private static <T> T get(CompletableFuture<T> future) {
        return future.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
    }

    /// A side that another release has written.
    private static final class Wire implements AutoCloseable {
        private final Socket socket;

        Wire(Socket socket) throws IOException {
            this.socket = socket;
            socket.setSoTimeout((int) PATIENCE.toMillis());
        }

        void send(FrameType type, String digits) throws IOException {
            byte[] payload = HexFormat.of().parseHex(digits);
            ByteBuffer frame = ByteBuffer.allocate(12 + payload.length).put("RDMC".getBytes(UTF_8));
            frame.putShort((short) 0).putShort((short) type.code()).putInt(payload.length);
            socket.getOutputStream().write(frame.put(payload).array());
        }

        String receive(FrameType type) throws IOException {
            DataInputStream in = new DataInputStream(socket.getInputStream());
            in.skipNBytes(6);
            assertThat(in.readUnsignedShort()).isEqualTo(type.code());
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
        "older, 0002 0001 0003, 0000000000000001, '', '', 0003, 0000000000000001",
        "newer, 0002 0003 0009, ffffffffffffffff, cafe, 0011223344556677, 0004, 0000000000000005",
    })
    void aNodeOfAnotherReleaseMeetsTheOthers(
            String age, String versions, String features, String more, String behind, String version, String common)
            throws IOException {
        listen(2);
        CompletableFuture<NodeTable> zero = register(0, 2, speaks(2, 4, 5));
        Wire node = node();
        node.send(FrameType.GREETING, versions.replace(" ", "") + "0000" + features + more);
        assertThat(node.receive(FrameType.GREETING)).as(age).isEqualTo(OURS);
        node.send(FrameType.REGISTER, REGISTER + behind);

        String table = node.receive(FrameType.TABLE);
        assertThat(table.substring(32))
                .isEqualTo("00000002" + version + "0000" + common + entry("03e8") + entry("03e9"));
        assertThat(get(zero).terms())
                .isEqualTo(new Terms(Integer.parseInt(version, 16), HexFormat.fromHexDigitsToLong(common)));
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
                register(0, 3, speaks(2, 4, 0b111)),
                register(1, 3, speaks(1, 3, 0b110)),
                register(2, 3, speaks(2, 9, 0b1011)));

        assertThat(tables).allSatisfy(table -> assertThat(get(table).terms()).isEqualTo(new Terms(3, 0b010)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1 | 1 | speaks versions 2 to 4 of the mesh protocol, this side version 1; update rdmacomm on this side",
                "5 | 6 | speaks versions 2 to 4 of the mesh protocol, this side versions 5 to 6; update rdmacomm on",
            })
    void aNodeWithoutACommonVersionSaysWhichSideToUpdate(int lowest, int highest, String words) {
        listen(2);
        CompletableFuture<NodeTable> stranger = register(1, 2, speaks(lowest, highest, 0));

        assertThatThrownBy(() -> get(stranger))
                .hasCauseInstanceOf(SetupFailedException.class)
                .hasMessageContaining(words);
        assertThatTwoMeet();
    }

    private void assertThatTwoMeet() {
        List<CompletableFuture<NodeTable>> tables =
                List.of(register(0, 2, speaks(2, 4, 5)), register(1, 2, speaks(2, 2, 0)));
        assertThat(tables).allSatisfy(table -> assertThat(get(table).terms()).isEqualTo(new Terms(2, 0)));
    }

    /// Each of the two can talk to the rendezvous, but not to the other: who comes second is turned away.
    @Test
    void aNodeWithoutACommonVersionWithAnotherNodeIsTurnedAway() {
        listen(3);
        CompletableFuture<NodeTable> old = register(1, 3, speaks(1, 2, 0));
        CompletableFuture<NodeTable> recent = register(2, 3, speaks(3, 4, 0));

        assertThatThrownBy(() -> get(CompletableFuture.anyOf(old, recent)))
                .hasCauseInstanceOf(SetupFailedException.class)
                .hasMessageContaining(
                        old.isDone()
                                ? "rank 1 speaks versions 1 to 2 of the mesh protocol, the other nodes versions 3 to 4;"
                                        + " update rdmacomm on rank 1"
                                : "rank 2 speaks versions 3 to 4 of the mesh protocol, the other nodes versions 1 to 2;"
                                        + " update rdmacomm on the other nodes");
        int rank = old.isDone() ? 1 : 2;
        int version = old.isDone() ? 3 : 2;
        List<CompletableFuture<NodeTable>> others =
                List.of(register(0, 3, speaks(2, 4, 5)), register(rank, 3, speaks(version, version, 0)));
        assertThat(others).allSatisfy(table -> assertThat(get(table).terms()).isEqualTo(new Terms(version, 0)));
    }

    /// A rendezvous of a later release: more features, longer frames, longer entries.
    @Test
    void aNodeUnderstandsANewerRendezvous() throws IOException {
        try (ServerSocket posing = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<NodeTable> joining = register(1, 2, speaks(2, 4, 5));
            Wire rendezvous = new Wire(posing.accept());
            open.add(rendezvous);
            assertThat(rendezvous.receive(FrameType.GREETING)).isEqualTo(OURS);
            rendezvous.send(FrameType.GREETING, "0002" + "0004" + "0009" + "1234" + "ff00000000000004" + "beef");
            assertThat(rendezvous.receive(FrameType.REGISTER)).isEqualTo(REGISTER);
            rendezvous.send(
                    FrameType.TABLE,
                    token() + "00000002" + "0004" + "4711" + "ff00000000000004" + "06" + "03e8" + "00" + "aabbcc" + "09"
                            + "03e9" + "04" + "0a000001" + "ddee" + "0123456789");

            assertThat(get(joining).terms()).isEqualTo(new Terms(4, 4));
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
                "00000001" + "0001" + ZEROS + "03" + "03e8" + "00",
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
        ByteBuffer wire = ByteBuffer.wrap(HexFormat.of().parseHex(token() + table));
        Greeting own = new Greeting(Protocol.MESH, 2, 4, 5);

        assertThatThrownBy(() -> NodeTable.decode(wire, 1, own)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void thePortOfASessionIsNoRendezvous() throws IOException {
        try (ServerSocket posing = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<NodeTable> joining = register(1, 2, speaks(2, 4, 5));
            Wire session = new Wire(posing.accept());
            open.add(session);
            session.send(FrameType.GREETING, "0001" + "0002" + "0004" + "0000" + "0000000000000005");

            assertThatThrownBy(() -> get(joining))
                    .hasCauseInstanceOf(SetupFailedException.class)
                    .hasMessageContaining("speaks the session protocol, this side the mesh protocol");
        }
    }
}
