package io.rdmacomm.cli.devices;

import java.util.Comparator;

/// Which rows of the table come first. Rows that are equal come in the order of their processes and channels.
enum RowOrder {
    /// Those with the most operations and messages each second.
    BUSY,
    /// Those with the most bytes each second, in and out.
    BYTES,
    /// Those with the most errors so far.
    ERRORS,
    /// Those of the process with the lowest number.
    PID;

    Comparator<Row> comparator() {
        return Comparator.comparingDouble(this::importance)
                .reversed()
                .thenComparingLong(row -> row.process().process().pid())
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
