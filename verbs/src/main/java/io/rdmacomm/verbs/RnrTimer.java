package io.rdmacomm.verbs;

import java.time.Duration;

/// How long a peer must wait before it retries a message that found no posted receive (ibv_modify_qp(3),
/// `min_rnr_timer`): one of 32 times between 0.01 ms and 655.36 ms.
///
/// @param code the number that C programs see, 0 to 31; code 0 is the longest time
public record RnrTimer(int code) {
    /// The time of each code in units of 0.01 ms (InfiniBand Architecture Specification, Encoding for RNR NAK
    /// Timer Field).
    private static final int[] TIMES = {
        65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096,
        6144, 8192, 12288, 16384, 24576, 32768, 49152
    };

    private static final long UNIT_NANOS = 10_000;
    private static final int CODES = TIMES.length;

    /// Checks the range.
    public RnrTimer {
        Checks.range("code of the RNR timer", code, 0, CODES - 1);
    }

    /// The shortest timer that is at least `duration`.
    ///
    /// @throws IllegalArgumentException if the duration is zero, negative or longer than 655.36 ms
    public static RnrTimer atLeast(Duration duration) {
        Checks.positive("RNR timer", duration);
        // Code 0 comes last, as it is the longest.
        for (int i = 1; i <= CODES; i++) {
            if (duration.compareTo(Duration.ofNanos(nanos(i))) <= 0) {
                return new RnrTimer(i % CODES);
            }
        }
        throw new IllegalArgumentException("RNR timer is " + duration + ", must be at most PT0.65536S");
    }

    /// The time of the code.
    public Duration duration() {
        return Duration.ofNanos(nanos());
    }

    /// The time of the code, in nanoseconds.
    public long nanos() {
        return nanos(code);
    }

    /// The time of `code`, in nanoseconds. Uses only its lowest 5 bits, as it may come from a peer.
    public static long nanos(int code) {
        return TIMES[code & CODES - 1] * UNIT_NANOS;
    }
}
