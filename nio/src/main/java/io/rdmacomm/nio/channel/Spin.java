package io.rdmacomm.nio.channel;

/// How long a thread polls before it sleeps. Polling saves a wake-up if something arrives soon, and costs a
/// processor: so the time halves each time nothing came of it, and grows again when a sleep turns out to have
/// been short. For one thread at a time.
final class Spin {
    private static final String PROPERTY = "io.rdmacomm.nio.spinMicros";
    private static final long MOST_NANOS = Long.getLong(PROPERTY, 20) * 1_000;
    private static final long LEAST_NANOS = 1_000;
    /// Beside so few processors, a thread that polls takes the one that its peer needs.
    private static final int FEW_PROCESSORS = 2;

    private long nanos = Long.getLong(PROPERTY) != null || Runtime.getRuntime().availableProcessors() > FEW_PROCESSORS
            ? MOST_NANOS
            : 0;

    /// How long to poll next.
    long nanos() {
        return nanos;
    }

    /// Nothing came while it polled.
    void failed() {
        nanos = nanos <= LEAST_NANOS ? 0 : nanos / 2;
    }

    /// Something came.
    ///
    /// @param slept how long it slept before that, in nanoseconds
    void came(long slept) {
        if (slept < MOST_NANOS) {
            nanos = Math.min(MOST_NANOS, Math.max(LEAST_NANOS, nanos * 2));
        }
    }
}
