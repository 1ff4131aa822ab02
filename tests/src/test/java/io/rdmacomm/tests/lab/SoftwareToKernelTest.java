package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.cli.RdmaCommand;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.EndQueue;
import io.rdmacomm.tests.fixture.LocalEnd;
import io.rdmacomm.tests.fixture.LocalMemory;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.Piece;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.WorkRequestException;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRejectedException;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.Listener;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/// The software device on one host and the kernel's siw on another: `soft0` in the network namespace `far`, `siw0`
/// here, and TCP between them. Both use iWARP, so neither program notices a difference.
@EnabledIfEnvironmentVariable(named = "LAB", matches = "yes", disabledReason = "it needs siw0: lab/suite lab")
class SoftwareToKernelTest {
    private static final String KERNEL = "10.8.0.1";
    private static final String LISTENS = "rdma resource show cm_id | grep LISTEN";
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final int CONNECTIONS = 100;
    private static final String WAIT = " --timeout 60";
    private static final String SET_UP = " --set-up-timeout 60";

    /// Runs the actions with an `rping` server, then stops it and waits until the kernel frees its port.
    private static void withServer(String command, Actions actions) throws Exception {
        Process server = CProgram.serve(command, LISTENS);
        try {
            actions.run();
            assertThat(server.isAlive()).as("the C program is still running").isTrue();
        } finally {
            server.destroy();
            assertThat(server.waitFor(CProgram.TIMEOUT_SECONDS, TimeUnit.SECONDS))
                    .as("the C program ends")
                    .isTrue();
            Deadline.await("the kernel frees the port", () -> !Shell.tryTo(LISTENS));
        }
    }

    private interface Actions {
        void run() throws Exception;
    }

    @Test
    void theClientTalksToTheServerOfRping() throws Exception {
        pingTheServer(64, true);
    }

    @Tag("slow")
    @ParameterizedTest
    @CsvSource({"64, false", "65535, true", "65535, false"})
    void theClientTalksToTheServerOfRpingInTheOtherCombinations(int bytes, boolean checksum) throws Exception {
        pingTheServer(bytes, checksum);
    }

    private static void pingTheServer(int bytes, boolean checksum) throws Exception {
        SiwChecksum.bear(() -> {
            Process server = CProgram.serve("rping -s -a " + KERNEL + " -S " + bytes + " -C 5 -V", LISTENS);

            Outcome client = FarProcess.run(
                    checksum, "ping --interop rping -d soft0 " + KERNEL + " --count 5 --size " + bytes + WAIT);

            client.assertGood();
            assertThat(client.text()).contains("5 pings, all correct");
            CProgram.assertEndsWell(server);
        });
    }

    /// One server serves many clients in sequence, with both sizes.
    @Test
    void theServerTalksToTheClientsOfRping() throws Exception {
        serveClients(true, 2);
    }

    @Tag("slow")
    @Test
    void theServerTalksToTheClientsOfRpingWithoutChecksums() throws Exception {
        serveClients(false, 3);
    }

    @Tag("slow")
    @Test
    void theServerTalksToManyClientsOfRping() throws Exception {
        serveClients(true, CONNECTIONS);
    }

    private static void serveClients(boolean checksum, int connections) throws Exception {
        try (HeardProcess server = FarProcess.serve(
                checksum,
                "ping --interop rping -d soft0 --bind " + FarProcess.ADDRESS + " --server --verbose" + WAIT)) {
            // One shell starts all of them, because in the guest a JVM needs a second to start a process.
            CProgram.assertEndsWell(CProgram.start("sh -c 'for i in $(seq " + connections + "); do rping -c -a "
                    + FarProcess.ADDRESS + " -S $((i % 2 * 65471 + 64)) -C 5 -V || exit 1; done'"));
            Deadline.await("all are served", () -> count(server.text(), ": 5 pings served") == connections);
            server.interrupt();

            Outcome outcome = server.end();
            assertThat(count(outcome.text(), "server ping data: rdma-ping-4: EFGHIJ"))
                    .as(outcome.text())
                    .isEqualTo(connections);
            assertThat(outcome.text()).doesNotContain("rdmacomm ping:");
        }
    }

    @Tag("slow")
    @Test
    void oneServerOfRpingServesManyClientsInSequence() throws Exception {
        withServer("rping -s -P -a " + KERNEL + " -S 1000 -V", () -> {
            String words = "ping --interop rping -d soft0 " + KERNEL + " --count 5 --size 1000" + WAIT;
            try (HeardProcess clients = FarProcess.start(true, Repeats.class, words.split(" ", -1))) {
                Outcome outcome = clients.end();
                outcome.assertGood();
                assertThat(count(outcome.text(), "5 pings, all correct")).isEqualTo(CONNECTIONS);
            }
        });
    }

    /// Runs the command repeatedly and stops at the first failure.
    static final class Repeats {
        private Repeats() {}

