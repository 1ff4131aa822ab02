package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.cli.Command.Result;
import io.rdmacomm.tests.fixture.FarNamespace;
import io.rdmacomm.tests.fixture.LeftOut;
import io.rdmacomm.tests.fixture.PortForward;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `rdmacomm mesh` started by real launchers, or with the variables that they set. `.ci/launchers` installs them.
@Tag("slow")
class LaunchersTest {
    private static final String[] NO_OPTIONS = {};
    private static final List<String> TRAFFIC =
            List.of("mesh", "--depth", "4", "--block", "4k", "--iterations", "3", "--timeout", "60");

    @TempDir
    private Path folder;

    private static String[] traffic(String... words) {
        return Stream.concat(TRAFFIC.stream(), Stream.of(words)).toArray(String[]::new);
    }

    /// A missing program is no failure, unless -Drdma.test.require says so, but is never silent either.
    private static void needs(String... programs) {
        for (String program : programs) {
            boolean found = Stream.of("/usr/bin", "/usr/sbin", "/usr/local/bin")
                    .anyMatch(place -> Files.isExecutable(Path.of(place, program)));
            if (!found) {
                boolean required = List.of(
                                System.getProperty("rdma.test.require", "").split(",", -1))
                        .contains("launchers");
                assertThat(required)
                        .as("launchers are required, and there is no %s", program)
                        .isFalse();
                throw LeftOut.because(LaunchersTest.class, "there is no " + program + "; .ci/launchers installs it");
            }
        }
    }

