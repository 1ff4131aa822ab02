package io.rdmacomm.cli.bench;

import java.util.List;

/// What to measure, and for how long.
///
/// @param tests which tests
/// @param sizes with which sizes of message
/// @param iterations how many operations for each; 0 for as many as fit into the duration
/// @param durationNanos how long each measurement lasts
/// @param firstWarmUpNanos how long the first size of each test warms up
/// @param warmUpNanos how long every other size warms up
/// @param depth operations in flight
/// @param queuePairs queue pairs that carry traffic
/// @param idleQueuePairs queue pairs beside them that do not
/// @param bidirectional whether both sides send at the same time in bandwidth tests
/// @param floors whether the machine's limits are measured too
public record BenchSettings(
        List<BenchTest> tests,
        List<Long> sizes,
        long iterations,
        long durationNanos,
        long firstWarmUpNanos,
        long warmUpNanos,
        int depth,
        int queuePairs,
        int idleQueuePairs,
        boolean bidirectional,
        boolean floors) {
    /// The sizes for a test: atomics are always 8 bytes.
    List<Long> sizes(BenchTest test) {
        return test == BenchTest.ATOMIC_LAT ? List.of(8L) : sizes;
    }

    TrialPlan plan(BenchTest test, long bytes, long seed) {
        boolean latency = test.kind() == BenchTest.Kind.LATENCY;
        return new TrialPlan(
                test, bytes, latency ? 1 : queuePairs, idleQueuePairs, depth, bidirectional && !latency, seed);
    }

    /// How many measurements there are.
    int count() {
        return tests.stream().mapToInt(test -> sizes(test).size()).sum();
    }
}