        public static void main(String[] words) {
            int exitCode = 0;
            for (int i = 0; i < CONNECTIONS && exitCode == 0; i++) {
                CommandLine command = RdmaCommand.commandLine(words);
                command.setOut(new PrintWriter(System.out, true, StandardCharsets.UTF_8));
                exitCode = command.execute(words);
            }
            System.exit(exitCode);
        }
    }

    @Test
    void aStringIsCopiedFromTheSoftwareDeviceAndBack() throws Exception {
        NearCommand server = NearCommand.serve("copy-string -d siw0 --bind " + KERNEL + " --server --once" + WAIT);

        Outcome client = FarProcess.run(true, "copy-string -d soft0 " + KERNEL + " textstring" + WAIT);

        client.assertGood();
        assertThat(client.text()).contains("SUCCESS, source and destination buffers match");
        assertCopied(server.end());
    }

    @Test
    @Tag("slow")
    void aStringIsCopiedFromTheKernelsDeviceAndBack() throws Exception {
        try (HeardProcess server = FarProcess.serve(
                true, "copy-string -d soft0 --bind " + FarProcess.ADDRESS + " --server --once" + WAIT)) {
            Outcome client = NearCommand.run("copy-string -d siw0 " + FarProcess.ADDRESS + " textstring" + WAIT);

            client.assertGood();
            assertThat(client.text()).contains("SUCCESS, source and destination buffers match");
            assertCopied(server.end());
        }
    }

    private static void assertCopied(Outcome server) {
        server.assertGood();
        assertThat(server.text()).contains("10 bytes copied: \"textstring\"");
    }

    @Test
    @Tag("slow")
    void theSoftwareDevicePingsTheKernels() throws Exception {
        NearCommand server =
                NearCommand.serve("ping -d siw0 --bind " + KERNEL + " --server --once --port 0" + WAIT + SET_UP);

        Outcome client = FarProcess.run(
                true,
                "ping -d soft0 -R " + KERNEL + ":" + server.port() + " --count 20 --size 20000 --interval 0" + WAIT
                        + SET_UP);

        assertPinged(client, server.end());
    }

    @Test
    @Tag("slow")
    void theKernelsDevicePingsTheSoftwareDevice() throws Exception {
        try (HeardProcess server = FarProcess.serve(
                true, "ping -d soft0 -R --bind " + FarProcess.ADDRESS + " --server --once --port 0" + WAIT + SET_UP)) {
            Outcome client = NearCommand.run("ping -d siw0 " + FarProcess.ADDRESS + ":" + server.port()
                    + " --count 20 --size 20000 --interval 0" + WAIT + SET_UP);

            assertPinged(client, server.end());
        }
    }

    private static void assertPinged(Outcome client, Outcome server) {
        client.assertGood();
        assertThat(client.text()).contains("20 pings, all correct");
        server.assertGood();
        assertThat(server.text()).contains("20 pings answered").doesNotContain("failed");
    }

    @Test
    void aFileIsSentToTheKernelsDevice(@TempDir Path from, @TempDir Path to) throws Exception {
        Path file = file(from);
        NearCommand server =
                NearCommand.serve("recv -d siw0 --bind " + KERNEL + " --once --port 0 --dir " + to + SET_UP);

        Outcome client = FarProcess.run(true, "send -d soft0 -R " + file + " " + KERNEL + ":" + server.port() + SET_UP);

        client.assertGood();
        server.end().assertGood();
        assertSame(file, to);
    }

    @Test
    @Tag("slow")
    void aFileIsReceivedFromTheKernelsDevice(@TempDir Path from, @TempDir Path to) throws Exception {
        Path file = file(from);
        SiwChecksum.bear(() -> {
            try (HeardProcess server = FarProcess.serve(
                    true, "recv -d soft0 -R --bind " + FarProcess.ADDRESS + " --once --port 0 --dir " + to + SET_UP)) {
                Outcome client = NearCommand.run(
                        "send -d siw0 " + file + " " + FarProcess.ADDRESS + ":" + server.port() + SET_UP);

                server.end().assertGood();
                client.assertGood();
            }
        });
        assertSame(file, to);
    }

    /// Each program rejects a connection with a reason that the peer receives, and both devices continue to work.
    @Test
    @Tag("slow")
    void aRejectionCarriesItsReasonInBothDirections() throws Exception {
        try (LocalEnd end = LocalEnd.open("siw0");
                ConnectionManager manager = ConnectionManager.open(end.context())) {
            try (Listener<ConnectionRequest> listener = manager.listen(new InetSocketAddress(KERNEL, 0), 4);
                    HeardProcess client = far(
                            Refused.class,
                            Integer.toString(listener.localAddress().getPort()))) {
                refuse(listener, "of soft0", "siw0 says no");
                Outcome outcome = client.end();
                outcome.assertGood();
                assertThat(outcome.text()).contains("refused: siw0 says no");
            }
            try (HeardProcess server = far(Refuses.class).listening()) {
                int port = Integer.parseInt(server.port());
                assertRefused(end, manager, FarProcess.ADDRESS, port, "of siw0", "soft0 says no");
                server.end().assertGood();
            }
        }
    }

    private static HeardProcess far(Class<?> main, String... words) throws IOException {
        return FarProcess.start(true, main, words);
    }

