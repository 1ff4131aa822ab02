package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.cli.Command.Result;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Devices that inject faults, by their names in `--device`.
class FaultDeviceTest {
    @Test
    void pingFailsAsTheRuleSays() throws Exception {
        try (Command server = Command.start("ping", "--server", "--port", "0", "--count", "2")) {
            String peer = "localhost:" + server.port();

            Result failed = Command.run(
                    "ping", peer, "--interval", "0.001", "--device", "fault:soft0?fail=send@2:3:REMOTE_ACCESS_ERROR");
            Result fine = Command.run("ping", peer, "--interval", "0", "--count", "5", "--device", "fault:soft0");

            assertThat(failed.exitCode()).isEqualTo(1);
            assertThat(failed.out()).contains("ping 2:").doesNotContain("ping 3:");
            assertThat(failed.err()).contains("REMOTE_ACCESS_ERROR");
            assertThat(fine.exitCode()).as(fine.err()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "fault:soft0?nonsense",
                "fault:soft0?fail=write:3:NO_SUCH_STATUS",
                "fault:no_such_device",
                "fault:no_such_device?fail=write:3:FLUSHED"
            })
    void aWrongNameIsReportedInOneLine(String device) {
        Result result = Command.run("info", device);

        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err().strip().lines()).hasSize(1);
        assertThat(result.err()).contains("find device");
    }

    @Test
    void infoShowsTheChosenSeed() {
        Result result = Command.run("info", "fault:soft0?delay=any:1%:5ms");

        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out()).containsPattern("fault:soft0\\?delay=any:1%:5ms&seed=\\d+");
    }
}
