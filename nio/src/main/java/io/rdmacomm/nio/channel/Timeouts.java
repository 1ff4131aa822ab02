package io.rdmacomm.nio.channel;

import java.util.concurrent.TimeUnit;

/// The timeouts of sockets.
final class Timeouts {
    /// No timeout, in nanoseconds.
    static final long NONE = Long.MAX_VALUE / 2;

    private Timeouts() {}

    /// @param millis 0 for no timeout
    static long nanos(int millis) {
        return millis == 0 ? NONE : TimeUnit.MILLISECONDS.toNanos(millis);
    }

    /// In milliseconds, rounded up.
    static int millis(long nanos) {
        return (int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos));
    }
}
