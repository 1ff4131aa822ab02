package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.cli.Command.Result;
import io.rdmacomm.tests.fixture.PortForward;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Servers behind a port forward, with `--rdma-cm-port`, and their clients, which need no option.
@Tag("slow")
class ForwardedPortsTest {
    private static final String INSIDE = "127.0.0.2";

    private final String queuePairs = Integer.toString(PortForward.freePort());

    private Command serve(String... words) throws IOException {
        String[] where = {"--bind", INSIDE, "--port", "0", "--rdma-cm-port", queuePairs};
        String[] line = new String[words.length + where.length];
        System.arraycopy(words, 0, line, 0, words.length);
        System.arraycopy(where, 0, line, words.length, where.length);
        return Command.start(line);
    }

    private static PortForward forward(int outside, String inside) throws IOException {
        return new PortForward(outside, new InetSocketAddress(INSIDE, Integer.parseInt(inside)));
    }

    @Test
    void pingWorks() throws Exception {
        try (Command server = serve("ping", "--server", "--count", "3");
                PortForward sessions = forward(0, server.port());
                PortForward rdma = forward(Integer.parseInt(queuePairs), queuePairs)) {
            for (int i = 1; i <= 3; i++) {
                Result client = Command.run(
                        "ping", "127.0.0.1:" + sessions.port(), "--count", "20", "--interval", "0", "--size", "20000");

                assertThat(client.exitCode()).as(client.err()).isZero();
                assertThat(client.out()).contains("20 pings, all correct");
                assertThat(rdma.calls()).isEqualTo(2 * i);
            }
            assertThat(server.end().exitCode()).isZero();
        }
    }

    @Test
    void aForwardMayChangeThePort() throws Exception {
        try (Command server = serve("ping", "--server", "--once");
                PortForward sessions = forward(0, server.port());
                PortForward rdma = forward(0, queuePairs)) {
            String peer = "127.0.0.1:" + sessions.port();
            Result lost = Command.run("ping", peer);
            Result client = Command.run("ping", peer, "--rdma-cm-port", Integer.toString(rdma.port()));

            assertThat(lost.exitCode()).isEqualTo(1);
            assertThat(lost.err()).contains("port forwards have to let port " + queuePairs + " through");
            assertThat(lost.err().strip().lines()).hasSize(1);
            assertThat(client.exitCode()).as(client.err()).isZero();
            assertThat(server.end().exitCode()).isZero();
        }
    }

    @Test
    void sendWorks(@TempDir Path from, @TempDir Path to) throws Exception {
        byte[] content = new byte[3_000_001];
        new Random(7).nextBytes(content);
        Path file = Files.write(from.resolve("file"), content);
        try (Command server = serve("recv", "--once", "--dir", to.toString());
                PortForward sessions = forward(0, server.port());
                PortForward rdma = forward(Integer.parseInt(queuePairs), queuePairs)) {
            Result client = Command.run("send", file.toString(), "127.0.0.1:" + sessions.port());

            assertThat(client.exitCode()).as(client.err()).isZero();
            assertThat(server.end().exitCode()).isZero();
            assertThat(Files.readAllBytes(to.resolve("file"))).isEqualTo(content);
            assertThat(rdma.calls()).isEqualTo(2);
        }
    }

    @Test
    void benchWorks() throws Exception {
        try (Command server = serve("bench", "--server", "--once");
                PortForward sessions = forward(0, server.port());
                PortForward rdma = forward(Integer.parseInt(queuePairs), queuePairs)) {
            Result client = bench("127.0.0.1:" + sessions.port());

            assertThat(client.exitCode()).as(client.err()).isZero();
            assertThat(rdma.calls()).isPositive();
            assertThat(server.end().exitCode()).isZero();
        }
    }

    /// Without HOST, the second process gets the option.
    @Test
    void benchWithinOneMachineUsesThePort() {
        Result both = bench("--rdma-cm-port", queuePairs);

        assertThat(both.exitCode()).as(both.err()).isZero();
        assertThat(both.out()).contains("send_lat");
    }

    private static Result bench(String... words) {
        String[] what = {"--tests", "send_lat,read_lat", "--sizes", "64", "--iterations", "50", "--warmup", "0"};
        String[] line = new String[words.length + what.length + 2];
        line[0] = "bench";
        line[1] = "--no-floors";
        System.arraycopy(words, 0, line, 2, words.length);
        System.arraycopy(what, 0, line, 2 + words.length, what.length);
        return Command.run(line);
    }

    @Test
    void aTakenPortIsReportedInOneLine() throws Exception {
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.ofLiteral(INSIDE))) {
            String taken = Integer.toString(other.getLocalPort());
            for (String command : new String[] {"ping --server", "recv --dir .", "bench --server"}) {
                String line = command + " --bind " + INSIDE + " --port 0 --rdma-cm-port " + taken;
                Result server = Command.run(line.split(" ", -1));

                assertThat(server.exitCode()).as(line).isEqualTo(1);
                assertThat(server.err()).contains("port " + taken + ": it is taken; choose another port");
                assertThat(server.err().strip().lines()).hasSize(1);
            }
        }
    }

    @Test
    void helpNamesTheOptionWithAnExample() {
        for (String command : new String[] {"ping", "recv"}) {
            assertThat(Command.run(command, "--help").out())
                    .contains("--rdma-cm-port=PORT", "--rdma-cm-port 2021", "firewall");
        }
        assertThat(Command.run("bench", "--help").out()).contains("--rdma-cm-port=PORT");
        assertThat(Command.run("send", "--help").out()).contains("--rdma-cm-port=PORT");
    }
}
