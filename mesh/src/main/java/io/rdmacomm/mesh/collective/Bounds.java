package io.rdmacomm.mesh.collective;

import java.time.Duration;

/// Argument checks whose messages name the argument, its value and its bounds.
final class Bounds {
    private static final Duration LEAST = Duration.ofMillis(1);
    private static final Duration MOST = Duration.ofDays(1);

    private Bounds() {}

    static void range(String what, long value, long min, long max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(what + " is " + value + ", must be " + min + " to " + max);
        }
    }

    static void timeout(Duration value) {
        if (value.compareTo(LEAST) < 0 || value.compareTo(MOST) > 0) {
            throw new IllegalArgumentException("timeout is " + value + ", must be 1 ms to 24 h");
        }
    }
}
