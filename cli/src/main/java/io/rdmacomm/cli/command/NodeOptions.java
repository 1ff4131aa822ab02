package io.rdmacomm.cli.command;

import io.rdmacomm.mesh.Launcher;
import io.rdmacomm.mesh.Rendezvous;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/// The options that tell which node of a mesh this process is, and where the nodes meet.
public final class NodeOptions {
    private static final int FIRST_PORT = 10_000;
    private static final int LAST_PORT = 16_000;
    private static final int MOST_TRIES = 100;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = {"-N", "--nodes"},
            paramLabel = "N",
            description = "Run all N nodes on this machine, each in its own process.")
    private @Nullable Integer nodes;

    @Option(names = "--rank", paramLabel = "N", description = "The number of this node, from 0.")
    private @Nullable Integer rank;

    @Option(names = "--size", paramLabel = "N", description = "The number of nodes.")
    private @Nullable Integer size;

    @Option(
            names = "--rendezvous",
            paramLabel = "HOST[:PORT]",
            converter = PeerAddress.Converter.class,
            description = "Where the nodes meet: the host of rank 0, and a free port there (default: 2030; with"
                    + " --nodes localhost and any free port). Devices that need rdma_cm, such as iWARP, need an address of"
                    + " their network interface.")
    private @Nullable PeerAddress rendezvous;

    @Option(
            names = "--hostfile",
            paramLabel = "FILE",
            description = "The hosts of the nodes by rank, one per line: HOST, HOST slots=N, or HOST:N. The command is"
                    + " started once on each host, and starts further processes if that host has several slots.")
    private @Nullable Path hostFile;

    @Option(
            names = "--launcher",
            paramLabel = "NAME",
            converter = LauncherName.class,
            description =
                    "The launcher to use if several have set their variables: openmpi, torchrun, slurm or kubernetes"
                            + " (default: the first of these).")
    private @Nullable Launcher launcher;

    @Option(
            names = "--job",
            paramLabel = "NAME",
            description = "Nodes of a job with another name are rejected (default: the launcher's).")
    private @Nullable String job;

    /// The nodes of this process: its own first, and then those for which it starts processes.
    ///
    /// @throws ParameterException if the options contradict each other or a value is wrong
    public List<Rendezvous> local() {
        try {
            List<Rendezvous> found = find();
            return job == null
                    ? found
                    : found.stream().map(node -> node.withJob(job)).toList();
        } catch (IllegalArgumentException e) {
            throw usage(String.valueOf(e.getMessage()));
        }
    }

    private List<Rendezvous> find() {
        if (nodes != null) {
            exclude("--nodes", "--rank", "--size", "--hostfile", "--launcher");
            return onThisHost(nodes);
        }
        if (hostFile != null) {
            exclude("--hostfile", "--size", "--launcher");
            return ofHostFile(hostFile);
        }
        return List.of(rank != null ? given(rank) : launched());
    }

    private List<Rendezvous> onThisHost(int count) {
        PeerAddress where = rendezvous == null ? new PeerAddress("localhost", 0) : rendezvous;
        String host = where.host();
        int port = where.givenPort() == 0 ? freePort() : where.givenPort();
        Rendezvous first = Rendezvous.of(0, count, host, port);
        String unique = "process " + ProcessHandle.current().pid();
        return IntStream.range(0, count)
                .mapToObj(each ->
                        Rendezvous.of(each, first.size(), first.host(), port).withJob(unique))
                .toList();
    }

    /// A free port from a range that neither software devices nor the system choose from.
    private static int freePort() {
        for (int tries = 0; tries < MOST_TRIES; tries++) {
            int port = ThreadLocalRandom.current().nextInt(FIRST_PORT, LAST_PORT + 1);
            try (ServerSocket socket = new ServerSocket(port)) {
                return socket.getLocalPort();
            } catch (IOException e) {
                // It is taken.
            }
        }
        throw new IllegalArgumentException("there is no free port from " + FIRST_PORT + " to " + LAST_PORT
                + ": give --rank, --size and --rendezvous");
    }

    private List<Rendezvous> ofHostFile(Path file) {
        List<Rendezvous> here = Rendezvous.ofHostFile(file, Rendezvous.DEFAULT_PORT);
        if (rank != null) {
            here = here.stream().filter(node -> node.rank() == rank).toList();
            if (here.isEmpty()) {
                throw usage("host file " + file + " gives rank " + rank + " to another host");
            }
        }
        return here.stream().map(this::moved).toList();
    }

    private Rendezvous given(int ownRank) {
        exclude("--rank", "--launcher");
        if (size == null || rendezvous == null) {
            throw usage("--rank needs --size and --rendezvous, or --hostfile");
        }
        return Rendezvous.of(ownRank, size, rendezvous.host(), rendezvous.port(Rendezvous.DEFAULT_PORT));
    }

    private Rendezvous launched() {
        Map<String, String> environment = new HashMap<>(System.getenv());
        if (size != null) {
            environment.put("RDMACOMM_SIZE", size.toString());
        }
        if (launcher == null && Launcher.present(environment).isEmpty()) {
            throw usage("which node is this? Give --nodes for all nodes on this machine, or --rank, --size and"
                    + " --rendezvous, or --hostfile, or start it with mpirun, srun or torchrun");
        }
        Rendezvous found = launcher == null
                ? Rendezvous.ofEnvironment(environment)
                : Rendezvous.ofEnvironment(environment, launcher);
        if (size != null && size != found.size()) {
            throw usage("--size is " + size + ", but " + found.source() + " say " + found.size());
        }
        return moved(found);
    }

    private Rendezvous moved(Rendezvous from) {
        return rendezvous == null ? from : from.at(rendezvous.host(), rendezvous.port(Rendezvous.DEFAULT_PORT));
    }

    private void exclude(String with, String... options) {
        Excludes.check(spec, with, List.of(options));
    }

    private ParameterException usage(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    /// The nodes and how they find each other, for people.
    public static String words(int count, Rendezvous rendezvous) {
        String nodes = CountText.of(count, "node");
        return switch (rendezvous.source()) {
            case "given" -> nodes;
            case String source -> nodes + ", from " + source;
        };
    }

    /// The options for the process of a node.
    public static List<String> arguments(Rendezvous node) {
        PeerAddress at = new PeerAddress(node.host(), node.port());
        return List.of(
                "--rank", "" + node.rank(), "--size", "" + node.size(), "--rendezvous", "" + at, "--job", node.job());
    }

    /// Reads the name of a launcher.
    static final class LauncherName implements ITypeConverter<Launcher> {
        /// For picocli.
        LauncherName() {}

        @Override
        public Launcher convert(String text) {
            for (Launcher launcher : Launcher.values()) {
                if (launcher.toString().replace(" ", "").equalsIgnoreCase(text)) {
                    return launcher;
                }
            }
            throw new TypeConversionException(
                    "'" + text + "' is not a launcher: write openmpi, torchrun, slurm or kubernetes");
        }
    }
}
