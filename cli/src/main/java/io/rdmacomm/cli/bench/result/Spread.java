package io.rdmacomm.cli.bench.result;

import io.rdmacomm.cli.terminal.Rounding;
import java.util.Map;

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

    /// Adds both to a JSON object.
    ///
    /// @param unit of the figures, as in the names of members
    void addTo(Map<String, Object> members, String unit) {
        members.put("low_" + unit, Rounding.rate(low, 4));
        members.put("high_" + unit, Rounding.rate(high, 4));
    }
}
