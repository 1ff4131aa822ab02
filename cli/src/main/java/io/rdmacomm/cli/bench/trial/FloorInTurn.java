package io.rdmacomm.cli.bench.trial;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// The limit of a latency, measured in turn with the parts of its test, and the difference of the two: machines
/// have states in which a cache line takes several times as long, and only the difference is the software's.
final class FloorInTurn {
    private final Trial trial;
    private final Floor before;
    private final List<Double> floors = new ArrayList<>();
    private final List<Double> differences = new ArrayList<>();
    private Floor now;

    /// @param before the limit, measured before
    FloorInTurn(Trial trial, Floor before) {
        this.trial = trial;
        this.before = before;
        this.now = before;
    }

    /// Measures again what is a part of the limit.
    void measure() throws IOException {
        if (before.cacheLine() > 0) {
            double current = trial.cacheLineMicros();
            now = current == 0 ? before : before.with(current);
        }
    }

    /// Compares a part of the test, in microseconds, with the limit measured last.
    void compare(double micros) {
        floors.add(now.figure());
        differences.add(micros - now.figure());
    }

    /// The median limit in microseconds; 0 if unknown.
    double micros() {
        return median(floors);
    }

    /// The median difference in microseconds.
    double difference() {
        return median(differences);
    }

    private static double median(List<Double> values) {
        return values.isEmpty() ? 0 : values.stream().sorted().toList().get(values.size() / 2);
    }
}
