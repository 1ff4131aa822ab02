package io.rdmacomm.cli.bench;

import java.math.BigDecimal;
import java.math.MathContext;

/// Rounds what is written to as many places as mean something.
final class Rounding {
    private Rounding() {}

    static double to(double value, int places) {
        double scale = Math.pow(10, places);
        return Math.rint(value * scale) / scale;
    }

    /// A rate: to `digits` places, and below 1 to `digits` digits, because a slow rate is not none.
    static double rate(double value, int digits) {
        boolean slow = Math.abs(value) < 1;
        return slow ? new BigDecimal(value).round(new MathContext(digits)).doubleValue() : to(value, digits);
    }
}
