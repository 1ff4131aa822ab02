package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.jr.ob.JSON;
import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.interop.PingPongAddress;
import io.rdmacomm.tests.cli.Command.Result;
import io.rdmacomm.verbs.Gid;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// `ping --interop rc_pingpong`: the protocol of ibv_rc_pingpong(1).
class InteropPingPongTest {
    private static final String[] SERVER = {"ping", "--interop", "rc_pingpong", "--server", "--port", "0"};

    @Test
    void theAddressIsTheSameTextAsThatOfTheCProgram() throws Exception {
        PingPongAddress address =
                new PingPongAddress(0x1f, 0x12, 0xa1b2c3, Gid.of(InetAddress.getByAddress(new byte[] {10, 9, 0, 1})));

        byte[] bytes = address.encode();

        assertThat(new String(bytes, StandardCharsets.US_ASCII))
                .isEqualTo("001f:000012:a1b2c3:00000000000000000000ffff0a090001\0")
                .hasSize(PingPongAddress.BYTES);
        assertThat(PingPongAddress.decode(bytes, "peer", "ibv_rc_pingpong")).isEqualTo(address);
        assertThat(address).hasToString("LID 0x001f, QPN 0x000012, PSN 0xa1b2c3, GID ::ffff:10.9.0.1");
        assertThat(new PingPongAddress(0, 1, 2, Gid.NONE))
                .hasToString("LID 0x0000, QPN 0x000001, PSN 0x000002, GID ::");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "GET / HTTP/1.1\r\nHost: example\r\nAccept: */*\r\n\r\n......",
                "001f:000012:a1b2c3:00000000000000000000ffff0a09000g\0",
                "001f:000012:a1b2c3:00000000000000000000ffff0a0900011",
                "-01f:000012:a1b2c3:00000000000000000000ffff0a090001\0",
            })
    void anInvalidAddressIsRejected(String text) {
        assertThatThrownBy(() ->
                        PingPongAddress.decode(text.getBytes(StandardCharsets.US_ASCII), "peer", "ibv_rc_pingpong"))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("a different protocol");
    }

    @Test
    void printsTheSameAsTheCProgram() throws Exception {
        try (Command server = Command.start(with(SERVER, "--once", "--count", "200", "--check"))) {
            String peer = "localhost:" + server.port();

            Result client = Command.run("ping", "--interop", "rc_pingpong", peer, "--count", "200", "--check");

            assertThat(client.exitCode()).as(client.err()).isZero();
            assertThat(client.out())
                    .containsPattern(
                            "  local address:  LID 0x[0-9a-f]{4}, QPN 0x[0-9a-f]{6}, PSN 0x[0-9a-f]{6}, GID .+")
                    .containsPattern(
                            "  remote address: LID 0x[0-9a-f]{4}, QPN 0x[0-9a-f]{6}, PSN 0x[0-9a-f]{6}, GID .+")
                    .containsPattern("1638400 bytes in \\d+\\.\\d\\d seconds = \\d+\\.\\d\\d Mbit/sec")
                    .containsPattern("200 iters in \\d+\\.\\d\\d seconds = \\d+\\.\\d\\d usec/iter");
            Result served = server.end();
            assertThat(served.exitCode()).as(served.err()).isZero();
            assertThat(served.out()).contains("local address:", "remote address:", "200 iters");
        }
    }

    @Test
    void theGameCanBePlayedWithDatagrams() throws Exception {
        String[] options = {"ping", "--interop", "ud_pingpong", "--count", "100", "--check"};
        try (Command server = Command.start(with(options, "--server", "--port", "0", "--once"))) {
            Result client = Command.run(with(options, "localhost:" + server.port()));

            assertThat(client.exitCode()).as(client.err()).isZero();
            assertThat(client.out()).contains("409600 bytes in", "100 iters in");
            Result served = server.end();
            assertThat(served.exitCode()).as(served.err()).isZero();
        }
    }

    @Test
    void theGameCanBePlayedOverAnUnreliableConnection() throws Exception {
        String[] options = {"ping", "--interop", "uc_pingpong", "--count", "100", "--check", "--timeout", "30"};
        try (Command server = Command.start(
                        RoceLoopback.option("127.0.0.91"), with(options, "--server", "--port", "0", "--once"));
                Command client = Command.start(
                        RoceLoopback.option("127.0.0.92"), with(options, "127.0.0.91:" + server.port()))) {
            Result played = client.end();
            assertThat(played.exitCode()).as(played.err()).isZero();
            assertThat(played.out()).contains("819200 bytes in", "100 iters in");
            Result served = server.end();
            assertThat(served.exitCode()).as(served.err()).isZero();
        }
    }

    @Test
    void aDeviceWithoutUnreliableConnectionsIsNamed() throws Exception {
        Result client = Command.run("ping", "--interop", "uc_pingpong", "-d", "soft0", "localhost");

        assertThat(client.exitCode()).isEqualTo(1);
        assertThat(client.err()).contains("soft0", "UNRELIABLE_CONNECTED");
        assertThat(client.err().strip().lines()).hasSize(1);
    }

    @Test
    void theResultIsJson() throws Exception {
        try (Command server = Command.start(with(SERVER, "--once"))) {
            String peer = "localhost:" + server.port();

            Result client = Command.run("ping", "--interop", "rc_pingpong", peer, "--json", "-");

            assertThat(client.exitCode()).as(client.err()).isZero();
            Map<String, Object> document = JSON.std.mapFrom(client.out());
            assertThat(document)
                    .containsEntry("bytes", 4096)
                    .containsEntry("pings", 1000)
                    .containsKeys("seconds", "mbit_per_second", "us_per_iteration");
        }
    }

    @Test
    void theServerSurvivesAFailedClient() throws Exception {
        try (Command server = Command.start(with(SERVER, "--count", "50"))) {
            String port = server.port();
            try (Socket garbage = new Socket("localhost", Integer.parseInt(port))) {
                garbage.getOutputStream().write(new byte[PingPongAddress.BYTES]);
                assertThat(garbage.getInputStream().read()).isNegative();
            }
            try (Socket hasty = new Socket("localhost", Integer.parseInt(port))) {
                hasty.getOutputStream().write("001f".getBytes(StandardCharsets.US_ASCII));
            }

            Result client = Command.run("ping", "--interop", "rc_pingpong", "localhost:" + port, "--count", "50");

            assertThat(client.exitCode()).as(client.err()).isZero();
            server.interrupt();
            assertThat(server.end().err().strip().lines())
                    .hasSize(2)
                    .anyMatch(line -> line.contains("a different protocol"))
                    .anyMatch(line -> line.contains("before it sent its address"));
        }
    }

    @Test
    void aDifferentMessageSizeIsReportedInOneLine() throws Exception {
        try (Command server = Command.start(with(SERVER, "--once", "--size", "8192"))) {
            Result client =
                    Command.run("ping", "--interop", "rc_pingpong", "localhost:" + server.port(), "--timeout", "30");

            assertThat(client.exitCode()).isEqualTo(1);
            assertThat(client.err().strip().lines()).hasSize(1);
            Result served = server.end();
            assertThat(served.exitCode()).isEqualTo(1);
            assertThat(served.err()).contains("use the same --size on both sides");
            assertThat(served.err().strip().lines()).hasSize(1);
        }
    }

    @Test
    void wrongContentIsDetected() throws Exception {
        try (Command server = Command.start(with(SERVER, "--once", "--check"))) {
            Result client =
                    Command.run("ping", "--interop", "rc_pingpong", "localhost:" + server.port(), "--timeout", "30");

            assertThat(client.exitCode()).isEqualTo(1);
            assertThat(server.end().err()).contains("message 0 is wrong at byte 0", "--check");
        }
    }

    @Test
    void aSilentServerTimesOut() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            Result client = Command.run(
                    "ping", "--interop", "rc_pingpong", "localhost:" + silent.getLocalPort(), "--timeout", "0.3");

            assertThat(client.exitCode()).isEqualTo(1);
            assertThat(client.err()).contains("sent no address in time");
        }
    }

    private static String[] with(String[] words, String... more) {
        String[] all = new String[words.length + more.length];
        System.arraycopy(words, 0, all, 0, words.length);
        System.arraycopy(more, 0, all, words.length, more.length);
        return all;
    }
}
