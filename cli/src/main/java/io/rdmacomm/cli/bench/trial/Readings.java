package io.rdmacomm.cli.bench.trial;

/// The clock readings of one step: after each operation or each group of operations, or only at the beginning
/// and the end.
final class Readings {
    private final long[] nanos;
    private final boolean each;
    private int group = 1;
    private int inGroup;
    private int laps;

    private Readings(long[] nanos, boolean each) {
        this.nanos = nanos;
        this.each = each;
    }

    /// Reads the clock after each of at most `most` operations or groups.
    static Readings ofEach(int most) {
        return new Readings(new long[most + 1], true);
    }

    /// Reads the clock before the first operation and after the last.
    static Readings ofAll() {
        return new Readings(new long[2], false);
    }

    /// Reads the clock once for each group of so many operations from now on.
    void group(int operations) {
        group = operations;
    }

    /// The first operation begins.
    void begin() {
        laps = 0;
        inGroup = 0;
        nanos[0] = System.nanoTime();
    }

    /// An operation of a latency test has ended.
    void lap() {
        if (each && ++inGroup == group) {
            inGroup = 0;
            nanos[++laps] = System.nanoTime();
        }
    }

    /// The last operation has ended.
    void end() {
        if (!each) {
            nanos[1] = System.nanoTime();
        }
    }

    /// The time from [#begin()] to the end of the last operation or group.
    long elapsed() {
        return nanos[each ? laps : 1] - nanos[0];
    }

    /// Adds the time of each operation or group.
    void addTo(LatencySamples samples) {
        samples.add(nanos, laps);
    }
}
