package io.rdmacomm.nio.channel;

import java.util.concurrent.TimeUnit;

/// The time-outs of sockets.
final class Timeouts {
    /// No time-out, in nanoseconds.
    static final long NONE = Long.MAX_VALUE / 2;

    private Timeouts() {}

    /// @param millis 0 for no time-out
    static long nanos(int millis) {
        return millis == 0 ? NONE : TimeUnit.MILLISECONDS.toNanos(millis);
    }

    /// Rounded up.
    static int millis(long nanos) {
        return (int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos));
    }
}
