package io.rdmacomm.verbs;

import java.time.Duration;

/// Argument checks whose messages name the argument, its value and its bounds.
final class Checks {
    private Checks() {}

    static int range(String what, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(what + " is " + value + ", must be " + min + " to " + max);
        }
        return value;
    }

    static long range(String what, long value, long min, long max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(what + " is " + value + ", must be " + min + " to " + max);
        }
        return value;
    }

    static void positive(String what, Duration value) {
        if (!value.isPositive()) {
            throw new IllegalArgumentException(what + " is " + value + ", must be positive");
        }
    }
}
