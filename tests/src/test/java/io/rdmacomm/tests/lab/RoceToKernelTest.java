package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.cli.RdmaCommand;
import java.io.IOException;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The software device with RoCE v2 packets on one host and the kernel's rxe on another: `roce0` in the network
/// namespace `far`, `rxe0` here, and a cable between them.
@EnabledIfEnvironmentVariable(named = "LAB", matches = "yes", disabledReason = "it needs rxe0: lab/suite lab")
class RoceToKernelTest {
    private static final String KERNEL = "10.9.0.1";
    private static final String DEVICES = "roce0=10.9.0.2?transport=roce";
    private static final String LISTENS = "ss -ltn | grep :18515";
    private static final int COUNT = 50;

    private static HeardProcess far(String words) throws IOException {
        return FarProcess.start(DEVICES, RdmaCommand.class, words.split(" ", -1));
    }

    /// Our command with the options of `ibv_rc_pingpong` (rc) or `ibv_uc_pingpong` (uc), which checks each message.
    private static String ping(String type) {
        return "ping --interop " + type + "_pingpong -d roce0 --check --timeout 60 --count " + COUNT;
    }

    private static String kernel(String type) {
        return "ibv_" + type + "_pingpong -d rxe0 -g 1 -c -n " + COUNT;
    }

    @ParameterizedTest
    @CsvSource({
        "rc, 4096, 1024",
        "rc, 1, 256",
        "rc, 65537, 1024",
        "rc, 100000, 512",
        "uc, 4096, 1024",
        "uc, 1, 256",
        "uc, 65537, 1024"
    })
    void theClientTalksToTheServerOfTheCProgram(String type, int bytes, int mtu) throws Exception {
        Process server = CProgram.serve(kernel(type) + " -s " + bytes + " -m " + mtu, LISTENS);

        try (HeardProcess client = far(ping(type) + " " + KERNEL + " --size " + bytes + " --mtu " + mtu)) {
            Outcome outcome = client.end();
            outcome.assertGood();
            assertThat(outcome.text())
                    .contains(2L * bytes * COUNT + " bytes in ", COUNT + " iters in ", "GID ::ffff:10.9.0.2");
        }
        CProgram.assertEndsWell(server);
    }

    @ParameterizedTest
    @CsvSource({"rc, 4096", "uc, 4096", "uc, 50001"})
    void theServerTalksToTheClientOfTheCProgram(String type, int bytes) throws Exception {
        try (HeardProcess server =
                far(ping(type) + " --server --once --size " + bytes).listening()) {
            CProgram.assertEndsWell(CProgram.start(kernel(type) + " -s " + bytes + " 10.9.0.2"));

            server.end().assertGood();
        }
    }
}
