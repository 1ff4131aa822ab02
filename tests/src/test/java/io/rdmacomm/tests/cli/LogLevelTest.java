package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.cli.Command.Result;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// `RDMACOMM_LOG_LEVEL`.
class LogLevelTest {
    @Test
    void byDefaultAFailureIsOneLine() throws Exception {
        try (Command command = Command.start("info", "nonsense")) {
            Result result = command.end();

            assertThat(result.exitCode()).isEqualTo(1);
            assertThat(result.err().strip().lines()).hasSize(1);
        }
    }

    @Test
    void levelOneAddsTheStackTrace() throws Exception {
        try (Command command = Command.start(Map.of("RDMACOMM_LOG_LEVEL", "1"), "info", "nonsense")) {
            Result result = command.end();

            assertThat(result.exitCode()).isEqualTo(1);
            assertThat(result.err()).contains("\tat io.rdmacomm.");
        }
    }

    @Tag("slow")
    @Test
    void levelFiveShowsTheLogOfTheLibrary() throws Exception {
        assertThat(logOf("0")).isEmpty();
        assertThat(logOf("nonsense")).isEmpty();
        assertThat(logOf("5")).contains("io.rdmacomm.comm");
    }

    private static String logOf(String level) throws Exception {
        try (Command server =
                Command.start(Map.of("RDMACOMM_LOG_LEVEL", level), "ping", "--server", "--port", "0", "--once")) {
            String port = server.port();
            try (Socket stranger = new Socket("localhost", Integer.parseInt(port))) {
                stranger.getOutputStream().write("what is this?".repeat(100).getBytes(StandardCharsets.US_ASCII));
                stranger.getInputStream().readAllBytes();
            } catch (IOException _) {
                // The server hung up at once, as it should.
            }
            assertThat(Command.run("ping", "localhost:" + port, "--count", "1").exitCode())
                    .isZero();
            return server.end().err();
        }
    }
}
