package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The commands over the kernel's devices, with the C programs whose protocols they implement, in both directions,
/// and with each other where only a connection manager can connect.
@EnabledIfEnvironmentVariable(named = "LAB", matches = "yes", disabledReason = "it needs rxe0 and siw0: lab/suite lab")
class InteroperationTest {
    private static final String WAIT = "60";

    @ParameterizedTest
    @CsvSource({"4096, 1024", "1, 256", "65536, 1024"})
    void ourClientTalksToTheServerOfIbvRcPingpong(int bytes, int mtu) throws Exception {
        Process server = CProgram.serve(
                "ibv_rc_pingpong -d rxe0 -g 1 -n 50 -c -s " + bytes + " -m " + mtu, "ss -ltn | grep :18515");

        Outcome client = NearCommand.run("ping --interop rc_pingpong -d rxe0 127.0.0.1 --count 50 --check --timeout "
                + WAIT + " --size " + bytes + " --mtu " + mtu);

        client.assertGood();
        assertThat(client.text()).contains(2L * bytes * 50 + " bytes in ", "50 iters in ", "GID ::ffff:10.9.0.1");
        CProgram.assertEndsWell(server);
    }

    @Test
    void ourServerTalksToTheClientOfIbvRcPingpong() throws Exception {
        NearCommand server = NearCommand.serve(
                "ping --interop rc_pingpong -d rxe0 --server --once --count 50 --check --timeout " + WAIT);

        CProgram.assertEndsWell(CProgram.start("ibv_rc_pingpong -d rxe0 -g 1 -n 50 -c 127.0.0.1"));

        server.end().assertGood();
    }

    @ParameterizedTest
    @CsvSource({"uc, 4096, ' -m 1024'", "uc, 1, ' -m 256'", "ud, 1024, ''", "ud, 1, ''"})
    void ourClientTalksToTheServersOfIbvUcPingpongAndIbvUdPingpong(String type, int bytes, String mtu)
            throws Exception {
        Process server = CProgram.serve(
                "ibv_" + type + "_pingpong -d rxe0 -g 1 -n 50 -c -s " + bytes + mtu, "ss -ltn | grep :18515");

        Outcome client = NearCommand.run("ping --interop " + type
                + "_pingpong -d rxe0 127.0.0.1 --count 50 --check --timeout " + WAIT + " --size " + bytes
                + mtu.replace("-m", "--mtu"));

        client.assertGood();
        assertThat(client.text()).contains(2L * bytes * 50 + " bytes in ", "50 iters in ", "GID ::ffff:10.9.0.1");
        CProgram.assertEndsWell(server);
    }

    @ParameterizedTest
    @CsvSource({"uc, 4096", "ud, 1000"})
    void ourServerTalksToTheClientsOfIbvUcPingpongAndIbvUdPingpong(String type, int bytes) throws Exception {
        NearCommand server = NearCommand.serve("ping --interop " + type
                + "_pingpong -d rxe0 --server --once --count 50 --check --size " + bytes + " --timeout " + WAIT);

        CProgram.assertEndsWell(
                CProgram.start("ibv_" + type + "_pingpong -d rxe0 -g 1 -n 50 -c -s " + bytes + " 127.0.0.1"));

        server.end().assertGood();
    }

