package io.rdmacomm.tests.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/// Samples of one quantity over time, and the line of least squares through them.
final class Series {
    private static final double SECONDS_OF_AN_HOUR = 3600;

    private final List<double[]> points = new ArrayList<>();

    /// The slope in an hour, and three times its standard error.
    record Slope(double perHour, double noise) {
        /// Returns whether it rises by more than the noise and by more than `least` in that time.
        boolean rises(double hours, double least) {
            return perHour > noise && perHour * hours > least;
        }
    }

    void add(double seconds, double value) {
        points.add(new double[] {seconds, value});
    }

    int size() {
        return points.size();
    }

    double first() {
        return points.getFirst()[1];
    }

    double last() {
        return points.getLast()[1];
    }

    double hours() {
        return (points.getLast()[0] - points.getFirst()[0]) / SECONDS_OF_AN_HOUR;
    }

    /// Pairs of seconds and values.
    String json() {
        return points.stream()
                .map(point -> String.format(Locale.ROOT, "[%.1f, %.3f]", point[0], point[1]))
                .collect(Collectors.joining(", ", "[", "]"));
    }

    Slope slope() {
        int count = points.size();
        if (count < 3) {
            return new Slope(0, Double.POSITIVE_INFINITY);
        }
        double meanTime =
                points.stream().mapToDouble(point -> point[0]).average().orElse(0);
        double meanValue =
                points.stream().mapToDouble(point -> point[1]).average().orElse(0);
        double times = 0;
        double products = 0;
        for (double[] point : points) {
            times += (point[0] - meanTime) * (point[0] - meanTime);
            products += (point[0] - meanTime) * (point[1] - meanValue);
        }
        double slope = products / times;
        double rest = 0;
        for (double[] point : points) {
            double off = point[1] - meanValue - slope * (point[0] - meanTime);
            rest += off * off;
        }
        double error = Math.sqrt(rest / (count - 2) / times);
        return new Slope(slope * SECONDS_OF_AN_HOUR, 3 * error * SECONDS_OF_AN_HOUR);
    }
}
