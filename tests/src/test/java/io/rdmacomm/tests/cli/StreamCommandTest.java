package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.rdmacomm.tests.cli.Command.Result;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// `rdmacomm stream`: both ends in two processes, and peers that are no stream.
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class StreamCommandTest {
    private static final int SYNC_BYTES = 16;
    private static final String SHORT_WAIT = "0.5";

    private static String[] words(String start, String rest) {
        return Stream.of(start, rest)
                .flatMap(part -> Stream.of(part.strip().split(" +")))
                .filter(word -> !word.isEmpty())
                .toArray(String[]::new);
    }

    private static Command server(String options) throws IOException {
        return Command.start(words("stream --server --once --bind localhost --port 0", options));
    }

    private static Result client(String port, String options) {
        return Command.run(words("stream localhost:" + port, options));
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(
            strings = {
                "-S 1000 -C 50 -I 3 -T v",
                "-S 70001 -C 5 -I 2 -T v -T a",
                "-S 64k -C 5 -I 2 -T verify -T blocking",
                "-S 1 -C 300 -T v -T a",
                "-S 2m -C 2 -T v -T b -B 64k",
                "-S 1000 -C 50 -I 3 -T v --tcp",
                "-S 64k -C 5 -I 2 -T v -T a -T s",
                "-S 64k -C 5 -I 2 -T b --tcp",
            })
    void bothEndsReportTheSameTest(String options) throws Exception {
        try (Command server = server(options)) {
            Result client = client(server.port(), options);
            assertThat(client.err()).isEmpty();
            assertThat(client.exitCode()).isZero();
            assertThat(client.out()).containsPattern("name +bytes +xfers +iters +total +time +Gb/sec +usec/xfer");
            assertThat(client.out()).containsPattern("custom +\\d+ +\\d+ +\\d+ ");
            assertThat(client.out().contains("from the server, correct")).isEqualTo(options.contains("-T v"));

            Result served = server.end();
            assertThat(served.err()).isEmpty();
            assertThat(served.exitCode()).isZero();
            assertThat(served.out()).containsPattern("client 127.0.0.1:\\d+").containsPattern("custom +\\d+ +\\d+ ");
        }
    }

    @Test
    void theDocumentHasTheNumbersOfTheTest() throws Exception {
        try (Command server = server("-S 4096 -C 10 -I 4 -T b")) {
            Result client = client(server.port(), "-S 4096 -C 10 -I 4 -T b --json -");
            assertThat(client.exitCode()).as(client.err()).isZero();
            Map<String, Object> document = JSON.std.mapFrom(client.out());
            assertThat(document).containsEntry("transport", "rdma").containsEntry("verified", false);
            assertThat((Map<?, ?>) document.get("environment"))
                    .extracting("device")
                    .isEqualTo("soft0");
            Map<?, ?> result = (Map<?, ?>) ((List<?>) document.get("results")).getFirst();
            assertThat(result.get("bytes")).isEqualTo(4096);
            assertThat(result.get("transfers")).isEqualTo(10);
            assertThat(result.get("iterations")).isEqualTo(4);
            assertThat(result.get("total_bytes")).isEqualTo(2 * 4096 * 10 * 4);
            double seconds = ((Number) result.get("seconds")).doubleValue();
            double gbps = ((Number) result.get("gbps")).doubleValue();
            assertThat(gbps * seconds * 1e9 / 8).isBetween(0.9 * 2 * 4096 * 40, 1.1 * 2 * 4096 * 40);
        }
    }

    @Test
    void aServerServesOneClientAfterTheOther() throws Exception {
        String options = "-S 1000 -C 5 -T v -T b";
        try (Command server = Command.start(words("stream --server --bind localhost --port 0", options))) {
            String port = server.port();
            assertThat(client(port, options).exitCode()).isZero();
            Result wrong = client(port, "-S 1000 -C 9 -T v -T b -W " + SHORT_WAIT);
            assertThat(wrong.exitCode()).isEqualTo(1);
            assertThat(client(port, options).exitCode()).isZero();
        }
    }

    @Test
    void differentCountsAreReportedByBothEnds() throws Exception {
        try (Command server = server("-S 1000 -C 5 -T b")) {
            Result client = client(server.port(), "-S 1000 -C 9 -T b");
            assertThat(client.exitCode()).isEqualTo(1);
            assertThat(client.err()).contains("both ends need the same --size, --count and --iterations");
            Result served = server.end();
            assertThat(served.exitCode()).isEqualTo(1);
            assertThat(served.err())
                    .contains("the peer sends more than 5016 bytes from it and 5016 to it")
                    .contains("both ends need the same --size, --count and --iterations");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "--tcp"})
    void aClientThatSendsNoPatternIsReported(String how) throws Exception {
        try (Command server = server("-S 1000 -C 5 -T v " + how)) {
            assertThat(client(server.port(), "-S 1000 -C 5 " + how).exitCode()).isEqualTo(1);
            Result served = server.end();
            assertThat(served.exitCode()).isEqualTo(1);
            assertThat(served.err()).contains("byte 1 from the peer is 0, not 1: give -T v at both ends");
        }
    }

    @Test
    void aServerThatSendsNoPatternIsReported() throws Exception {
        try (Command server = server("-S 1000 -C 5")) {
            Result client = client(server.port(), "-S 1000 -C 5 -T v");
            assertThat(client.exitCode()).isEqualTo(1);
            assertThat(client.err()).contains("byte 16 from the peer is ", ", not 16: give -T v at both ends");
        }
    }

    /// A peer that connects and then is silent.
    @ParameterizedTest
    @ValueSource(strings = {"-T n", "-T a", "-T b"})
    void aSilentPeerEndsTheWait(String waiting) throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getByName("localhost"))) {
            Result client = client("" + silent.getLocalPort(), "-S 1 -C 1 --tcp -W " + SHORT_WAIT + " " + waiting);
            assertThat(client.exitCode()).isEqualTo(1);
            assertThat(client.err())
                    .contains("no byte has moved for 0.5 s, after 0 bytes from it and 16 to it")
                    .contains("both ends need the same");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"-T n", "-T a", "-T b"})
    void aSilentClientEndsTheWait(String waiting) throws Exception {
        try (Command server = server("-S 1 -C 1 --tcp -W " + SHORT_WAIT + " " + waiting);
                Socket silent = new Socket("localhost", Integer.parseInt(server.port()))) {
            Result served = server.end();
            assertThat(served.exitCode()).isEqualTo(1);
            assertThat(served.err()).contains("no byte has moved for 0.5 s, after 0 bytes");
            assertThat(silent.getInputStream().read()).isEqualTo(-1);
        }
    }

    @Test
    void damagedDataIsFound() throws Exception {
        try (ServerSocket hostile = new ServerSocket(0, 1, InetAddress.getByName("localhost"))) {
            Thread thread = Thread.ofVirtual().start(() -> {
                try (Socket socket = hostile.accept()) {
                    InputStream in = socket.getInputStream();
                    OutputStream out = socket.getOutputStream();
                    out.write(in.readNBytes(SYNC_BYTES));
                    byte[] all = in.readNBytes(100);
                    all[30] ^= 1;
                    out.write(all);
                    assertThat(in.read()).isEqualTo(-1);
                } catch (IOException _) {
                    // The client has ended.
                }
            });
            Result client = client("" + hostile.getLocalPort(), "-S 10 -C 10 -T v -T b --tcp");
            assertThat(client.exitCode()).isEqualTo(1);
            assertThat(client.err()).contains("byte 46 from the peer is 47, not 46");
            thread.join();
        }
    }

    @Test
    @Tag("slow")
    void theDefaultTestsAreForLatencyAndForBandwidth() throws Exception {
        try (Command server = server("--tcp -T b -T v")) {
            Result client = client(server.port(), "--tcp -T b -T v");
            assertThat(client.exitCode()).as(client.err()).isZero();
            Result served = server.end();
            assertThat(served.exitCode()).as(served.err()).isZero();
            String[] rows = {"64_lat ", "4k_lat ", "64k_lat ", "1m_lat ", "64_bw ", "4k_bw ", "64k_bw ", "1m_bw "};
            assertThat(client.out()).containsSubsequence(rows);
            assertThat(served.out()).containsSubsequence(rows);
        }
    }

    @Test
    void plainTcpAndRdmaAreToldApart() throws Exception {
        try (Command server = server("-S 1000 -C 5 --tcp")) {
            Result client = client(server.port(), "-S 1000 -C 5");
            assertThat(client.exitCode()).isEqualTo(1);
            assertThat(client.err()).contains("without --tcp");
            Result served = server.end();
            assertThat(served.exitCode()).isEqualTo(1);
            assertThat(served.err()).contains("the client speaks RDMA, and this server plain TCP");
        }
        try (Command server = server("-S 1000 -C 5")) {
            String port = server.port();
            Result client = client(port, "-S 1000 -C 5 --tcp -W 20");
            assertThat(client.exitCode()).isEqualTo(1);
            assertThat(client.err()).contains("--tcp at both or none");
            assertThat(client(port, "-S 1000 -C 5").exitCode()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "--tcp"})
    void aPortWithoutServerIsReported(String how) throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        Result client = client("" + port, "-S 1 " + how);
        assertThat(client.exitCode()).isEqualTo(1);
        assertThat(client.err()).contains("127.0.0.1:" + port, "refused", "rdmacomm stream --server");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "--tcp"})
    void aTakenPortIsReported(String how) throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("localhost"))) {
            Result result = Command.run(
                    words("stream --server --once --bind localhost --port " + taken.getLocalPort(), "-S 1 " + how));
            assertThat(result.exitCode()).isEqualTo(1);
            assertThat(result.err())
                    .contains("cannot listen at 127.0.0.1:" + taken.getLocalPort())
                    .contains("choose another --port");
        }
    }
}
