package io.rdmacomm.cli.report;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;

/// A measured value with its noise band.
///
/// @param name what was measured; a figure of an earlier run has the same name
/// @param unit the unit of the value
/// @param smallerIsBetter whether a smaller value is better
/// @param value the value
/// @param low the lowest value of a round, or of a part of the run if there was only one round
/// @param high the highest value of a round, or of a part of the run if there was only one round
/// @param rounds the value of each round; empty if there was only one round
public record Figure(
        String name, String unit, boolean smallerIsBetter, double value, double low, double high, List<Double> rounds) {
    private static final MathContext THREE_DIGITS = new MathContext(3);

    /// The value with three significant digits.
    public static String text(double value) {
        double size = Math.abs(value);
        if (size == 0) {
            return "0";
        }
        if (size >= 100) {
            return BigDecimal.valueOf(value).round(THREE_DIGITS).toBigInteger().toString();
        }
        int places = (int) Math.ceil(2 - Math.log10(size));
        return ("%." + Math.min(places, 9) + "f").formatted(value);
    }
}
