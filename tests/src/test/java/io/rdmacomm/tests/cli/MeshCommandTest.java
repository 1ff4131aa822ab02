package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.rdmacomm.tests.cli.Command.Result;
import io.rdmacomm.tests.fixture.PortForward;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// `rdmacomm mesh`: its report, its failures and its mistakes. [LaunchersTest] has the ways to start it.
class MeshCommandTest {
    @Test
    void severalProcessesOnThisMachineMakeOneReport(@TempDir Path folder) throws Exception {
        Path json = folder.resolve("out.json");

        Result result = Command.run(
                "mesh",
                "--nodes",
                "3",
                "--depth",
                "5",
                "--passes",
                "3",
                "--block",
                "1000",
                "--iterations",
                "4",
                "--channels",
                "2",
                "--json",
                json.toString());

        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.err()).isEmpty();
        assertThat(result.out())
                .contains(
                        "3 nodes, connected after",
                        "each node writes 5 blocks of 1000 B to each other node, 3 times",
                        "4 iterations, 351.6 KiB written");
        Map<String, Object> document = JSON.std.mapFrom(Files.readString(json));
        assertThat(document)
                .containsEntry("nodes", 3)
                .containsEntry("iterations", 4)
                .containsEntry("bytes", 3 * 2 * 4 * 3 * 5 * 1000)
                .containsEntry("writes", 3 * 2 * 4 * 3 * 5)
                .containsEntry("data_verified", true);
        List<?> pairs = (List<?>) document.get("pairs");
        assertThat(pairs.stream().map(pair -> ((Map<?, ?>) pair).get("from") + ">" + ((Map<?, ?>) pair).get("to")))
                .containsExactly("0>1", "0>2", "1>0", "1>2", "2>0", "2>1");
        assertThat(pairs)
                .allSatisfy(pair -> assertThat(((Map<?, ?>) pair).get("bytes")).isEqualTo(4 * 3 * 5 * 1000));
    }

    @Test
    void allNodesTakeTheModes() {
        Result result = Command.run(
                "mesh",
                "--nodes",
                "2",
                "--iterations",
                "3",
                "--work-mode",
                "completion-channel",
                "--thread-mode",
                "shared-cq");

        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out()).contains("2 nodes, connected after");
    }

    @Test
    void aMeshOfOneNodeEndsAtOnce() {
        Result result = Command.run("mesh", "--nodes", "1", "--iterations", "1", "--json", "-");

        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out()).startsWith("{").contains("\"nodes\" : 1", "\"pairs\" : [ ]");
    }

    @Test
    @Tag("slow")
    void aKilledNodeEndsAllOthersWithALineThatNamesIt() throws Exception {
        String place = "127.0.0.1:" + PortForward.freePort();
        List<Command> nodes = new ArrayList<>();
        try {
            for (int rank = 0; rank < 4; rank++) {
                nodes.add(Command.start(
                        "mesh", "--rank", "" + rank, "--size", "4", "--rendezvous", place, "--duration", "600"));
            }
            nodes.getFirst().awaitLine("4 nodes, connected after");

            nodes.remove(2).kill();

            for (Command node : nodes) {
                Result result = node.end();
                assertThat(result.exitCode()).isEqualTo(1);
                assertThat(result.err()).contains("the mesh has lost rank 2");
                assertThat(result.err().lines().filter(line -> line.startsWith("rdmacomm")))
                        .hasSize(1);
            }
        } finally {
            nodes.forEach(Command::close);
        }
    }

    /// An iteration takes longer here than warm-up and measurement are to take.
    @Test
    @Tag("slow")
    void oneIterationCountsHoweverLongItTakes() throws Exception {
        Result result = Command.run(words("mesh --nodes 2 --warmup 0.001 --duration 0.001 --block 1m --passes 64"));

        assertThat(result.err()).isEmpty();
        assertThat(result.out()).containsPattern("(?m)^[1-9][0-9]* iterations?, .*GiB written");
    }

    @Test
    void nodesOfThisMachineMeetWhereTheyAreTold() throws Exception {
        Result result = Command.run(words("mesh --nodes 2 --iterations 2 --rendezvous 127.0.0.2"));

        assertThat(result.err()).isEmpty();
        assertThat(result.out()).contains("2 nodes, connected after");
    }

    @Test
    @Tag("slow")
    void aKilledProcessOfThisMachineEndsTheCommand() throws Exception {
        try (Command all = Command.start("mesh", "--nodes", "3", "--duration", "600")) {
            all.awaitLine("3 nodes, connected after");

            all.awaitChild().destroyForcibly();

            Result result = all.end();
            assertThat(result.exitCode()).isEqualTo(1);
            assertThat(result.err()).containsPattern("the mesh has lost rank [12]");
        }
    }

    /// The processes of the other nodes end with the one that has started them.
    @Test
    @Tag("slow")
    void theOtherProcessesEndWithTheFirst() throws Exception {
        try (Command all = Command.start("mesh", "--nodes", "2", "--duration", "600")) {
            all.awaitLine("2 nodes, connected after");
            ProcessHandle child = all.awaitChild();

            all.kill();

            child.onExit().join();
            assertThat(child.isAlive()).isFalse();
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "|which node is this?",
                "--nodes 0|size of the mesh is 0, must be 1 to 512",
                "--nodes 2 --rank 1|--rank cannot be combined with --nodes",
                "--nodes 2 --hostfile x|--hostfile cannot be combined with --nodes",
                "--rank 1|--rank needs --size and --rendezvous",
                "--rank 0 --size 0 --rendezvous localhost|size of the mesh is 0",
                "--rank 2 --size 2 --rendezvous localhost|rank of the mesh is 2, must be 0 to 1",
                "--rank 0 --size 2 --rendezvous localhost:0|is not a valid address",
                "--hostfile /no/such/file|host file /no/such/file does not exist",
                "--launcher slurm|SLURM_NTASKS is not set",
                "--launcher pbs|is not a launcher: write openmpi, torchrun, slurm or kubernetes",
                "--nodes 2 --depth 0|--depth 0 is out of range",
                "--nodes 2 --passes 0|--passes 0 is out of range",
                "--nodes 2 --block 65m|--block 65 MiB is out of range: it can be 1 B to 64 MiB",
                "--nodes 2 --channels 256|--channels 256 is out of range",
                "--nodes 2 --iterations 0|--iterations 0 is out of range",
                "--nodes 2 --duration -1|--duration -1 is out of range",
                "--nodes 2 --timeout 0|--timeout 0 is out of range",
                "--nodes 512 --depth 16384 --block 64m|of memory on each node"
            })
    void wrongUsageIsReportedInOneLine(String line, String words) {
        Result result = Command.run(words("mesh " + (line == null ? "" : line)));

        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).contains(words, "see rdmacomm mesh --help");
        assertThat(result.err().lines()).hasSize(1);
    }

    private static String[] words(String line) {
        return line.strip().split(" +", -1);
    }

    @Test
    void anUnknownHostAMissingDeviceAndAbsentNodesAreReportedInOneLine() {
        for (String[] each : new String[][] {
            {"--rank 1 --size 2 --rendezvous no-such-host.invalid", "host 'no-such-host.invalid' is unknown"},
            {"--nodes 2 --device nosuch0", "find device 'nosuch0' failed"},
            {"--rank 0 --size 3 --timeout 0.3 --rendezvous localhost:" + PortForward.freePort(), "missing: ranks 1, 2"}
        }) {
            Result result = Command.run(words("mesh " + each[0]));

            assertThat(result.exitCode()).isEqualTo(1);
            assertThat(result.err()).contains(each[1]);
            assertThat(result.err().lines()).hasSize(1);
        }
    }

    @Test
    void aHostFileWithoutThisHostIsReportedInOneLine(@TempDir Path folder) throws Exception {
        Path hosts = Files.writeString(folder.resolve("hosts"), "10.255.255.1\n10.255.255.2\n");

        Result result = Command.run("mesh", "--hostfile", hosts.toString());

        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).contains("does not name this host");
        assertThat(result.err().lines()).hasSize(1);
    }

    @Test
    void helpHasExamplesForLaunchers() {
        assertThat(Command.run("mesh", "--help").out())
                .contains("rdmacomm mesh --nodes 4", "mpirun -n 4 rdmacomm mesh", "srun", "torchrun", "--hostfile");
    }
}
