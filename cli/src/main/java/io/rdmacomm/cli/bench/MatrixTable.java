package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.terminal.ChoiceText;
import java.io.PrintWriter;

/// Prints the cells of a [ModeMatrix] for people, as they arrive.
public final class MatrixTable {
    private static final String TITLES = "%-20s %-15s %10s %10s %9s %7s %9s %7s%n";

    private final PrintWriter out;
    private boolean begun;

    /// Prints to `out`.
    public MatrixTable(PrintWriter out) {
        this.out = out;
    }

    /// Prints the next cell.
    public void add(MatrixCell cell) {
        if (!begun) {
            begun = true;
            out.printf(TITLES, "", "", "round trip", "[us]", "busy CPU", "[%]", "idle CPU", "[%]");
            out.printf(TITLES, "work mode", "thread mode", "p50", "p99", "client", "server", "client", "server");
        }
        out.printf(
                "%-20s %-15s %10.2f %10.2f %9.1f %7.1f %9.2f %7.2f%n",
                ChoiceText.of(cell.modes().work()),
                ChoiceText.of(cell.modes().thread()),
                cell.samples().percentileMicros(50),
                cell.samples().percentileMicros(99),
                cell.busy().client().percent(),
                cell.busy().server().percent(),
                cell.idle().client().percent(),
                cell.idle().server().percent());
        out.flush();
    }
}
