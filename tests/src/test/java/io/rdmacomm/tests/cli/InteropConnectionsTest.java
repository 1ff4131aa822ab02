package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.rdmacomm.tests.cli.Command.Result;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Commands that use the connection manager, between two processes over the software device.
class InteropConnectionsTest {
    @Test
    void rpingExitsAfterOneClient() throws Exception {
        try (Command server = Command.start("ping", "--interop", "rping", "--server", "--once", "--port", "0", "-v")) {
            String peer = "localhost:" + server.port();

            Result client = Command.run("ping", "--interop", "rping", peer, "--count", "7", "--size", "1000", "-v");

            assertThat(client.exitCode()).as(client.err()).isZero();
            assertThat(client.out()).contains("ping data: rdma-ping-6: GHIJ", "7 pings, all correct");
            Result served = server.end();
            assertThat(served.exitCode()).as(served.err()).isZero();
            assertThat(served.out()).contains("server ping data: rdma-ping-0: ABCD", ": 7 pings served");
        }
    }

    @Test
    void rpingServesManyClientsUntilCtrlC() throws Exception {
        try (Command server = Command.start("ping", "--interop", "rping", "--server", "--port", "0")) {
            String peer = "127.0.0.1:" + server.port();

            for (int i = 0; i < 3; i++) {
                Result client = Command.run("ping", "--interop", "rping", peer, "--json", "-");
                assertThat(client.exitCode()).as(client.err()).isZero();
                Map<String, Object> document = JSON.std.mapFrom(client.out());
                assertThat(document)
                        .containsEntry("pings", 5)
                        .containsEntry("bytes", 64)
                        .containsKey("p50_us");
            }
            server.interrupt();

            assertThat(server.end().out()).contains("5 pings served");
        }
    }

    @Test
    void aStringIsCopied() throws Exception {
        try (Command server = Command.start("copy-string", "--server", "--once", "--port", "0")) {
            Result client = Command.run("copy-string", "localhost:" + server.port(), "textstring");

            assertThat(client.exitCode()).as(client.err()).isZero();
            assertThat(client.out()).contains("SUCCESS, source and destination buffers match", "10 bytes: WRITE in");
            Result served = server.end();
            assertThat(served.exitCode()).as(served.err()).isZero();
            assertThat(served.out()).contains("10 bytes copied: \"textstring\"");
        }
    }

    @Test
    void pingUsesTheConnectionManagerOnRequest() throws Exception {
        try (Command server = Command.start("ping", "--server", "--once", "--port", "0", "--rdma-cm")) {
            Result client =
                    Command.run("ping", "127.0.0.1:" + server.port(), "--count", "20", "--interval", "0", "--rdma-cm");

            assertThat(client.exitCode()).as(client.err()).isZero();
            assertThat(client.out()).contains("20 pings, all correct");
            assertThat(server.end().exitCode()).isZero();
        }
    }

    @Test
    void aPortWithoutListenerIsReportedInOneLine() {
        for (String[] words :
                new String[][] {{"ping", "--interop", "rping", "localhost:1"}, {"copy-string", "localhost:1", "text"}
                }) {
            Result client = Command.run(words);

            assertThat(client.exitCode()).isEqualTo(1);
            assertThat(client.err().strip().lines()).hasSize(1);
            assertThat(client.err()).doesNotContain("Exception", "\tat ");
        }
    }
}
