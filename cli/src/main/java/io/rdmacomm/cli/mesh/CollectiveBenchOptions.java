package io.rdmacomm.cli.mesh;

import io.rdmacomm.cli.command.ByteSize;
import io.rdmacomm.cli.command.CommandOutput;
import io.rdmacomm.cli.command.DeviceLine;
import io.rdmacomm.cli.command.JsonOption;
import io.rdmacomm.cli.command.LocalNodes;
import io.rdmacomm.cli.command.LostOutput;
import io.rdmacomm.cli.command.MeshWork;
import io.rdmacomm.cli.command.NodeOptions;
import io.rdmacomm.cli.command.ProgressLine;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.mesh.Mesh;
import io.rdmacomm.mesh.Rendezvous;
import io.rdmacomm.mesh.collective.Algorithm;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// The options of `rdmacomm bench` for collectives, which it measures on a mesh. This process is one of the nodes,
/// or starts all of them. Rank 0 reports.
public final class CollectiveBenchOptions {
    private static final Duration TIMEOUT = Duration.ofMinutes(2);

    @Mixin
    private final NodeOptions node = new NodeOptions();

    @Option(names = "--arrays", description = "Collectives on Java arrays instead of mesh buffers.")
    private boolean arrays;

    @Option(
            names = "--algorithm",
            paramLabel = "NAME",
            description =
                    "The algorithm, for collectives that have it: ${COMPLETION-CANDIDATES} (default: chosen by size).")
    private @Nullable Algorithm algorithm;

    /// The collectives among `tests`.
    public static List<CollectiveTest> collectives(List<String> tests) {
        return tests.stream()
                .map(CollectiveTest::named)
                .flatMap(Optional::stream)
                .toList();
    }

    public CollectiveSettings settings(
            List<CollectiveTest> tests, List<Long> sizes, long iterations, long durationNanos, long warmUpNanos) {
        return new CollectiveSettings(tests, sizes, iterations, durationNanos, warmUpNanos, arrays, algorithm, TIMEOUT);
    }

    /// Measures on this node and on those that it starts.
    ///
    /// @param arguments the command's arguments in another process, besides those of the node
    public void run(
            CollectiveSettings settings,
            SessionOptions options,
            List<String> arguments,
            JsonOption json,
            CommandOutput output)
            throws IOException {
        List<Rendezvous> local = node.local();
        Map<Integer, List<String>> others = new LinkedHashMap<>();
        local.stream().skip(1).forEach(other -> others.put(other.rank(), arguments(other, arguments)));
        try (LocalNodes nodes = LocalNodes.start(others);
                Mesh mesh = MeshWork.join(local.getFirst(), options, TIMEOUT, nodes)) {
            boolean reports = mesh.rank() == 0;
            List<CollectiveResult> results = new ArrayList<>();
            try (ProgressLine line = new ProgressLine(output.err())) {
                Table table = new Table(output.out());
                boolean prints = reports && !json.ownsStandardOutput();
                if (prints) {
                    output.println(
                            NodeOptions.words(mesh.size(), local.getFirst()) + "; " + DeviceLine.of(mesh.session()));
                }
                Consumer<CollectiveResult> onResult = result -> {
                    results.add(result);
                    if (prints) {
                        line.clear();
                        table.add(result);
                        LostOutput.check(output.out());
                    }
                };
                var _ = MeshWork.run(mesh, () -> {
                    new CollectiveBench(mesh, settings)
                            .run((test, bytes) -> show(reports ? line : null, test, bytes), onResult);
                    return mesh;
                });
                if (prints) {
                    output.println("time: of the slowest rank, median of 5 rounds; bandwidths as nccl-tests define"
                            + " them; all results verified");
                }
            }
            if (reports) {
                report(mesh, local.getFirst(), settings, results, json, output);
            }
        }
    }

    private static void show(@Nullable ProgressLine line, CollectiveTest test, long bytes) {
        if (line != null) {
            line.show(test.label() + " " + ByteSize.format(bytes));
        }
    }

    private void report(
            Mesh mesh,
            Rendezvous rendezvous,
            CollectiveSettings settings,
            List<CollectiveResult> results,
            JsonOption json,
            CommandOutput output)
            throws IOException {
        DeviceLine device = DeviceLine.of(mesh.session());
        Map<String, Object> members = new LinkedHashMap<>();
        device.addTo(members);
        members.put("nodes", mesh.size());
        members.put("source", rendezvous.source());
        members.put("memory", settings.arrays() ? "arrays" : "mesh buffers");
        members.put("data_verified", true);
        members.put("results", results.stream().map(CollectiveResult::toMap).toList());
        json.write(mesh.session().context().device().provider(), device.device(), members, output);
    }

    private static List<String> arguments(Rendezvous other, List<String> common) {
        List<String> all = new ArrayList<>(common);
        all.addAll(NodeOptions.arguments(other));
        return all;
    }

    /// Prints results for people as they arrive, in the columns of nccl-tests.
    static final class Table {
        private static final String ROW = "%-14s %8s %-20s %10s %12s %13s %13s%n";

        private final PrintWriter out;
        private boolean begun;

        /// Prints to `out`.
        Table(PrintWriter out) {
            this.out = out;
        }

        /// Prints the next result.
        void add(CollectiveResult result) {
            if (!begun) {
                begun = true;
                out.printf(
                        ROW, "collective", "size", "algorithm", "calls", "time [us]", "algbw [GB/s]", "busbw [GB/s]");
            }
            boolean data = result.bytes() > 0;
            out.printf(
                    ROW,
                    result.test().label(),
                    data ? ByteSize.format(result.bytes()) : "-",
                    result.algorithm(),
                    result.iterations(),
                    "%.2f".formatted(result.micros()),
                    data ? "%.3f".formatted(result.algorithmBandwidth()) : "-",
                    data ? "%.3f".formatted(result.busBandwidth()) : "-");
            out.flush();
        }
    }
}
