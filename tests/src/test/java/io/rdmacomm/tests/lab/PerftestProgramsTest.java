package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// `bench --interop` with the programs of perftest on `rxe0`, as client and as server: with the software
/// device in the network namespace `far`, and with libibverbs here.
@Tag("slow")
@EnabledIfEnvironmentVariable(named = "LAB", matches = "yes", disabledReason = "it needs rxe0: lab/suite lab")
class PerftestProgramsTest {
    static final int PORT = 18_515;
    private static final int COUNT = 50;
    private static final String KERNEL = "10.9.0.1";
    private static final String ADDRESS = "10.9.0.2";
    private static final String DEVICES = "roce0=" + ADDRESS + "?transport=roce";
    /// The processor of the lab is emulated: an acknowledgement may take longer than half a second.
    private static final int ACK_TIMEOUT = 18;

    private static final String OPTIONS = " --timeout 60 --qp-timeout " + ACK_TIMEOUT + " -n " + COUNT;
    private static final String LATENCIES = "ib_send_lat ib_write_lat ib_read_lat ib_atomic_lat";
    private static final String BANDWIDTHS = "ib_send_bw ib_write_bw ib_read_bw ib_atomic_bw";

    /// A message of several packets where throughput is measured; atomics have a size of their own.
    static String size(String program) {
        return program.contains("atomic") ? "" : program.endsWith("_lat") ? " -s 100" : " -s 20000";
    }

    private static String kernel(String program, int port) {
        return program + " -d rxe0 -u " + ACK_TIMEOUT + " -n " + COUNT + size(program) + " -p " + port + " >/dev/null";
    }

    private static HeardProcess far(String words, List<String> programs) throws Exception {
        List<String> all = new ArrayList<>(List.of((words + OPTIONS + " --").split(" ", -1)));
        all.addAll(programs);
        return FarProcess.start(DEVICES, FarBench.class, all.toArray(String[]::new));
    }

    private static String listens(int ports) {
        return "test $(ss -ltn | grep -c ':1851[5-9]') = " + ports;
    }

    private static String rows(List<String> programs) {
        return programs.getFirst().endsWith("_lat") ? "t_typical" : "BW average";
    }

    // ---- The software device ----

    @ParameterizedTest
    @ValueSource(strings = {LATENCIES, BANDWIDTHS})
    void ourClientsTalkToTheServersOfPerftest(String names) throws Exception {
        List<String> programs = List.of(names.split(" ", -1));
        List<Process> servers = new ArrayList<>();
        for (String program : programs) {
            servers.add(CProgram.serve(
                    kernel(program, PORT + servers.size()), 2 * CProgram.TIMEOUT_SECONDS, listens(servers.size() + 1)));
        }

        try (HeardProcess clients = far("-d roce0 " + KERNEL, programs)) {
            Outcome outcome = clients.end();
            outcome.assertGood();
            assertThat(outcome.text().split(rows(programs), -1)).hasSize(programs.size() + 1);
        }
        for (Process server : servers) {
            CProgram.assertEndsWell(server);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {LATENCIES, BANDWIDTHS})
    void ourServersTalkToTheClientsOfPerftest(String names) throws Exception {
        List<String> programs = List.of(names.split(" ", -1));
        try (HeardProcess servers = far("-d roce0 --server --once", programs)) {
            for (int i = 0; i < programs.size(); i++) {
                servers.said("listening on port " + (PORT + i));
                CProgram.assertEndsWell(CProgram.start(kernel(programs.get(i), PORT + i) + " " + ADDRESS));
            }

            servers.end().assertGood();
        }
    }

    // ---- libibverbs ----

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ib_send_lat",
                "ib_write_lat",
                "ib_read_lat",
                "ib_atomic_lat",
                "ib_send_bw",
                "ib_write_bw",
                "ib_read_bw",
                "ib_atomic_bw"
            })
    void libibverbsTalksToPerftest(String program) throws Exception {
        String words = "bench --interop " + program + " -d rxe0" + OPTIONS + size(program);
        Process server = CProgram.serve(kernel(program, PORT), listens(1));
        Outcome client = NearCommand.run(words + " " + KERNEL);
        client.assertGood();
        assertThat(client.text()).contains("#iterations", " " + COUNT + " ");
        CProgram.assertEndsWell(server);

        NearCommand ours = NearCommand.serve(words + " --server --once");
        CProgram.assertEndsWell(CProgram.start(kernel(program, PORT) + " " + KERNEL));
        ours.end().assertGood();
    }

    // ---- Ends that differ ----

    @Test
    void aCProgramThatFailsIsReported() throws Exception {
        NearCommand server = NearCommand.serve("bench --interop ib_write_bw -d rxe0 --server --once -s 1000" + OPTIONS);

        Process client = CProgram.start("ib_write_bw -d rxe0 -n 50 -s 8192 " + KERNEL + " 2>/dev/null");

        assertThat(client.waitFor(CProgram.TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(client.exitValue()).isNotZero();
        Outcome outcome = server.end();
        assertThat(outcome.exitCode()).isEqualTo(1);
        assertThat(outcome.text()).contains("closed the connection before it sent its word that the test is over");
    }
}
