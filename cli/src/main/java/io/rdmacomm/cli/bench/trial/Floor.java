package io.rdmacomm.cli.bench.trial;

/// The limit that the machine sets for a figure: microseconds of a latency, 10^9 bits per second of a
/// bandwidth.
///
/// @param figure the limit, measured before; 0 if unknown
/// @param cacheLine the part of it that a cache line takes between the two sides, which is measured again in turn with
///     the test, because machines have states in which it takes several times as long; 0 if it is not a part
public record Floor(double figure, double cacheLine) {
    /// No known limit.
    public static final Floor UNKNOWN = new Floor(0, 0);

    /// The limit while a cache line takes so long.
    Floor with(double currentCacheLine) {
        return new Floor(figure - cacheLine + currentCacheLine, currentCacheLine);
    }
}
