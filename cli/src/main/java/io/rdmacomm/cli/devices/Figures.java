package io.rdmacomm.cli.devices;

import org.jspecify.annotations.Nullable;

/// Formats numbers with three digits, in at most six characters.
final class Figures {
    /// An unknown number.
    static final String UNKNOWN = "-";

    private static final String[] THOUSANDS = {"", "k", "M", "G", "T", "P", "E"};
    private static final String[] BINARY = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};

    private Figures() {}

    /// For example `0`, `0.4`, `12`, `3.21k`.
    static String decimal(@Nullable Double value) {
        return value == null ? UNKNOWN : scaled(value, 1000, THOUSANDS);
    }

    /// For example `0`, `12`, `3.21Mi`.
    static String bytes(@Nullable Number value) {
        return value == null ? UNKNOWN : scaled(value.doubleValue(), 1024, BINARY);
    }

    private static String scaled(double value, int base, String[] units) {
        double left = value;
        int unit = 0;
        while (left >= 999.5 && unit < units.length - 1) {
            left /= base;
            unit++;
        }
        String digits;
        if (left == Math.rint(left) && (unit == 0 || left >= 100)) {
            digits = "%.0f".formatted(left);
        } else if (left < 9.995 && unit > 0) {
            digits = "%.2f".formatted(left);
        } else if (left < 99.95) {
            digits = "%.1f".formatted(left);
        } else {
            digits = "%.0f".formatted(left);
        }
        return digits + units[unit];
    }
}