    @Test
    void ourServerExplainsThatTheCProgramSentNoGid() throws Exception {
        NearCommand server = NearCommand.serve("ping --interop rc_pingpong -d rxe0 --server --once --timeout " + WAIT);

        Process client = CProgram.start("ibv_rc_pingpong -d rxe0 127.0.0.1 2>/dev/null");

        assertThat(client.waitFor(CProgram.TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(client.exitValue()).isNotZero();
        Outcome outcome = server.end();
        assertThat(outcome.exitCode()).isEqualTo(1);
        assertThat(outcome.text()).contains("start ibv_rc_pingpong with -g INDEX");
    }

    @ParameterizedTest
    @CsvSource({"rxe0, 10.9.0.1, 64", "rxe0, 10.9.0.1, 65535", "siw0, 10.8.0.1, 64", "siw0, 10.8.0.1, 65535"})
    void ourClientTalksToTheServerOfRping(String device, String address, int bytes) throws Exception {
        Process server = CProgram.serve(
                "rping -s -a " + address + " -S " + bytes + " -C 5 -V", "rdma resource show cm_id | grep LISTEN");

        Outcome client = NearCommand.run("ping --interop rping -d " + device + " " + address + " --count 5 --size "
                + bytes + " --timeout " + WAIT);

        client.assertGood();
        assertThat(client.text()).contains("5 pings, all correct");
        CProgram.assertEndsWell(server);
    }

    @ParameterizedTest
    @CsvSource({"rxe0, 10.9.0.1, 64", "rxe0, 10.9.0.1, 65535", "siw0, 10.8.0.1, 64", "siw0, 10.8.0.1, 65535"})
    void ourServerTalksToTheClientOfRping(String device, String address, int bytes) throws Exception {
        NearCommand server = NearCommand.serve("ping --interop rping -d " + device + " --bind " + address
                + " --server --once --verbose --timeout " + WAIT);

        CProgram.assertEndsWell(CProgram.start("rping -c -a " + address + " -S " + bytes + " -C 5 -V"));

        Outcome outcome = server.end();
        outcome.assertGood();
        assertThat(outcome.text())
                .contains("server ping data: rdma-ping-0: ABCDEFGHIJ", "rdma-ping-4: EFGHIJ", ": 5 pings served");
    }

    @ParameterizedTest
    @CsvSource({"rxe0, 10.9.0.1", "siw0, 10.8.0.1"})
    void aStringIsCopiedThereAndBack(String device, String address) throws Exception {
        NearCommand server = NearCommand.serve(
                "copy-string -d " + device + " --bind " + address + " --server --once --timeout " + WAIT);

        Outcome client = NearCommand.run("copy-string -d " + device + " " + address + " textstring --timeout " + WAIT);

        client.assertGood();
        assertThat(client.text()).contains("SUCCESS, source and destination buffers match");
        Outcome outcome = server.end();
        outcome.assertGood();
        assertThat(outcome.text()).contains("10 bytes copied: \"textstring\"");
    }

    /// On siw because nothing else works there, on rxe because an option selects it.
    @ParameterizedTest
    @CsvSource({"siw0, 10.8.0.1, --retry=7", "rxe0, 10.9.0.1, --rdma-cm"})
    void sessionsRunOverTheConnectionManager(String device, String address, String option) throws Exception {
        NearCommand server = NearCommand.serve("ping -d " + device + " --bind " + address
                + " --server --once --port 0 --timeout " + WAIT + " " + option);
        String port = server.port();

        Outcome client = NearCommand.run("ping -d " + device + " " + address + ":" + port
                + " --count 20 --size 20000 --interval 0 --timeout " + WAIT + " " + option);

        client.assertGood();
        assertThat(client.text()).contains("20 pings, all correct");
        Outcome outcome = server.end();
        outcome.assertGood();
        assertThat(outcome.text()).contains("20 pings answered").doesNotContain("failed");
    }

    @Test
    void filesAreCopiedOverSiw(@TempDir Path from, @TempDir Path to) throws Exception {
        byte[] content = new byte[3_000_000];
        new Random(7).nextBytes(content);
        Path file = Files.write(from.resolve("file"), content);
        NearCommand server =
                NearCommand.serve("recv -d siw0 --bind 10.8.0.1 --once --port 0 --set-up-timeout 60 --dir " + to);
        String port = server.port();

        Outcome client = NearCommand.run("send -d siw0 --set-up-timeout 60 " + file + " 10.8.0.1:" + port);

        client.assertGood();
        server.end().assertGood();
        assertThat(Arrays.equals(Files.readAllBytes(to.resolve("file")), content))
                .isTrue();
    }
}
