package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.MAP;

import com.fasterxml.jackson.jr.ob.JSON;
import io.rdmacomm.tests.cli.Command.Result;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// `bench --interop`: the protocol of perftest, between its two ends in Java, and with hostile peers.
class InteropBenchTest {
    private static final String LATENCY = "t_typical[usec]";
    private static final String BANDWIDTH = "BW average[MiB/sec]";

    private static String[] words(String program, String... more) {
        return Stream.concat(Stream.of("bench", "--interop", program), Arrays.stream(more))
                .toArray(String[]::new);
    }

    private static String[] server(String program, String... more) {
        return words(program, with(more, "--server", "--port", "0"));
    }

    private static String[] with(String[] words, String... more) {
        return Stream.concat(Arrays.stream(words), Arrays.stream(more)).toArray(String[]::new);
    }

    /// Runs the client against a server that answers so, and expects one line.
    private static String failure(String program, byte[]... answers) throws IOException {
        try (PerftestServer server = new PerftestServer(answers)) {
            Result client = Command.run(words(program, server.address(), "--timeout", "20", "-n", "5"));
            return line(client);
        }
    }

    private static String line(Result failed) {
        assertThat(failed.exitCode()).as(failed.out() + failed.err()).isEqualTo(1);
        assertThat(failed.err().strip().lines()).hasSize(1);
        assertThat(failed.out()).doesNotContain("#bytes");
        return failed.err();
    }

    // ---- Both ends ----

    @ParameterizedTest
    @CsvSource({
        "ib_send_lat, 2, true",
        "ib_write_lat, 2, true",
        "ib_read_lat, 5000, false",
        "ib_atomic_lat, 8, false",
        "ib_send_bw, 65536, true",
        "ib_write_bw, 65536, true",
        "ib_read_bw, 1, true",
        "ib_atomic_bw, 8, true"
    })
    @Tag("slow")
    void bothEndsTalkOverRoce(String program, String bytes, boolean serverKnows) throws Exception {
        String figures = program.endsWith("_lat") ? LATENCY : BANDWIDTH;
        String[] options = words(program, "-d", "roce0", "-s", bytes, "-n", "301", "--timeout", "60");
        try (Command server =
                Command.start(RoceLoopback.option("127.0.0.93"), with(options, "--server", "--port", "0", "--once"))) {
            String[] peer = {"127.0.0.93:" + server.port()};
            try (Command client = Command.start(RoceLoopback.option("127.0.0.94"), with(options, peer))) {
                Result measured = client.end();
                assertThat(measured.exitCode()).as(measured.err()).isZero();
                assertThat(measured.out()).contains(figures).containsPattern(" " + bytes + " +301 ");
            }
            Result served = server.end();
            assertThat(served.exitCode()).as(served.err()).isZero();
            if (serverKnows) {
                assertThat(served.out()).contains(figures).containsPattern(" " + bytes + " +301 ");
            } else {
                assertThat(served.out()).contains(program + " served").doesNotContain("#bytes");
            }
        }
    }

    @Test
    void theDefaultsAreThoseOfTheCProgramAndTheResultIsJson() throws Exception {
        try (Command server = Command.start(server("ib_write_bw", "--once"))) {
            Result client = Command.run(words("ib_write_bw", "localhost:" + server.port(), "--json", "-"));

            assertThat(client.exitCode()).as(client.err()).isZero();
            Map<String, Object> document = JSON.std.mapFrom(client.out());
            assertThat(document).containsEntry("test", "ib_write_bw").containsKey("environment");
            assertThat(document.get("results"))
                    .asInstanceOf(MAP)
                    .containsEntry("MsgSize", 65_536)
                    .containsEntry("n_iterations", 5000)
                    .containsKeys("BW_peak", "BW_average", "MsgRate");
            assertThat(server.end().exitCode()).isZero();
        }
    }

    // ---- Ends that differ ----

    @Test
    void differentNumbersOfMessagesAreReportedAtBothEnds() throws Exception {
        try (Command server = Command.start(server("ib_send_lat", "--once", "--timeout", "5", "-n", "100"))) {
            Result client =
                    Command.run(words("ib_send_lat", "localhost:" + server.port(), "--timeout", "30", "-n", "50"));

            assertThat(line(client)).contains("closed the connection before it sent its word that the test is over");
            assertThat(line(server.end()))
                    .contains("nothing arrived within 5000 ms after 50 completed operations", "-n?");
        }
    }

    @Test
    void differentSizesOfMessagesAreReported() throws Exception {
        try (Command server = Command.start(server("ib_send_bw", "--once", "-n", "50", "-s", "1000"))) {
            Command.run(words("ib_send_bw", "localhost:" + server.port(), "-n", "50", "-s", "500"));

            assertThat(line(server.end())).contains("500 bytes", "expects 1000", "-s at both ends");
        }
    }

    @Test
    void aWriteBeyondTheMemoryOfTheServerIsReported() throws Exception {
        try (Command server = Command.start(server("ib_write_bw", "--once", "-n", "50", "-s", "8192"))) {
            Result client = Command.run(words("ib_write_bw", "localhost:" + server.port(), "-n", "50", "-s", "8193"));

            assertThat(line(client)).contains("REMOTE_ACCESS", "are -s and the program the same");
            assertThat(line(server.end())).contains("closed the connection before it sent its word that the test");
        }
    }

    // ---- Hostile servers ----

