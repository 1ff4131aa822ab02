package io.rdmacomm.cli.bench.trial;

/// The lowest and the highest figure of the parts of one measurement: how much it varies within a run.
///
/// @param low the lowest
/// @param high the highest
public record Spread(double low, double high) {
    /// The spread of no parts.
    public static final Spread NONE = new Spread(Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY);

    /// This spread with one more part.
    public Spread with(double figure) {
        return new Spread(Math.min(low, figure), Math.max(high, figure));
    }
}
