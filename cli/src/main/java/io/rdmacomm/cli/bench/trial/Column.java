package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.cli.command.Rounding;

/// The values of a result, in the order of the CSV file. Each has a name, which JSON and CSV share, and a title on
/// the page. The table in a terminal shows some of them.
public enum Column {
    TEST("test", ""),
    BYTES("bytes", ""),
    ITERATIONS("iterations", "operations"),
    /// The number of operations in a sample of a latency.
    GROUP("operations_per_sample", ""),
    MIN("min_us", "", 4),
    P50("p50_us", "p50 us", 4),
    P99("p99_us", "p99 us", 4),
    P999("p999_us", "p99.9 us", 4),
    MAX("max_us", "max us", 4),
    AVERAGE("avg_us", "mean us", 4),
    DEVIATION("stdev_us", "", 4),
    LOW_LATENCY("low_us", "", 4, true),
    HIGH_LATENCY("high_us", "", 4, true),
    FLOOR("floor_us", "", 4),
    /// The time of the software alone.
    ABOVE_FLOOR("above_floor_us", "", 4),
    BANDWIDTH("gbps", "Gbit/s", 3, true),
    MESSAGE_RATE("million_messages_per_second", "M msg/s", 4, true),
    CPU_TIME("cpu_us_per_gb", "CPU us/GB", 1),
    LOW_BANDWIDTH("low_gbps", "", 4, true),
    HIGH_BANDWIDTH("high_gbps", "", 4, true),
    COPY("copy_gbps", "", 3),
    RATIO("ratio", "ratio", 3),
    TRANSPORT("transport", ""),
    SENT("sent", ""),
    RECEIVED("received", ""),
    LOST("lost", ""),
    WORK_MODE("work_mode", ""),
    THREAD_MODE("thread_mode", ""),
    BUSY_CLIENT("busy_cpu_client_percent", "busy client %", 2),
    BUSY_SERVER("busy_cpu_server_percent", "busy server %", 2),
    IDLE_CLIENT("idle_cpu_client_percent", "idle client %", 2),
    IDLE_SERVER("idle_cpu_server_percent", "idle server %", 2);

    private final String member;
    private final String title;
    private final int digits;
    private final boolean rate;

    Column(String member, String title) {
        this(member, title, 0);
    }

    Column(String member, String title, int digits) {
        this(member, title, digits, false);
    }

    /// @param rate whether a value below 1 keeps that many significant digits
    Column(String member, String title, int digits, boolean rate) {
        this.member = member;
        this.title = title;
        this.digits = digits;
        this.rate = rate;
    }

    /// The name in JSON and CSV.
    public String member() {
        return member;
    }

    /// The title in the table of a page; empty if the table has no such column.
    public String title() {
        return title;
    }

    /// Rounds a value for JSON and CSV.
    Object rounded(Object value) {
        if (!(value instanceof Double number)) {
            return value;
        }
        return rate ? Rounding.rate(number, digits) : Rounding.to(number, digits);
    }
}
