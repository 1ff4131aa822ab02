package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Bounds;
import java.time.Duration;

/// How a [ClientSession] replaces an endpoint that has failed: it pauses, tries to connect, pauses longer, and so
/// on. Each pause is `factor` times as long as the one before.
///
/// ```java
/// Reconnect.defaults().withPauses(Duration.ofMillis(50), Duration.ofSeconds(2)).withGiveUpAfter(Duration.ofHours(1))
/// ```
///
/// @param first the pause before the first attempt, 1 ms to 24 h
/// @param most the longest pause, from `first` to 24 h
/// @param factor how much longer each pause is than the one before, 1 to 100
/// @param jitter the random part of each pause, 0 to 1: a pause is shortened by up to this part of it, so that the
///         clients of a server that has failed do not all come back at the same moment
/// @param giveUpAfter how long to try after an endpoint has ended, 1 ms to 36,500 days
/// @param afterPeerDone whether to replace an endpoint, too, that the peer has closed in an orderly way
public record Reconnect(
        Duration first, Duration most, double factor, double jitter, Duration giveUpAfter, boolean afterPeerDone) {
    private static final Duration LONGEST = Duration.ofDays(36_500);

    /// Checks the ranges.
    public Reconnect {
        Bounds.timeout("first pause", first);
        Bounds.timeout("longest pause", most);
        if (most.compareTo(first) < 0) {
            throw new IllegalArgumentException("longest pause is " + most + ", shorter than the first, " + first);
        }
        range("factor", factor, 1, 100);
        range("jitter", jitter, 0, 1);
        if (giveUpAfter.compareTo(Duration.ofMillis(1)) < 0 || giveUpAfter.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(
                    "time to give up after is " + giveUpAfter + ", must be 1 ms to 36,500 days");
        }
    }

    private static void range(String what, double value, double min, double max) {
        // Not a number is in no range.
        if (!(value >= min && value <= max)) {
            throw new IllegalArgumentException(what + " is " + value + ", must be " + min + " to " + max);
        }
    }

    /// Pauses of 100 ms to 10 s, each twice as long as the one before, of which up to half is random; gives up
    /// after 5 minutes; not after an orderly end.
    public static Reconnect defaults() {
        return new Reconnect(Duration.ofMillis(100), Duration.ofSeconds(10), 2, 0.5, Duration.ofMinutes(5), false);
    }

    /// The same with another first and another longest pause.
    public Reconnect withPauses(Duration newFirst, Duration newMost) {
        return new Reconnect(newFirst, newMost, factor, jitter, giveUpAfter, afterPeerDone);
    }

    /// The same with another growth of the pauses.
    public Reconnect withFactor(double value) {
        return new Reconnect(first, most, value, jitter, giveUpAfter, afterPeerDone);
    }

    /// The same with another random part of the pauses; with 0 they are always the same.
    public Reconnect withJitter(double value) {
        return new Reconnect(first, most, factor, value, giveUpAfter, afterPeerDone);
    }

    /// The same with another time after which it gives up.
    public Reconnect withGiveUpAfter(Duration value) {
        return new Reconnect(first, most, factor, jitter, value, afterPeerDone);
    }

    /// The same with or without a new endpoint after an orderly end.
    public Reconnect withAfterPeerDone(boolean value) {
        return new Reconnect(first, most, factor, jitter, giveUpAfter, value);
    }
}
