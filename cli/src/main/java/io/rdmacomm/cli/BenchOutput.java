package io.rdmacomm.cli;

import io.rdmacomm.cli.bench.BenchListener;
import io.rdmacomm.cli.bench.BenchReport;
import io.rdmacomm.cli.bench.BenchTest;
import io.rdmacomm.cli.bench.MachineFloors;
import io.rdmacomm.cli.bench.Modes;
import io.rdmacomm.cli.bench.Result;
import io.rdmacomm.cli.bench.SocketFigures;
import io.rdmacomm.cli.bench.Table;
import io.rdmacomm.cli.terminal.ByteSize;
import io.rdmacomm.cli.terminal.CommandOutput;
import io.rdmacomm.cli.terminal.ProgressLine;

/// Shows a benchmark to people: the limits of the machine, a progress line on a terminal, and the tables.
final class BenchOutput implements BenchListener, AutoCloseable {
    private final CommandOutput output;
    private final ProgressLine progress;
    private final Table table;
    private final boolean quiet;

    /// @param quiet whether to show only the progress line
    BenchOutput(CommandOutput output, boolean quiet) {
        this.output = output;
        this.progress = new ProgressLine(output.err());
        this.table = new Table(output.out());
        this.quiet = quiet;
        progress.show("starting ...");
    }

    @Override
    public void onFloors(MachineFloors floors) {
        progress.clear();
        if (quiet) {
            return;
        }
        output.println("clock: %.1f ns per reading, resolution %d ns; every latency sample includes one reading"
                .formatted(floors.clock().nanosPerReading(), floors.clock().granularityNanos()));
        if (floors.cacheLineMicros() > 0) {
            output.println("one cache line between two processes: %.3f us one way".formatted(floors.cacheLineMicros()));
        }
        show("plain TCP socket", floors.socket());
    }

    private void show(String title, SocketFigures socket) {
        if (socket.micros() > 0) {
            output.println("%s: 8 bytes in %.2f us one way, a stream of %.1f Gbit/s"
                    .formatted(title, socket.micros(), socket.gbps()));
        }
    }

    @Override
    public void onStart(int number, int count, BenchTest test, long bytes) {
        progress.show("[" + number + "/" + count + "] " + test.label() + " " + ByteSize.format(bytes));
    }

    @Override
    public void onResult(Result result) {
        progress.clear();
        if (!quiet) {
            table.add(result);
        }
    }

    /// Shows what is known at the end.
    void end(BenchReport report) {
        if (quiet) {
            return;
        }
        output.println("");
        output.println("%s (%s); connections set up in %.1f ms (median); all received data verified"
                .formatted(report.device(), report.provider(), report.medianSetUpMillis()));
        Modes modes = report.modes();
        if (modes != null) {
            output.println("blocking calls in %s, on both sides; only send_lat, read_lat and atomic_lat have them"
                    .formatted(modes));
        }
        show("plain TCP socket at the end", report.socketAtEnd());
        output.println("floor: the least time this machine needs, measured in this run; ratio: p50 / floor, or Gbit/s /"
                + " copy Gbit/s");
    }

    @Override
    public void close() {
        progress.close();
    }
}
