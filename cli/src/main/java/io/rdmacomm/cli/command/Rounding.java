package io.rdmacomm.cli.command;

import java.math.BigDecimal;
import java.math.MathContext;

/// Rounds figures to their significant digits.
public final class Rounding {
    private Rounding() {}

    /// `value` rounded to `places` decimal places.
    public static double to(double value, int places) {
        double scale = Math.pow(10, places);
        return Math.rint(value * scale) / scale;
    }

    /// Rounds a rate to `digits` places, or below 1 to `digits` significant digits, so that a slow rate does not
    /// become zero.
    public static double rate(double value, int digits) {
        boolean slow = Math.abs(value) < 1;
        return slow ? new BigDecimal(value).round(new MathContext(digits)).doubleValue() : to(value, digits);
    }
}
