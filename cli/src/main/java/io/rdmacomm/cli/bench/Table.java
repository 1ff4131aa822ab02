package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.bench.trial.BenchTest;
import io.rdmacomm.cli.bench.trial.Column;
import io.rdmacomm.cli.bench.trial.Result;
import io.rdmacomm.cli.command.ByteSize;
import java.io.PrintWriter;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Prints results for people as they arrive: a table of latencies and a table of bandwidths.
public final class Table {
    /// The meaning of a mark.
    static final String EXPLANATION =
            "~: fewer than ten samples were slower; !: beyond the limit, which was measured while the machine was"
                    + " slower";

    /// A format with three decimal places below 100, and one above.
    private static final String MICROS = "micros";

    /// A column of a table.
    ///
    /// @param format the format of the value
    private record Shown(Column column, String title, int width, String format) {}

    private static final List<Shown> LATENCY = List.of(
            new Shown(Column.ITERATIONS, "ops", 10, "%d"),
            new Shown(Column.GROUP, "group", 6, "%d"),
            new Shown(Column.MIN, "min", 9, MICROS),
            new Shown(Column.P50, "p50", 9, MICROS),
            new Shown(Column.P99, "p99", 9, MICROS),
            new Shown(Column.P999, "p99.9", 9, MICROS),
            new Shown(Column.MAX, "max", 10, MICROS),
            new Shown(Column.AVERAGE, "avg", 9, MICROS),
            new Shown(Column.DEVIATION, "stdev", 9, MICROS),
            new Shown(Column.FLOOR, "floor", 8, MICROS),
            new Shown(Column.ABOVE_FLOOR, "above", 8, MICROS),
            new Shown(Column.RATIO, "ratio", 6, "%.1fx"));
    private static final List<Shown> BANDWIDTH = List.of(
            new Shown(Column.ITERATIONS, "messages", 10, "%d"),
            new Shown(Column.BANDWIDTH, "Gbit/s", 10, "%.3f"),
            new Shown(Column.MESSAGE_RATE, "10^6 msg/s", 12, "%.4f"),
            new Shown(Column.CPU_TIME, "CPU us/GB", 13, "%.0f"),
            new Shown(Column.COPY, "copy Gbit/s", 11, "%.1f"),
            new Shown(Column.RATIO, "ratio", 6, "%.2f"));
    private static final List<Shown> MODES = List.of(
            new Shown(Column.P50, "p50", 10, MICROS),
            new Shown(Column.P99, "p99", 10, MICROS),
            new Shown(Column.BUSY_CLIENT, "client", 9, "%.1f"),
            new Shown(Column.BUSY_SERVER, "server", 7, "%.1f"),
            new Shown(Column.IDLE_CLIENT, "client", 9, "%.2f"),
            new Shown(Column.IDLE_SERVER, "server", 7, "%.2f"));

    /// The columns about the limits of the machine.
    private static final Set<Column> LIMITS = EnumSet.of(Column.FLOOR, Column.ABOVE_FLOOR, Column.COPY, Column.RATIO);

    private static final String TEST_AND_SIZE = "%-18s %8s";
    private static final String BOTH_MODES = "%-20s %-15s";

    private final PrintWriter out;
    private final boolean floors;
    private BenchTest.@Nullable Kind printed;
    private boolean marked;

    /// Prints to `out`.
    ///
    /// @param floors whether to show columns for the limits of the machine
    public Table(PrintWriter out, boolean floors) {
        this.out = out;
        this.floors = floors;
    }

    /// Prints the next result.
    public void add(Result result) {
        BenchTest.Kind kind = result.test().kind();
        boolean ofModes = result.has(Column.BUSY_CLIENT);
        List<Shown> columns = ofModes ? MODES : kind == BenchTest.Kind.LATENCY ? LATENCY : BANDWIDTH;
        if (printed != kind) {
            printed = kind;
            out.println();
            header(columns, kind, ofModes);
        }
        String first = ofModes
                ? BOTH_MODES.formatted(result.value(Column.WORK_MODE), result.value(Column.THREAD_MODE))
                : TEST_AND_SIZE.formatted(result.test().label(), ByteSize.format(result.bytes()));
        row(first, columns, column -> cell(result, column));
        if (result.has(Column.TRANSPORT)) {
            out.println("    over %s: sent %s, received %s, lost %s"
                    .formatted(
                            result.value(Column.TRANSPORT),
                            result.value(Column.SENT),
                            result.value(Column.RECEIVED),
                            result.value(Column.LOST)));
        }
        out.flush();
    }

    /// Whether any figure is marked as doubtful.
    boolean isMarked() {
        return marked;
    }

    private void header(List<Shown> columns, BenchTest.Kind kind, boolean ofModes) {
        if (ofModes) {
            out.println("%-20s %-15s %10s %10s %9s %7s %9s %7s"
                    .formatted("", "", "round trip", "[us]", "busy CPU", "[%]", "idle CPU", "[%]"));
            row(BOTH_MODES.formatted("work mode", "thread mode"), columns, Shown::title);
        } else {
            String name = kind == BenchTest.Kind.LATENCY ? "latency [us]" : "bandwidth";
            row(TEST_AND_SIZE.formatted(name, "size"), columns, Shown::title);
        }
    }

    private void row(String first, List<Shown> columns, Function<Shown, String> cell) {
        out.println(columns.stream()
                .filter(shown -> floors || !LIMITS.contains(shown.column()))
                .map(shown -> " " + ("%" + shown.width() + "s").formatted(cell.apply(shown)))
                .collect(Collectors.joining("", first, "")));
    }

    private String cell(Result result, Shown shown) {
        Object value = result.value(shown.column());
        if (value == null) {
            return "-";
        }
        String format = shown.format();
        if (format.equals(MICROS)) {
            format = (Double) value < 100 ? "%.3f" : "%.1f";
        }
        boolean doubtful = result.isUncertain(shown.column());
        marked |= doubtful;
        String mark = shown.column() == Column.RATIO ? "!" : "~";
        return (doubtful ? mark : "") + format.formatted(value);
    }
}