    private static Stream<Arguments> badAnswers() {
        byte[] version = PerftestServer.text("5.30", 16);
        byte[] key = PerftestServer.key(17, "127.0.0.1");
        byte[] foreign = PerftestServer.key(17, "192.0.2.1");
        byte[] other = PerftestServer.key(18, "127.0.0.1");
        byte[] noGid = PerftestServer.text("0000:0001:000011:a1b2c3:00001234:00007f0012345000:00000000", 59);
        return Stream.of(
                Arguments.of("before it sent its version", new byte[0][]),
                Arguments.of("has version 5.30, and rdmacomm speaks with 5.70 or newer", new byte[][] {version}),
                Arguments.of("instead of its version", new byte[][] {PerftestServer.text("HTTP/1.1 400 Bad", 16)}),
                Arguments.of("--dont_xchg_versions", new byte[][] {PerftestServer.text("0000:0001:000011", 16)}),
                Arguments.of("before it sent its page size", PerftestServer.honest(1)),
                Arguments.of(
                        "pages of 2130706432 bytes", PerftestServer.honest(1, new byte[] {127, 0, 0, 0}, new byte[4])),
                Arguments.of("pages of -1 bytes", PerftestServer.honest(1, new byte[] {-1, -1, -1, -1}, new byte[4])),
                Arguments.of("an MTU that does not exist", PerftestServer.honest(3, new byte[] {'9', 0})),
                Arguments.of("before it sent its key", PerftestServer.honest(4)),
                Arguments.of("a different protocol", PerftestServer.honest(4, PerftestServer.text("?", 59))),
                Arguments.of("ib_write_bw with -x INDEX", PerftestServer.honest(4, noGid)),
                Arguments.of("not the address of a device", PerftestServer.honest(4, foreign)),
                Arguments.of("several queue pairs", PerftestServer.honest(4, key, other)),
                Arguments.of("before it sent its key", PerftestServer.honest(4, key, key)));
    }

    @ParameterizedTest
    @MethodSource("badAnswers")
    void theClientExplainsABadAnswer(String explanation, byte[][] answers) throws Exception {
        assertThat(failure("ib_write_bw", answers)).contains(explanation);
    }

    @Test
    void theClientExplainsAKeyOfAQueuePairThatDoesNotExist() throws Exception {
        byte[] key = PerftestServer.key(17, "127.0.0.1");

        assertThat(failure("ib_write_bw", PerftestServer.honest(4, key, key, key)))
                .containsAnyOf("an operation of ib_write_bw failed with", "cannot connect", "4e20", "20000");
    }

    @Test
    void aSilentServerTimesOut() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            Result client = Command.run(words("ib_read_lat", "localhost:" + silent.getLocalPort(), "--timeout", "0.3"));

            assertThat(line(client)).contains("sent no version in time: is ib_read_lat running there?");
        }
    }

    @Test
    void aMissingServerIsReported() throws IOException {
        int port;
        try (ServerSocket unused = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            port = unused.getLocalPort();
        }

        assertThat(line(Command.run(words("ib_read_lat", "localhost:" + port))))
                .contains("no program listens on", "`ib_read_lat` or `rdmacomm bench --interop ib_read_lat --server`");
    }

    // ---- Hostile clients ----

    @Test
    void theServerSurvivesBadClients() throws Exception {
        try (Command server = Command.start(server("ib_send_lat", "-n", "50", "--timeout", "20"))) {
            int port = Integer.parseInt(server.port());
            try (Socket garbage = new Socket("localhost", port)) {
                garbage.getOutputStream().write(new byte[16]);
                assertThat(garbage.getInputStream().read()).isPositive();
            }
            try (Socket hasty = new Socket("localhost", port)) {
                hasty.getOutputStream().write("6.0".getBytes(StandardCharsets.US_ASCII));
            }
            try (Socket vanishing = new Socket("localhost", port)) {
                for (byte[] message : List.of(PerftestServer.HONEST[0], PerftestServer.HONEST[1])) {
                    vanishing.getOutputStream().write(message);
                    assertThat(vanishing.getInputStream().readNBytes(message.length))
                            .hasSize(message.length);
                }
            }

            Result client = Command.run(words("ib_send_lat", "localhost:" + port, "-n", "50"));

            assertThat(client.exitCode()).as(client.err()).isZero();
            server.interrupt();
            assertThat(server.end().err().strip().lines())
                    .hasSize(3)
                    .anyMatch(line -> line.contains("instead of its version"))
                    .anyMatch(line -> line.contains("before it sent its version"))
                    .anyMatch(line -> line.contains("before it sent its cache line size"));
        }
    }

    // ---- Wrong usage ----

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--interop ib_write_bw localhost -s 8,16|--sizes must be one size",
                "--interop ib_atomic_lat localhost -s 16|--sizes must be 8",
                "--interop ib_write_bw localhost -n 4|--iterations",
                "--interop ib_write_bw localhost --tests write_bw|--tests cannot be combined with --interop",
                "--interop ib_write_bw localhost --size 16|--size cannot be combined with --interop",
                "--interop ib_write_bw localhost --secret-file x|--secret-file cannot be combined with --interop",
                "--interop ib_write_bw localhost -R|--rdma-cm cannot be combined with --interop",
                "--interop ib_write_bw|HOST is missing",
                "--interop ib_write_bw --server localhost|HOST cannot be combined with --server",
                "--interop ib_write_by localhost|ib_write_by",
                "localhost --timeout 3|--timeout is an option of --interop"
            })
    void wrongUsageIsExplained(String both) {
        String[] parts = both.split("\\|", -1);

        Result result = Command.run(("bench " + parts[0]).split(" ", -1));

        assertThat(result.exitCode()).as(result.err()).isEqualTo(2);
        assertThat(result.err()).contains(parts[1]);
    }
}
