package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Bounds;
import java.time.Duration;

/// How a [ClientSession] replaces an endpoint that has failed: it pauses, tries to connect, pauses longer, and so
/// on. Each pause is [#factor()] times as long as the one before. Immutable.
///
/// ```java
/// Reconnect.defaults().withPauses(Duration.ofMillis(50), Duration.ofSeconds(2)).withGiveUpAfter(Duration.ofHours(1))
/// ```
public final class Reconnect extends ValueObject<Reconnect.Values> {
    private static final Duration LONGEST = Duration.ofDays(36_500);
    private static final Reconnect DEFAULTS = new Reconnect(
            new Values(Duration.ofMillis(100), Duration.ofSeconds(10), 2, 0.5, Duration.ofMinutes(5), false));

    record Values(
            Duration first, Duration most, double factor, double jitter, Duration giveUpAfter, boolean afterPeerDone) {}

    private Reconnect(Values values) {
        super(values);
    }

    /// Pauses of 100 ms to 10 s, each twice as long as the one before, shortened at random by up to half;
    /// gives up after 5 minutes; does not reconnect after an orderly close.
    public static Reconnect defaults() {
        return DEFAULTS;
    }

    /// The pause before the first attempt.
    public Duration first() {
        return values.first;
    }

    /// The longest pause.
    public Duration most() {
        return values.most;
    }

    /// The ratio of each pause to the one before.
    public double factor() {
        return values.factor;
    }

    /// The random part of each pause, 0 to 1: a pause is shortened by up to this part of it, so that the
    /// clients of a failed server do not all reconnect at the same moment.
    public double jitter() {
        return values.jitter;
    }

    /// The longest time to try after an endpoint has ended.
    public Duration giveUpAfter() {
        return values.giveUpAfter;
    }

    /// Whether to also replace an endpoint that the peer has closed in an orderly way.
    public boolean afterPeerDone() {
        return values.afterPeerDone;
    }

    /// These options with another first and another longest pause.
    ///
    /// @param first 1 ms to 24 h
    /// @param most from `first` to 24 h
    /// @throws IllegalArgumentException if one is out of its range
    public Reconnect withPauses(Duration first, Duration most) {
        Bounds.timeout("first pause", first);
        Bounds.timeout("longest pause", most);
        if (most.compareTo(first) < 0) {
            throw new IllegalArgumentException("longest pause is " + most + ", shorter than the first, " + first);
        }
        return new Reconnect(
                new Values(first, most, values.factor, values.jitter, values.giveUpAfter, values.afterPeerDone));
    }

    /// These options with another growth factor of the pauses.
    ///
    /// @param value 1 to 100
    /// @throws IllegalArgumentException if it is out of its range
    public Reconnect withFactor(double value) {
        range("factor", value, 1, 100);
        return new Reconnect(
                new Values(values.first, values.most, value, values.jitter, values.giveUpAfter, values.afterPeerDone));
    }

    /// These options with another random part of the pauses; 0 for none.
    ///
    /// @param value 0 to 1
    /// @throws IllegalArgumentException if it is out of its range
    public Reconnect withJitter(double value) {
        range("jitter", value, 0, 1);
        return new Reconnect(
                new Values(values.first, values.most, values.factor, value, values.giveUpAfter, values.afterPeerDone));
    }

    /// These options with another time after which the client gives up.
    ///
    /// @param value 1 ms to 36,500 days
    /// @throws IllegalArgumentException if it is out of its range
    public Reconnect withGiveUpAfter(Duration value) {
        if (value.compareTo(Duration.ofMillis(1)) < 0 || value.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("time to give up after is " + value + ", must be 1 ms to 36,500 days");
        }
        return new Reconnect(
                new Values(values.first, values.most, values.factor, values.jitter, value, values.afterPeerDone));
    }

    /// These options with or without a new endpoint after an orderly close.
    public Reconnect withAfterPeerDone(boolean value) {
        return new Reconnect(
                new Values(values.first, values.most, values.factor, values.jitter, values.giveUpAfter, value));
    }

    private static void range(String what, double value, double min, double max) {
        // NaN is out of every range.
        if (!(value >= min && value <= max)) {
            throw new IllegalArgumentException(what + " is " + value + ", must be " + min + " to " + max);
        }
    }
}
