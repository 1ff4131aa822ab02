package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.bench.result.Modes;
import io.rdmacomm.cli.terminal.CommandOutput;
import io.rdmacomm.cli.terminal.LostOutput;
import io.rdmacomm.cli.terminal.ProgressLine;

/// Shows the measurement of all modes to people: a progress line on a terminal, and the table.
final class MatrixOutput implements MatrixListener, AutoCloseable {
    private final CommandOutput output;
    private final ProgressLine progress;
    private final MatrixTable table;
    private final boolean quiet;

    /// @param quiet whether to show only the progress line
    MatrixOutput(CommandOutput output, boolean quiet) {
        this.output = output;
        this.progress = new ProgressLine(output.err());
        this.table = new MatrixTable(output.out());
        this.quiet = quiet;
        progress.show("starting ...");
    }

    @Override
    public void onStart(int number, int count, Modes modes) {
        progress.show("[" + number + "/" + count + "] " + modes);
    }

    @Override
    public void onCell(MatrixCell cell) {
        progress.clear();
        if (!quiet) {
            table.add(cell);
            LostOutput.check(output.out());
        }
    }

    /// Shows what is known at the end.
    void end(MatrixReport report) {
        if (!quiet) {
            output.println("");
            output.println("%s (%s); 8 bytes there and back in blocking calls, all messages verified"
                    .formatted(report.device(), report.provider()));
            output.println("CPU: of each process without its JIT compilers, in percent of a core; idle: both wait for"
                    + " a message that does not come");
        }
    }

    @Override
    public void close() {
        progress.close();
    }
}
