package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.bench.trial.BenchServer;
import io.rdmacomm.cli.bench.trial.BenchSettings;
import io.rdmacomm.cli.bench.trial.MachineLoad;
import io.rdmacomm.cli.bench.trial.Modes;
import io.rdmacomm.cli.bench.trial.Result;
import io.rdmacomm.cli.command.ChildServer;
import io.rdmacomm.cli.command.CloseOnExit;
import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.InputWatch;
import io.rdmacomm.cli.command.JsonOption;
import io.rdmacomm.cli.command.ListenOptions;
import io.rdmacomm.cli.command.PeerAddress;
import io.rdmacomm.cli.command.PeerOptions;
import io.rdmacomm.cli.command.Placement;
import io.rdmacomm.cli.command.ProgressLine;
import io.rdmacomm.cli.command.Range;
import io.rdmacomm.cli.command.ResultFile;
import io.rdmacomm.cli.command.SessionFlags;
import io.rdmacomm.cli.command.Subcommand;
import io.rdmacomm.cli.interop.PerftestProgram;
import io.rdmacomm.cli.interop.PerftestSettings;
import io.rdmacomm.cli.mesh.CollectiveBenchOptions;
import io.rdmacomm.cli.mesh.CollectiveTest;
import io.rdmacomm.cli.report.Rounds;
import io.rdmacomm.comm.Deadlines;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import io.rdmacomm.verbs.RdmaException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `rdmacomm bench`: latency and bandwidth of all operations.
@Command(
        name = "bench",
        description = {
            "Measure latency and bandwidth.",
            "",
            "Without HOST and --server, both sides run on this machine, in two processes.",
            "Tests: send_lat write_lat read_lat atomic_lat send_bw write_bw write_bw_ring read_bw, and if named"
                    + " view_lat, request_lat, socket_lat, socket_request_lat and socket_bw.",
            "The latency of send, write and view is half a round trip; that of read, atomic and request is a full one.",
            "The tests poll in their own loops. With --work-mode or --thread-mode, send_lat, read_lat and atomic_lat"
                    + " use blocking calls instead, which wait in these modes on both sides; the other tests cannot."
                    + " request_lat is a request of 8 bytes and its answer, always in blocking calls; its default modes"
                    + " are completion-channel and caller, in which both ends sleep.",
            "socket_lat, socket_request_lat and socket_bw use sockets over RDMA as a Java program has them (java.nio),"
                    + " each in turn with the same over plain TCP (tcp_lat, tcp_request_lat, tcp_bw). The calls of"
                    + " socket_lat do not block; those of socket_request_lat do, so both ends sleep.",
            "",
            "With --interop, the other end is a C program of perftest, such as ib_write_bw.",
            "",
            "Collectives: barrier broadcast reduce allreduce allgather reducescatter alltoall.",
            "They run on a mesh: --nodes starts all nodes on this machine; --rank, --hostfile, mpirun, srun or torchrun"
                    + " start them anywhere. Rank 0 prints the columns of nccl-tests."
        },
        footer = {
            "",
            "Examples:",
            "  rdmacomm bench                                       everything, briefly, on this machine",
            "  rdmacomm bench --all --report out.html               charts of all sizes, for a browser",
            "  rdmacomm bench --rounds 5 --json new.json --baseline old.json   what has changed since an earlier run",
            "  rdmacomm bench --all --json out.json                 every size from 1 byte to 8 MiB",
            "  rdmacomm bench --tests write_lat --sizes 8,4k        one test",
            "  rdmacomm bench --tests send_lat --work-mode epoll    messages to a receiver that sleeps",
            "  rdmacomm bench --tests request_lat                   round trips, in modes that sleep",
            "  rdmacomm bench --tests socket_lat,socket_bw          sockets over RDMA, and plain TCP",
            "  rdmacomm bench --transport ud                        datagrams, and how many of them are lost",
            "  rdmacomm bench --matrix                              every work mode and thread mode",
            "  rdmacomm bench --device siw0 --bind 10.8.0.1         a device that is reachable only at its own address",
            "  rdmacomm bench --server                              on one machine, and on another:",
            "  rdmacomm bench node7 --tests write_bw --duration 5",
            "  rdmacomm bench --interop ib_write_bw node7           where `ib_write_bw` runs",
            "  rdmacomm bench --interop ib_send_lat --server        for `ib_send_lat node7` on another machine",
            "  rdmacomm bench --tests allreduce,barrier --nodes 4   collectives of four processes on this machine",
            "  mpirun -n 4 rdmacomm bench --tests allgather --all   from 8 bytes to 64 MiB"
        })
