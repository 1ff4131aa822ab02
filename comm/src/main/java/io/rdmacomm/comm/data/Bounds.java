package io.rdmacomm.comm.data;

import io.rdmacomm.verbs.Printable;
import java.time.Duration;

/// Argument checks whose messages name the argument, its value and its bounds.
public final class Bounds {
    private Bounds() {}

    /// Checks a number.
    ///
    /// @return `value`
    public static int range(String what, int value, int min, int max) {
        range(what, (long) value, min, max);
        return value;
    }

    /// Checks a number.
    ///
    /// @return `value`
    public static long range(String what, long value, long min, long max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(what + " is " + value + ", must be " + min + " to " + max);
        }
        return value;
    }

    /// Checks a timeout: at least one millisecond, at most a day.
    ///
    /// @return `value`
    public static Duration timeout(String what, Duration value) {
        if (value.compareTo(Duration.ofMillis(1)) < 0 || value.compareTo(Duration.ofDays(1)) > 0) {
            throw new IllegalArgumentException(what + " is " + value + ", must be 1 ms to 24 h");
        }
        return value;
    }

    /// Checks text: at most `max` characters, all of them [printable][Printable].
    ///
    /// @return `value`
    public static String text(String what, String value, int max) {
        if (value.length() > max || !Printable.is(value)) {
            throw new IllegalArgumentException(what + " '" + Printable.text(value) + "' must have at most " + max
                    + " characters, all of them printable");
        }
        return value;
    }
}
