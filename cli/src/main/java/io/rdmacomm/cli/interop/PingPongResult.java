package io.rdmacomm.cli.interop;

import java.util.List;
import java.util.Locale;

/// What a game of ibv_rc_pingpong(1) came to.
///
/// @param messageBytes the length of a message
/// @param iterations how many exchanges there were
/// @param nanos how long they took
public record PingPongResult(int messageBytes, int iterations, long nanos) {
    /// The bytes that travelled, both ways together.
    public long bytes() {
        return 2L * messageBytes * iterations;
    }

    /// Bits per microsecond, both ways together.
    public double megabitsPerSecond() {
        return bytes() * 8e3 / nanos;
    }

    /// Microseconds from message to message, there and back.
    public double microsPerIteration() {
        return nanos / 1e3 / iterations;
    }

    /// The two lines that the C program prints.
    public List<String> lines() {
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
