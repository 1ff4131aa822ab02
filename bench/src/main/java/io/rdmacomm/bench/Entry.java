package io.rdmacomm.bench;

import java.util.Arrays;
import java.util.List;

/// The results of one contestant in a scenario.
///
/// @param name of the contestant
/// @param contains what its figures contain
/// @param figures one for each round in which there is one, in order
/// @param failure why there are not all; empty if there are
record Entry(String name, String contains, List<Double> figures, String failure) {
    double median() {
        return median(figures.stream().mapToDouble(Double::doubleValue).toArray());
    }

    double low() {
        return figures.stream().mapToDouble(Double::doubleValue).min().orElse(Double.NaN);
    }

    double high() {
        return figures.stream().mapToDouble(Double::doubleValue).max().orElse(Double.NaN);
    }

    boolean isMeasured() {
        return !figures.isEmpty();
    }

    /// How many times better rdmacomm, `ours`, is in each round: both sides of a ratio were measured within seconds.
    Advantage advantageOf(Entry ours, Unit unit) {
        int rounds = Math.min(figures.size(), ours.figures.size());
        double[] ratios = new double[rounds];
        for (int i = 0; i < rounds; i++) {
            ratios[i] = unit.advantage(ours.figures.get(i), figures.get(i));
        }
        return Advantage.of(ratios);
    }

    static double median(double... values) {
        if (values.length == 0) {
            return Double.NaN;
        }
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
