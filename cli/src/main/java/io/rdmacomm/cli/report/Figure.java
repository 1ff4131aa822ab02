package io.rdmacomm.cli.report;

/// A measured value with its noise band.
///
/// @param name what was measured; a figure of an earlier run has the same name
/// @param unit of the value
/// @param smallerIsBetter whether a smaller value is better
/// @param value the value
/// @param low the lowest value of a part of the run
/// @param high the highest value of a part of the run
public record Figure(String name, String unit, boolean smallerIsBetter, double value, double low, double high) {
    /// The value with three significant digits.
    public static String text(double value) {
        double size = Math.abs(value);
        if (size >= 100 || size == 0) {
            return "%.0f".formatted(value);
        }
        int places = (int) Math.ceil(2 - Math.log10(size));
        return ("%." + Math.min(places, 9) + "f").formatted(value);
    }

    boolean overlaps(Figure other) {
        return low <= other.high && other.low <= high;
    }
}