    private static void assertComplete(Result result, int nodes, String source) {
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out())
                .contains(
                        nodes + " nodes, " + (source.isEmpty() ? "connected after" : "from " + source),
                        "every block was checked where it arrived");
        assertThat(result.out().lines().filter(line -> line.contains("Gbit/s"))).hasSize(1);
    }

    /// The environment that each of several processes gets.
    private interface Variables {
        Map<String, String> of(int rank);
    }

    private static void runAll(int nodes, String source, String[] jvmOptions, Variables variables, String... words)
            throws Exception {
        List<Command> others = new ArrayList<>();
        try (Command first = Command.launch(List.of(), jvmOptions, variables.of(0), traffic(words))) {
            for (int rank = 1; rank < nodes; rank++) {
                others.add(Command.launch(List.of(), jvmOptions, variables.of(rank), traffic(words)));
            }
            assertComplete(first.end(), nodes, source);
            for (Command other : others) {
                Result result = other.end();
                assertThat(result.exitCode()).as(result.err()).isZero();
                assertThat(result.out()).isEmpty();
            }
        } finally {
            others.forEach(Command::close);
        }
    }

    @Test
    void mpirunOfOpenMpi() throws Exception {
        needs("mpirun");
        // mpirun takes the argument behind one with "cp" in it, such as a device "tcp0", for the class path of a
        // program
        // that is called java. It leaves env alone.
        List<String> mpirun = List.of("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "4", "env");
        // Without a program for other hosts, mpirun refuses to start at all.
        Map<String, String> environment = Map.of("OMPI_MCA_plm_rsh_agent", "true");
        try (Command all = Command.launch(mpirun, NO_OPTIONS, environment, traffic())) {
            assertComplete(all.end(), 4, "the variables of Open MPI");
        }
    }

    @Test
    void srunOfSlurm() throws Exception {
        needs("srun", "slurmctld", "slurmd", "munged");
        if (ProcessHandle.current().info().user().filter("root"::equals).isEmpty()) {
            throw LeftOut.because(LaunchersTest.class, "only root can run the daemons of Slurm");
        }
        List<String> srun = List.of("srun", "-n", "4", "--overcommit", "--oversubscribe");
        try (SlurmCluster cluster = new SlurmCluster(folder);
                Command all = Command.launch(srun, NO_OPTIONS, cluster.environment(), traffic())) {
            assertComplete(all.end(), 4, "the variables of Slurm");
        }
    }

    /// A socket whose next port is free, too. Both are below the ports that the kernel chooses (ip(7),
    /// ip_local_port_range), so that no other program gets the next one meanwhile.
    private static ServerSocket openStore() throws IOException {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        int first = 20_000 + 2 * (int) (ProcessHandle.current().pid() % 4_000);
        for (int port = first; ; port += 2) {
            try (ServerSocket next = new ServerSocket(port + 1, 1, loopback)) {
                assertThat(next.isBound()).isTrue();
                return new ServerSocket(port, 1, loopback);
            } catch (BindException e) {
                if (port > first + 1_000) {
                    throw e;
                }
            }
        }
    }

    /// torchrun's store listens on MASTER_PORT while its processes run.
    @Test
    void theVariablesOfTorchrun() throws Exception {
        try (ServerSocket store = openStore()) {
            Map<String, String> common = Map.of(
                    "WORLD_SIZE",
                    "3",
                    "MASTER_ADDR",
                    "127.0.0.1",
                    "MASTER_PORT",
                    "" + store.getLocalPort(),
                    "TORCHELASTIC_RUN_ID",
                    "run-" + ProcessHandle.current().pid());
            runAll(3, "the variables of torchrun", NO_OPTIONS, rank -> with(common, "RANK", "" + rank));
        }
    }

    @Test
    void theVariablesOfAnIndexedJobOfKubernetes() throws Exception {
        Path hosts = Files.writeString(folder.resolve("hosts"), "127.0.0.1 train-0.nodes\n");
        Map<String, String> common = Map.of(
                "RDMACOMM_SIZE", "3",
                "RDMACOMM_SERVICE", "nodes",
                "RDMACOMM_PORT", "" + PortForward.freePort());
        String[] names = {"-Djdk.net.hosts.file=" + hosts};
        runAll(
                3,
                "the variables of Kubernetes",
                names,
                rank -> with(with(common, "JOB_COMPLETION_INDEX", "" + rank), "HOSTNAME", "train-" + rank));
    }

    private static Map<String, String> with(Map<String, String> variables, String name, String value) {
        Map<String, String> changed = new HashMap<>(variables);
        changed.put(name, value);
        return changed;
    }

    /// The command is started once, and starts a process for each further slot.
    @Test
    void aHostFileWithSeveralNodesOnThisHost() throws Exception {
        Path hosts = Files.writeString(folder.resolve("hosts"), "localhost slots=2\n127.0.0.1 # a third one\n");
        String place = "localhost:" + PortForward.freePort();
        try (Command all = Command.start(traffic("--hostfile", hosts.toString(), "--rendezvous", place))) {
            assertComplete(all.end(), 3, "host file " + hosts);
        }
    }

    /// Two nodes on each of two hosts. The nodes of the first one find the rendezvous at an address of their own.
    @Test
    void twoNodesOnEachOfTwoHosts() throws Exception {
        FarNamespace far = FarNamespace.orLeaveOut(LaunchersTest.class);
        String place = far.near() + ":" + PortForward.freePort();
        List<Command> others = new ArrayList<>();
        try (Command first = start(List.of(), far.near(), 0, place)) {
            others.add(start(List.of(), far.near(), 1, place));
            others.add(start(far.launcher(), far.far(), 2, place));
            others.add(start(far.launcher(), far.far(), 3, place));
            assertComplete(first.end(), 4, "");
            for (Command other : others) {
                Result result = other.end();
                assertThat(result.exitCode()).as(result.err()).isZero();
            }
        } finally {
            others.forEach(Command::close);
        }
    }

    private Command start(List<String> launcher, String address, int rank, String place) throws IOException {
        Path memory = Files.createDirectories(folder.resolve("memory-" + address));
        String[] options = {"-Drdmacomm.soft.devices=host0=" + address, "-Drdmacomm.soft.directory=" + memory};
        return Command.launch(
                launcher,
                options,
                Map.of(),
                traffic("--rank", "" + rank, "--size", "4", "--rendezvous", place, "--device", "host0"));
    }
}
