package io.rdmacomm.comm;

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

    /// A wait of at least one millisecond and at most a day.
    static Duration wait(String what, Duration value) {
        if (value.compareTo(Duration.ofMillis(1)) < 0 || value.compareTo(Duration.ofDays(1)) > 0) {
            throw new IllegalArgumentException(what + " is " + value + ", must be 1 ms to 24 h");
        }
        return value;
    }

    /// Text of at most `max` characters without control characters.
    static String text(String what, String value, int max) {
        if (value.length() > max || value.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException(
                    what + " must have at most " + max + " characters and no control characters");
        }
        return value;
    }
}
