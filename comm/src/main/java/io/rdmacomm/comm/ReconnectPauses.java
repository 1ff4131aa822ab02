package io.rdmacomm.comm;

import java.util.function.DoubleSupplier;

/// The successive pauses of a [Reconnect]. Not thread-safe.
final class ReconnectPauses {
    private static final long SHORTEST_NANOS = 1_000_000;

    private final Reconnect options;
    private final DoubleSupplier random;
    private double next;

    /// @param random gives numbers from 0 to less than 1
    ReconnectPauses(Reconnect options, DoubleSupplier random) {
        this.options = options;
        this.random = random;
        reset();
    }

    /// The next pause in nanoseconds, at least a millisecond.
    long nextNanos() {
        double pause = next;
        next = Math.min(pause * options.factor(), (double) options.most().toNanos());
        return Math.max(SHORTEST_NANOS, (long) (pause * (1 - options.jitter() * random.getAsDouble())));
    }

    /// Restarts with the first pause.
    void reset() {
        next = (double) options.first().toNanos();
    }
}