public final class BenchCommand extends Subcommand {
    // On a slow machine, a new server can be too busy to answer at once.
    private static final Duration HANDSHAKE = Duration.ofSeconds(30);

    @Mixin
    private final PeerOptions peer = new PeerOptions();

    @Option(names = "--until-eof", hidden = true, description = "Exit at the end of standard input.")
    private boolean untilEof;

    @Mixin
    private final BenchOptions tests = new BenchOptions();

    @Option(names = "--csv", paramLabel = "FILE", description = "Write the results to FILE as comma-separated values.")
    private @Nullable Path csv;

    @Option(
            names = "--histograms",
            paramLabel = "FILE",
            description = "Write the histogram of each latency test to FILE, as a log of HdrHistogram.")
    private @Nullable Path histograms;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "1",
            description =
                    "Measure N times, each time in new processes; report the median round and the range. --baseline"
                            + " needs 5 on both sides to tell a change from noise (default: ${DEFAULT-VALUE}).")
    @Range(min = 1, max = 100)
    private int rounds;

    @Option(
            names = "--no-pin",
            description =
                    "Without HOST: let the kernel choose the processors of both sides, instead of giving each side"
                            + " half of them with taskset.")
    private boolean noPin;

    @Mixin
    private final PerftestOptions interop = new PerftestOptions();

    @Mixin
    private final JsonOption json = new JsonOption();

    @Mixin
    private final ReportOptions presentation = new ReportOptions();

    @Mixin
    private final CollectiveBenchOptions collective = new CollectiveBenchOptions();

    @Mixin
    private final ListenOptions listen = new ListenOptions();

    @Mixin
    private final SessionFlags flags = new SessionFlags();

    private MachineLoad load = MachineLoad.UNKNOWN;

    @Override
    public Integer call() throws IOException, InterruptedException {
        peer.check();
        PerftestProgram program = interop.program();
        if (program != null) {
            interoperate(program);
            return 0;
        }
        // Only the two sides themselves drive the work: on two processors, a third thread would get in the way.
        SessionOptions options = flags.device()
                .apply(SessionOptions.defaults()
                        .withThreadMode(ThreadMode.CALLER)
                        .withWorkMode(WorkMode.ADAPTIVE)
                        .withDeadlines(Deadlines.defaults().withHandshake(HANDSHAKE)));
        List<CollectiveTest> collectives = tests.collectives();
        tests.check(!collectives.isEmpty());
        if (!collectives.isEmpty()) {
            measureCollectives(collectives, options);
            return 0;
        }
        if (peer.isServer()) {
            exclude("--server", "--report", "--baseline", "--rounds", "--histograms");
            flags.modes().exclude("--server, which uses the modes that its client asks for");
            serve(options);
            return 0;
        }
        BenchSettings settings = settings(options);
        load = MachineLoad.now();
        PeerAddress address = peer.address();
        if (rounds > 1) {
            exclude("--rounds, which measures in other processes", "--histograms");
            measureInRounds();
        } else if (address != null) {
            measure(
                    settings,
                    options.withAddress(address.host(), address.port(listen.port())),
                    Placement.none("another host"));
        } else {
            measureLocally(settings, options);
        }
        return 0;
    }

    private void interoperate(PerftestProgram program) throws IOException, InterruptedException {
        flags.exclude("--interop, which uses no session");
        json.check();
        PeerAddress address = peer.address();
        InteropBench bench = new InteropBench(
                tests.settings(program, flags.device().connection(), interop.timeout(peer.isServer())),
                flags.device(),
                output());
        if (peer.isServer()) {
            bench.serve(listen, peer.isOnce());
        } else if (address != null) {
            bench.measure(address.host(), address.port(listen.port(PerftestSettings.PORT)), json);
        } else {
            throw usage("HOST is missing: name the machine where " + program.label() + " runs, or localhost");
        }
    }

    private void measureInRounds() throws IOException {
        List<String> arguments = new ArrayList<>(List.of("bench"));
        arguments.addAll(originalArguments());
        Rounds all;
        try (ProgressLine progress = new ProgressLine(output().err())) {
            all = new BenchRounds(arguments, rounds).run(progress);
        }
        Map<String, Object> members = all.toMap();
        members.put("load", load.toMap());
        // Replace the environment by that of this process, with the provider and the device of the rounds.
        members.remove("schema");
        Map<?, ?> environment = (Map<?, ?>) Objects.requireNonNull(members.remove("environment"));
        Map<String, Object> document = JsonOption.document(
                String.valueOf(environment.get("provider")), String.valueOf(environment.get("device")), members);
        if (!json.ownsStandardOutput()) {
            output().println(all.table().text().stripTrailing());
            BenchOutput.load(load).ifPresent(output()::println);
        }
        if (csv != null) {
            CsvFile.write(csv, all.results());
        }
        json.write(document, output());
        presentation.present(document, json.ownsStandardOutput(), output());
    }

    private void measureCollectives(List<CollectiveTest> collectives, SessionOptions options) throws IOException {
        if (peer.isServer() || peer.address() != null) {
            throw usage("collectives have no server; --nodes or a launcher starts all of their nodes");
        }
        exclude("collectives", "--report", "--baseline", "--matrix", "--histograms");
        json.check();
        if (untilEof) {
            InputWatch.onEnd(() -> System.exit(1));
        }
        List<String> arguments = new ArrayList<>(List.of("bench", "--until-eof"));
        arguments.addAll(given("--tests", "--sizes", "--all", "--iterations", "--duration", "--warmup"));
        arguments.addAll(given("--arrays", "--algorithm"));
        arguments.addAll(flags.arguments());
        collective.run(
                tests.collectiveSettings(collectives, collective),
                flags.modes()
                        .apply(options)
                        .withHost(listen.isBound() ? listen.bind() : "")
                        .withPort(0),
                arguments,
                json,
                output());
    }

    /// Measures between this process and a second one.
    private void measureLocally(BenchSettings settings, SessionOptions options) throws IOException {
        try (ChildServer child = ChildServer.start(childArguments())) {
            try (Placement placement = place(child)) {
                measure(settings, options.withAddress(localAddress(), child.port()), placement);
            } catch (RdmaException | CommandFailure e) {
                throw child.explain(e);
            }
        }
    }

    /// With `--matrix` there are more threads than ends, so the kernel places them.
    private Placement place(ChildServer child) {
        if (noPin || tests.isMatrix()) {
            return Placement.none(noPin ? "--no-pin" : "--matrix");
        }
        return Placement.apart(child.process());
    }

    private List<String> childArguments() {
        List<String> arguments =
                new ArrayList<>(List.of("bench", "--server", "--until-eof", "--bind", localAddress(), "--port", "0"));
        arguments.addAll(flags.device().arguments());
        return arguments;
    }

    /// The address at which both sides meet on this machine. A device that connects only through the connection
    /// manager needs its own address.
    private String localAddress() {
        return listen.isBound() ? listen.bind() : "localhost";
    }

    private void serve(SessionOptions options) {
        try (BenchServer server = new BenchServer(listen.apply(options), output());
                CloseOnExit _ = new CloseOnExit(server::close)) {
            output().println(listen.line(server.port(), options));
            if (untilEof) {
                InputWatch.onEnd(server::close);
            }
            server.run(peer.isOnce());
        }
    }

    /// Checks the options and returns the settings of the measurement.
    private BenchSettings settings(SessionOptions defaults) throws IOException {
        json.check();
        BenchSettings settings = tests.settings(modes(defaults));
        presentation.check();
        if (csv != null) {
            ResultFile.check(csv);
        }
        if (histograms != null) {
            ResultFile.check(histograms);
        }
        return settings;
    }

    private @Nullable Modes modes(SessionOptions defaults) {
        SessionOptions chosen = flags.modes().apply(defaults);
        ThreadMode thread = chosen.threadMode();
        return flags.modes().areGiven() && thread != null ? new Modes(chosen.workMode(), thread) : null;
    }

    private void measure(BenchSettings settings, SessionOptions options, Placement placement) throws IOException {
        BenchReport report;
        try (BenchOutput progress = new BenchOutput(output(), json.ownsStandardOutput(), settings)) {
            progress.onPlacement(placement, load);
            report = new Benchmark(options, settings, progress).run();
            progress.end(report);
        }
        if (csv != null) {
            CsvFile.write(csv, report.results().stream().map(Result::toMap).toList());
        }
        if (histograms != null) {
            HistogramFile.write(histograms, report.results());
        }
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("processors", placement.toString());
        members.put("load", load.toMap());
        members.putAll(report.toMap());
        Map<String, Object> document =
                JsonOption.document(report.provider(), report.device().device(), members);
        json.write(document, output());
        presentation.present(document, json.ownsStandardOutput(), output());
    }
}
