package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.bench.trial.BenchSettings;
import io.rdmacomm.cli.bench.trial.Governors;
import io.rdmacomm.cli.bench.trial.MachineFloors;
import io.rdmacomm.cli.bench.trial.MachineLoad;
import io.rdmacomm.cli.bench.trial.Modes;
import io.rdmacomm.cli.bench.trial.Result;
import io.rdmacomm.cli.bench.trial.SocketFloor;
import io.rdmacomm.cli.bench.trial.TrialPlan;
import io.rdmacomm.cli.command.ByteSize;
import io.rdmacomm.cli.command.CommandOutput;
import io.rdmacomm.cli.command.LostOutput;
import io.rdmacomm.cli.command.Placement;
import io.rdmacomm.cli.command.ProgressLine;
import java.util.Optional;

/// Shows a benchmark to people: the limits of the machine, a progress line on a terminal, and the tables.
final class BenchOutput implements BenchListener, AutoCloseable {
    private final CommandOutput output;
    private final ProgressLine progress;
    private final Table table;
    private final boolean quiet;
    private final boolean sampled;
    private final boolean floors;

    /// @param quiet whether to show only the progress line
    /// @param settings the settings of the measurement
    BenchOutput(CommandOutput output, boolean quiet, BenchSettings settings) {
        this.output = output;
        this.progress = new ProgressLine(output.err());
        this.table = new Table(output.out(), settings.floors());
        this.quiet = quiet;
        this.sampled = settings.sampled();
        this.floors = settings.floors();
        progress.show("starting ...");
    }

    /// Both ends have their processors; `load` is the load of other programs.
    void onPlacement(Placement placement, MachineLoad load) {
        progress.clear();
        if (!quiet) {
            output.println("processors: " + placement);
            load(load).ifPresent(output::println);
            Governors.ofThisMachine()
                    .filter(governors -> !Governors.areSteady(governors))
                    .ifPresent(governors -> output.println("WARNING: the governor of the processors is " + governors
                            + ", which changes their frequency: " + Governors.REMEDY));
        }
    }

    /// A warning if the machine is busy; empty if it is not.
    static Optional<String> load(MachineLoad load) {
        return load.isHigh()
                ? Optional.of("WARNING: this machine is busy: " + load + ". Figures are worse and vary more.")
                : Optional.empty();
    }

    @Override
    public void onFloors(MachineFloors floors) {
        progress.clear();
        if (quiet) {
            return;
        }
        output.println("clock: %.1f ns per reading, resolution %d ns; %s"
                .formatted(
                        floors.clock().nanosPerReading(),
                        floors.clock().granularityNanos(),
                        sampled
                                ? "every latency sample, an operation or a group, includes one reading"
                                : "latencies are means without readings"));
        if (floors.cacheLineMicros() > 0) {
            output.println("one cache line between two processes: %.3f us one way".formatted(floors.cacheLineMicros()));
        }
        show("plain TCP socket", floors.socket());
    }

    private void show(String title, SocketFloor.Figures socket) {
        if (socket.micros() > 0) {
            output.println("%s: 8 bytes in %.2f us one way, a stream of %.1f Gbit/s"
                    .formatted(title, socket.micros(), socket.gbps()));
        }
    }

    @Override
    public void onStart(int number, int count, TrialPlan plan) {
        String modes = plan.modes() == null ? "" : ", " + plan.modes();
        progress.show(
                "[" + number + "/" + count + "] " + plan.test().label() + " " + ByteSize.format(plan.bytes()) + modes);
    }

    @Override
    public void onResult(Result result) {
        progress.clear();
        if (!quiet) {
            table.add(result);
            LostOutput.check(output.out());
        }
    }

    /// Shows the summary at the end.
    void end(BenchReport report) {
        if (quiet) {
            return;
        }
        output.println("");
        output.println("%s (%s); connections set up in %.1f ms (median); all received data verified"
                .formatted(report.device(), report.provider(), report.medianSetupMillis()));
        Modes modes = report.modes();
        if (modes != null) {
            output.println("blocking calls in " + modes + ", on both sides");
        }
        show("plain TCP socket at the end", report.socketAtEnd());
        if (report.comparesModes()) {
            output.println(
                    "blocking calls in each mode, on both sides; CPU: of each process without its JIT compilers, in"
                            + " percent of a core; idle: both wait for a message that does not come");
        } else if (floors) {
            output.println(
                    "floor: the least time this machine needs, measured in this run; ratio: p50 / floor, or Gbit/s /"
                            + " copy Gbit/s");
        }
        if (table.isMarked()) {
            output.println(Table.EXPLANATION);
        }
    }

    @Override
    public void close() {
        progress.close();
    }
}
