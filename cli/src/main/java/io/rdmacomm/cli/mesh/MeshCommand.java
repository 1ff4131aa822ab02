package io.rdmacomm.cli.mesh;

import io.rdmacomm.cli.command.ByteSize;
import io.rdmacomm.cli.command.CountText;
import io.rdmacomm.cli.command.DeviceLine;
import io.rdmacomm.cli.command.InputWatch;
import io.rdmacomm.cli.command.JsonOption;
import io.rdmacomm.cli.command.LocalNodes;
import io.rdmacomm.cli.command.MeshWork;
import io.rdmacomm.cli.command.NodeOptions;
import io.rdmacomm.cli.command.ProgressLine;
import io.rdmacomm.cli.command.Range;
import io.rdmacomm.cli.command.SessionFlags;
import io.rdmacomm.cli.command.Subcommand;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import io.rdmacomm.mesh.Mesh;
import io.rdmacomm.mesh.Rendezvous;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `rdmacomm mesh`: traffic between all nodes of a mesh.
@Command(
        name = "mesh",
        description = {
            "Connect N nodes with each other, write from each to each other one, check and measure.",
            "",
            "Each node has a region of memory for each other node. In an iteration each node fills its region at"
                    + " each other node with blocks, several times; then all check what has arrived. Rank 0 prints"
                    + " the report.",
            "If a node dies, all others end within seconds and name it."
        },
        footer = {
            "",
            "Examples:",
            "  rdmacomm mesh --nodes 4                              four processes on this machine",
            "  mpirun -n 4 rdmacomm mesh                            also: srun -n 4, torchrun --no-python",
            "  rdmacomm mesh --hostfile hosts                       on each host of the file",
            "  rdmacomm mesh --rank 1 --size 2 --rendezvous node7   on the second of two hosts"
        })
public final class MeshCommand extends Subcommand {
    private static final long MAX_MEMORY = 64L << 30;

    @Mixin
    private final NodeOptions node = new NodeOptions();

    @Option(
            names = "--depth",
            paramLabel = "N",
            defaultValue = "64",
            description =
                    "Writes in flight to each other node, each with a block of its own (default: ${DEFAULT-VALUE}).")
    @Range(min = 1, max = 16_384)
    private int depth;

    @Option(
            names = "--passes",
            paramLabel = "N",
            defaultValue = "16",
            description = "How often a node writes all its blocks in an iteration (default: ${DEFAULT-VALUE}).")
    @Range(min = 1, max = 65_536)
    private int passes;

    @Option(
            names = "--block",
            paramLabel = "SIZE",
            converter = ByteSize.class,
            defaultValue = "64k",
            description = "The length of a block, 1 to 64m (default: ${DEFAULT-VALUE}).")
    @Range(min = 1, max = 64 << 20)
    private long block;

    @Option(
            names = "--iterations",
            paramLabel = "N",
            description = "Stop after N iterations, instead of a duration. Rank 0 decides.")
    @Range(min = 1)
    private @Nullable Long iterations;

    @Option(
            names = {"-D", "--duration"},
            paramLabel = "SECONDS",
            defaultValue = "2",
            description = "How long to measure, after the warm-up (default: ${DEFAULT-VALUE}). Rank 0 decides.")
    @Range(above = true, max = 86_400)
    private double duration;

    @Option(
            names = "--warmup",
            paramLabel = "SECONDS",
            defaultValue = "3",
            description = "How long the nodes write before they measure, because the JIT compilers of all nodes share"
                    + " the processors (default: ${DEFAULT-VALUE}). With --iterations there is no warm-up.")
    @Range(max = 3600)
    private double warmUp;

    @Option(
            names = "--channels",
            paramLabel = "N",
            defaultValue = "1",
            description = "Data channels between two nodes, 1 to 255 (default: ${DEFAULT-VALUE}).")
    @Range(min = 1, max = 255)
    private int channels;

    @Option(
            names = {"-W", "--timeout"},
            paramLabel = "SECONDS",
            defaultValue = "120",
            description = "How long to wait for the other nodes at each step (default: ${DEFAULT-VALUE}).")
    @Range(min = 0.001, max = 86_400)
    private double timeout;

    @Option(names = "--until-eof", hidden = true, description = "Exit at the end of standard input.")
    private boolean untilEof;

