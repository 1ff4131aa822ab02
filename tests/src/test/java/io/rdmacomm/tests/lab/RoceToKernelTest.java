package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.cli.RdmaCommand;
import java.io.IOException;
import org.junit.jupiter.api.Test;
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
    private static final String PING = "ping --interop rc_pingpong -d roce0 --count 50 --check --timeout 60";

    private static HeardProcess far(String words) throws IOException {
        return FarProcess.start(DEVICES, RdmaCommand.class, words.split(" ", -1));
    }

    @ParameterizedTest
    @CsvSource({"4096, 1024", "1, 256", "65537, 1024", "100000, 512"})
    void theClientTalksToTheServerOfIbvRcPingpong(int bytes, int mtu) throws Exception {
        Process server = CProgram.serve("ibv_rc_pingpong -d rxe0 -g 1 -n 50 -c -s " + bytes + " -m " + mtu, LISTENS);

        try (HeardProcess client = far(PING + " " + KERNEL + " --size " + bytes + " --mtu " + mtu)) {
            Outcome outcome = client.end();
            outcome.assertGood();
            assertThat(outcome.text()).contains(2L * bytes * 50 + " bytes in ", "50 iters in ", "GID ::ffff:10.9.0.2");
        }
        CProgram.assertEndsWell(server);
    }

    @Test
    void theServerTalksToTheClientOfIbvRcPingpong() throws Exception {
        try (HeardProcess server = far(PING + " --server --once").listening()) {
            CProgram.assertEndsWell(CProgram.start("ibv_rc_pingpong -d rxe0 -g 1 -n 50 -c 10.9.0.2"));

            server.end().assertGood();
        }
    }
}
