package io.rdmacomm.cli.bench;

/// Rounds what is written to as many places as mean something.
final class Rounding {
    private Rounding() {}

    static double to(double value, int places) {
        double scale = Math.pow(10, places);
        return Math.rint(value * scale) / scale;
    }
}
