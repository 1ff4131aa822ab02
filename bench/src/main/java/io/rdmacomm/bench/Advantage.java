package io.rdmacomm.bench;

import java.util.Arrays;

/// How many times better rdmacomm is than a peer.
///
/// @param mean the geometric mean of the ratios of all rounds: twice as good and half as good cancel each other out
/// @param low the lowest ratio of a round
/// @param high the highest ratio of a round
record Advantage(double mean, double low, double high) {
    static Advantage of(double... ratios) {
        double logarithms = Arrays.stream(ratios).map(Math::log).sum();
        return new Advantage(
                Math.exp(logarithms / ratios.length),
                Arrays.stream(ratios).min().orElse(Double.NaN),
                Arrays.stream(ratios).max().orElse(Double.NaN));
    }

    /// Whether rounds disagree about who is better.
    boolean isUnstable() {
        return low < 1 && high > 1;
    }

    /// For a table.
    String text() {
        return "%.2f (%.2f..%.2f)%s".formatted(mean, low, high, isUnstable() ? " unstable" : "");
    }
}
