package io.rdmacomm.cli.mesh;

import io.rdmacomm.cli.command.ByteSize;
import java.io.PrintWriter;

/// Prints results for people as they arrive, in the columns of nccl-tests.
final class CollectiveTable {
    private static final String ROW = "%-14s %8s %-20s %10s %12s %13s %13s%n";

    private final PrintWriter out;
    private boolean begun;

    /// Prints to `out`.
    CollectiveTable(PrintWriter out) {
        this.out = out;
    }

    /// Prints the next result.
    void add(CollectiveResult result) {
        if (!begun) {
            begun = true;
            out.printf(ROW, "collective", "size", "algorithm", "calls", "time [us]", "algbw [GB/s]", "busbw [GB/s]");
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
