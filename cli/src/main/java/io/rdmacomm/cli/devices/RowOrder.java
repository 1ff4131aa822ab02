package io.rdmacomm.cli.devices;

import java.util.Comparator;

/// The order of the table's rows. Equal rows are in the order of their processes and channels.
enum RowOrder {
    /// The most operations and messages per second first.
    BUSY,
    /// The most bytes per second, in and out, first.
    BYTES,
    /// The most errors so far first.
    ERRORS,
    /// The lowest process number first.
    PID;

    Comparator<Row> comparator() {
        return Comparator.comparingDouble(this::importance)
                .reversed()
                .thenComparingLong(row -> row.process().identity().pid())
                .thenComparingLong(row -> row.counters().id());
    }

    private double importance(Row row) {
        return switch (this) {
            case BUSY -> row.activity();
            case BYTES -> row.bytesPerSecond();
            case ERRORS -> (double) row.errors();
            case PID -> 0;
        };
    }
}
