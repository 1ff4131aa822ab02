package io.rdmacomm.cli;

import io.rdmacomm.cli.bench.BenchListener;
import io.rdmacomm.cli.bench.BenchReport;
import io.rdmacomm.cli.bench.BenchTest;
import io.rdmacomm.cli.bench.MachineFloors;
import io.rdmacomm.cli.bench.Result;
import io.rdmacomm.cli.bench.SocketFigures;
import io.rdmacomm.cli.bench.Table;
import io.rdmacomm.cli.terminal.ByteSize;
import io.rdmacomm.cli.terminal.ProgressLine;
import java.io.PrintWriter;

/// What people see of a benchmark: what the machine can do, a progress line on a terminal, and the tables.
final class BenchOutput implements BenchListener, AutoCloseable {
    private final PrintWriter out;
    private final ProgressLine progress;
    private final Table table;
    private final boolean quiet;

    BenchOutput(PrintWriter out, PrintWriter err, boolean quiet) {
        this.out = out;
        this.progress = new ProgressLine(err);
        this.table = new Table(out);
        this.quiet = quiet;
        progress.show("starting ...");
    }

    @Override
    public void onFloors(MachineFloors floors) {
        progress.clear();
        if (quiet) {
            return;
        }
        out.printf(
                "clock: %.1f ns a reading, steps of %d ns; every latency sample has one reading in it%n",
                floors.clock().nanosPerReading(), floors.clock().granularityNanos());
        if (floors.cacheLineMicros() > 0) {
            out.printf("one cache line between two processes: %.3f us one way%n", floors.cacheLineMicros());
        }
        show("a plain TCP socket between them", floors.socket());
        out.flush();
    }

    private void show(String what, SocketFigures socket) {
        if (socket.micros() > 0) {
            out.printf("%s: 8 B in %.2f us one way, a stream of %.1f Gbit/s%n", what, socket.micros(), socket.gbps());
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

    void end(BenchReport report) {
        if (!quiet) {
            out.printf(
                    "%n%s (%s); ready to send %.1f ms after the TCP connection (median); all data at the targets was right%n",
                    report.device(), report.provider(), report.medianSetUpMillis());
            show("the plain TCP socket at the end", report.socketAtEnd());
            out.println("floor: what this machine needs at least, measured in this run; ratio: p50 / floor, or "
                    + "Gbit/s / copy Gbit/s");
            out.flush();
        }
    }

    @Override
    public void close() {
        progress.close();
    }
}
