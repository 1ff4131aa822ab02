package io.rdmacomm.cli.interop;

import java.util.List;
import java.util.Locale;

/// The figures of a run of ibv_rc_pingpong(1).
///
/// @param messageBytes the message size
/// @param iterations the number of messages in each direction
/// @param nanos the total time
record PingPongResult(int messageBytes, int iterations, long nanos) {
    /// The bytes transferred in both directions.
    long bytes() {
        return 2L * messageBytes * iterations;
    }

    /// Bits per microsecond, in both directions together.
    double megabitsPerSecond() {
        return bytes() * 8e3 / nanos;
    }

    /// The round-trip time in microseconds.
    double microsPerIteration() {
        return nanos / 1e3 / iterations;
    }

    /// The two lines that the C program prints.
    List<String> lines() {
        return List.of(
                String.format(
                        Locale.ROOT,
                        "%d bytes in %.2f seconds = %.2f Mbit/sec",
                        bytes(),
                        nanos / 1e9,
                        megabitsPerSecond()),
                String.format(
                        Locale.ROOT,
                        "%d iters in %.2f seconds = %.2f usec/iter",
                        iterations,
                        nanos / 1e9,
                        microsPerIteration()));
    }
}
