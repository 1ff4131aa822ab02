package io.rdmacomm.verbs;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/// How long a queue pair waits for an acknowledgement before it retransmits a request (ibv_modify_qp(3),
/// `timeout`): 4.096 us * 2^code, from 8.192 us (code 1) to 2.4 hours (code 31), or [#INFINITE]. A device may wait
/// up to four times as long (InfiniBand Architecture Specification, Local Ack Timeout).
///
/// @param code the number that C programs see, 0 to 31; 0 waits forever
public record AckTimeout(int code) {
    /// Waits forever.
    public static final AckTimeout INFINITE = new AckTimeout(0);

    private static final long UNIT_NANOS = 4_096;
    private static final int LONGEST = 31;

    /// Checks the range.
    public AckTimeout {
        Checks.range("code of the acknowledgement timeout", code, 0, LONGEST);
    }

    /// The shortest timeout that is at least `duration`; [#INFINITE] for anything longer than 2.4 hours, for
    /// example `ChronoUnit.FOREVER.getDuration()`.
    ///
    /// @throws IllegalArgumentException if the duration is zero or negative
    public static AckTimeout atLeast(Duration duration) {
        Checks.positive("acknowledgement timeout", duration);
        for (int code = 1; code <= LONGEST; code++) {
            if (duration.compareTo(Duration.ofNanos(UNIT_NANOS << code)) <= 0) {
                return new AckTimeout(code);
            }
        }
        return INFINITE;
    }

    /// The time of the code; [ChronoUnit#FOREVER] for [#INFINITE].
    public Duration duration() {
        return code == 0 ? ChronoUnit.FOREVER.getDuration() : Duration.ofNanos(nanos());
    }

    /// The time of the code, in nanoseconds; [Long#MAX_VALUE] for [#INFINITE].
    public long nanos() {
        return code == 0 ? Long.MAX_VALUE : UNIT_NANOS << code;
    }

    // Written out: those of the JDK are linked when they are first called, which a first connection would wait for.
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof AckTimeout timeout && code == timeout.code;
    }

    @Override
    public int hashCode() {
        return code;
    }
}
