package io.rdmacomm.cli.mesh;

import io.rdmacomm.mesh.collective.Algorithm;
import io.rdmacomm.mesh.collective.AlgorithmChoice;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The measurements of a run.
///
/// @param tests the collectives
/// @param sizes in bytes
/// @param iterations calls per measurement; 0 for as many as fit into the duration
/// @param durationNanos the duration of a measurement
/// @param warmUpNanos the minimum duration of each warm-up
/// @param arrays whether the data is in Java arrays instead of mesh buffers
/// @param algorithm the algorithm of all collectives that have it; null for the usual choice
/// @param timeout how long a call may take
public record CollectiveSettings(
        List<CollectiveTest> tests,
        List<Long> sizes,
        long iterations,
        long durationNanos,
        long warmUpNanos,
        boolean arrays,
        @Nullable Algorithm algorithm,
        Duration timeout) {
    /// Copies the lists.
    public CollectiveSettings {
        tests = List.copyOf(tests);
        sizes = List.copyOf(sizes);
    }

    AlgorithmChoice choice() {
        return algorithm == null ? AlgorithmChoice.defaults() : AlgorithmChoice.always(algorithm);
    }

    /// The sizes of a test. A barrier has none.
    List<Long> sizes(CollectiveTest test) {
        return test == CollectiveTest.BARRIER ? List.of(0L) : sizes;
    }

    /// The number of measurements.
    int count() {
        return tests.stream().mapToInt(test -> sizes(test).size()).sum();
    }
}