    private static void refuse(Listener<ConnectionRequest> listener, String asked, String answer)
            throws InterruptedException {
        try (ConnectionRequest request = listener.awaitRequest(TIMEOUT)) {
            assertThat(request).as("a request").isNotNull();
            assertThat(request.privateData()).isEqualTo(bytes(asked));
            request.reject(bytes(answer));
        }
    }

    private static void assertRefused(
            LocalEnd end, ConnectionManager manager, String address, int port, String question, String answer) {
        ConnectionParameters parameters =
                ConnectionParameters.defaults().withDepths(1, 1).withPrivateData(bytes(question));
        try (LocalQueue queue = end.queue(Spec.usual())) {
            assertThatThrownBy(() -> manager.connect(
                            new InetSocketAddress(address, port), queue.queuePair(), parameters, TIMEOUT))
                    .isInstanceOfSatisfying(
                            ConnectionRejectedException.class,
                            refusal -> assertThat(refusal.privateData()).isEqualTo(bytes(answer)));
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /// Requests a connection from the kernel's device and is rejected.
    static final class Refused {
        private Refused() {}

        public static void main(String[] port) {
            try (LocalEnd end = LocalEnd.open("soft0");
                    ConnectionManager manager = ConnectionManager.open(end.context())) {
                assertRefused(end, manager, KERNEL, Integer.parseInt(port[0]), "of soft0", "siw0 says no");
            }
            System.out.println("refused: siw0 says no");
        }
    }

    /// Rejects one connection.
    static final class Refuses {
        private Refuses() {}

        public static void main(String[] none) throws InterruptedException {
            try (LocalEnd end = LocalEnd.open("soft0");
                    ConnectionManager manager = ConnectionManager.open(end.context());
                    Listener<ConnectionRequest> listener =
                            manager.listen(new InetSocketAddress(FarProcess.ADDRESS, 0), 4)) {
                System.out.println(
                        "listening on port " + listener.localAddress().getPort());
                refuse(listener, "of siw0", "soft0 says no");
            }
        }
    }

    /// siw supports neither immediate data nor atomics. The software device rejects them without contacting siw, and
    /// the connection stays up.
    @Test
    void rejectsImmediateDataWhichTheKernelDoesNotSupport() throws Exception {
        reject("SEND_WITH_IMMEDIATE");
    }

    @Test
    @Tag("slow")
    void rejectsAtomicsWhichTheKernelDoesNotSupport() throws Exception {
        reject("FETCH_AND_ADD");
    }

    private static void reject(String opcode) throws Exception {
        try (LocalEnd end = LocalEnd.open("siw0")) {
            LocalQueue queue = end.queue(Spec.usual());
            LocalMemory memory = end.allocate(64, AccessFlag.allRemote());
            queue.initialize(ConnectionOptions.defaults());
            queue.postReceive(1, List.of(memory.piece(0, 64)));
            int port = queue.acceptAt(KERNEL, ConnectionOptions.defaults());
            try (HeardProcess client = far(Unspoken.class, Integer.toString(port), opcode)) {
                queue.awaitAccepted();
                Outcome outcome = client.end();
                outcome.assertGood();
                assertThat(outcome.text()).contains("rejected here: " + opcode);
            }
            assertThat(queue.collect(1, EndQueue.TIMEOUT_MILLIS))
                    .allMatch(done -> done.status() == WorkStatus.FLUSHED)
                    .hasSize(1);
        }
    }

    /// Posts an operation that the kernel's device does not support.
    static final class Unspoken {
        private Unspoken() {}

        public static void main(String[] words) {
            try (LocalEnd end = LocalEnd.open("soft0")) {
                LocalQueue queue = end.queue(Spec.usual());
                LocalMemory memory = end.allocate(64, AccessFlag.allRemote());
                queue.connectTo(KERNEL, Integer.parseInt(words[0]), ConnectionOptions.defaults());
                Piece piece = memory.piece(0, 8);
                assertThatThrownBy(() -> queue.post(
                                SendOpcode.valueOf(words[1]) == SendOpcode.FETCH_AND_ADD
                                        ? Work.fetchAndAdd(7, memory.remote(), 1, piece)
                                        : Work.sendImmediate(7, 99, piece)))
                        .isInstanceOf(WorkRequestException.class)
                        .hasMessageContaining(words[1] + " is not supported by this peer");
                assertThat(queue.state()).isEqualTo(QueuePairState.READY_TO_SEND);
                System.out.println("rejected here: " + words[1]);
            }
        }
    }

    private static Path file(Path folder) throws IOException {
        byte[] content = new byte[3_000_001];
        new Random(7).nextBytes(content);
        return Files.write(folder.resolve("file"), content);
    }

    private static void assertSame(Path file, Path folder) throws IOException {
        assertThat(Arrays.equals(Files.readAllBytes(folder.resolve("file")), Files.readAllBytes(file)))
                .isTrue();
    }

    private static long count(String text, String words) {
        return Pattern.compile(words, Pattern.LITERAL).matcher(text).results().count();
    }
}