    @Mixin
    private final JsonOption json = new JsonOption();

    @Mixin
    private final SessionFlags flags = new SessionFlags();

    @Override
    public Integer call() throws IOException {
        MeshSettings settings = settings();
        Duration limit = Duration.ofNanos(nanos(timeout));
        SessionOptions options = sessionOptions();
        List<Rendezvous> local = node.local();
        checkMemory(local.getFirst().size());
        json.check();
        if (untilEof) {
            InputWatch.onEnd(() -> System.exit(1));
        }
        Map<Integer, List<String>> others = new LinkedHashMap<>();
        local.stream().skip(1).forEach(other -> others.put(other.rank(), arguments(other)));
        long begin = System.nanoTime();
        try (LocalNodes nodes = LocalNodes.start(others)) {
            Mesh mesh;
            try (ProgressLine line = new ProgressLine(output().err())) {
                line.show("connecting " + CountText.of(local.getFirst().size(), "node") + " ...");
                mesh = MeshWork.join(local.getFirst(), options, limit, nodes);
            }
            run(mesh, local.getFirst(), System.nanoTime() - begin, settings, limit);
        }
        return 0;
    }

    private void run(Mesh mesh, Rendezvous rendezvous, long setupNanos, MeshSettings settings, Duration limit)
            throws IOException {
        boolean reports = mesh.rank() == 0;
        boolean prints = reports && !json.ownsStandardOutput();
        if (prints) {
            output().println("%s, connected after %.1f s; %s"
                    .formatted(
                            NodeOptions.words(mesh.size(), rendezvous),
                            setupNanos / 1e9,
                            DeviceLine.of(mesh.session())));
        }
        MeshReport report;
        try (mesh;
                ProgressLine line = new ProgressLine(output().err())) {
            LongConsumer listener = progress(reports ? line : null, settings);
            report = MeshWork.run(mesh, () -> new MeshTraffic(mesh, settings, limit, listener).run(rendezvous))
                    .withSetupNanos(setupNanos);
            if (reports) {
                json.write(
                        mesh.session().context().device().provider(),
                        report.device().device(),
                        report.toMap(),
                        output());
            }
        }
        if (prints) {
            report.lines().forEach(output()::println);
        }
    }

    private static LongConsumer progress(@Nullable ProgressLine line, MeshSettings settings) {
        if (line == null) {
            return _ -> {};
        }
        String end = settings.iterations() > 0 ? " of " + settings.iterations() : "";
        long warm = System.nanoTime() + (settings.iterations() > 0 ? 0 : settings.warmUpNanos());
        line.show("warming up ...");
        return iteration -> line.show(
                (System.nanoTime() - warm < 0 ? "warming up: " : "measuring: ") + "iteration " + iteration + end);
    }

    /// By default only this thread drives the traffic: with few processors, other threads would get in its way.
    private SessionOptions sessionOptions() {
        SessionOptions options = flags.apply(SessionOptions.defaults()
                .withThreadMode(ThreadMode.CALLER)
                .withWorkMode(WorkMode.ADAPTIVE)
                .withChannels(channels));
        return options.withChannel(options.channel().withSendWindow(depth));
    }

    private List<String> arguments(Rendezvous other) {
        List<String> arguments = new ArrayList<>(List.of("mesh", "--until-eof"));
        arguments.addAll(NodeOptions.arguments(other));
        arguments.addAll(given("--depth", "--passes", "--block", "--channels", "--timeout"));
        arguments.addAll(given("--iterations", "--duration", "--warmup"));
        arguments.addAll(flags.arguments());
        return arguments;
    }

    private MeshSettings settings() {
        long limit = iterations == null ? 0 : iterations;
        return new MeshSettings(depth, passes, block, channels, limit, nanos(warmUp), nanos(duration));
    }

    private static long nanos(double seconds) {
        return (long) (seconds * 1e9);
    }

    private void checkMemory(int size) {
        long bytes = 3L * size * depth * block;
        if (bytes > MAX_MEMORY) {
            throw usage("--depth and --block need " + ByteSize.format(bytes) + " of memory on each node; "
                    + ByteSize.format(MAX_MEMORY) + " are the most");
        }
    }
}
