package io.rdmacomm.cli.bench.trial;

/// The cost of reading the clock, and its resolution.
///
/// @param nanosPerReading the time of one reading
/// @param granularityNanos the smallest positive difference between two readings
public record ClockCost(double nanosPerReading, long granularityNanos) {
    /// A mask of the form 2^n - 1: waiting loops check the clock and the peer once every `CHECK_MASK + 1` rounds.
    public static final int CHECK_MASK = 0x7ff;

    private static final int READINGS = 200_000;

    /// Measures both.
    public static ClockCost measure() {
        ClockCost cost = once();
        for (int i = 0; i < 4; i++) {
            ClockCost next = once();
            cost = new ClockCost(
                    Math.min(cost.nanosPerReading, next.nanosPerReading),
                    Math.min(cost.granularityNanos, next.granularityNanos));
        }
        return cost;
    }

    private static ClockCost once() {
        long smallest = Long.MAX_VALUE;
        long begin = System.nanoTime();
        long previous = begin;
        for (int i = 0; i < READINGS; i++) {
            long now = System.nanoTime();
            long step = now - previous;
            if (step > 0 && step < smallest) {
                smallest = step;
            }
            previous = now;
        }
        return new ClockCost((previous - begin) / (double) READINGS, smallest);
    }
}
