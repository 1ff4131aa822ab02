package io.rdmacomm.cli.bench.trial;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/// The measurements of a benchmark.
///
/// @param tests the tests
/// @param sizes the message sizes
/// @param iterations the number of operations per measurement; 0 for as many as fit into the duration
/// @param durationNanos the duration of a measurement
/// @param firstWarmUpNanos the minimum warm-up of the first size of a test
/// @param warmUpNanos the minimum warm-up of the other sizes
/// @param depth the number of operations in flight
/// @param queuePairs the number of queue pairs that carry traffic in bandwidth tests
/// @param idleQueuePairs the number of additional queue pairs without traffic
/// @param bidirectional whether both sides send at the same time in bandwidth tests
/// @param floors whether to measure the limits of the machine as well
/// @param sampled whether to read the clock after every operation of a latency test, or only at the beginning and
///     end
/// @param modes the modes in which the tests wait, one after the other; empty to poll all the time, except for
///     [BenchTest#REQUEST_LAT]
/// @param service what carries the messages
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
        boolean floors,
        boolean sampled,
        List<Modes> modes,
        TransportService service) {
    private static final List<Long> FIXED_SIZE = List.of(8L);

    /// The sizes of a test.
    public List<Long> sizes(BenchTest test) {
        return test.hasFixedSize() ? FIXED_SIZE : sizes;
    }

    /// Whether the tests compare several modes.
    public boolean comparesModes() {
        return modes.size() > 1;
    }

    /// The modes of all tests with blocking calls; null if there are none or several.
    public @Nullable Modes blockingModes() {
        if (modes.isEmpty()) {
            return tests.contains(BenchTest.REQUEST_LAT) ? Modes.SLEEPING : null;
        }
        return comparesModes() ? null : modes.getFirst();
    }

    /// The modes of a test, one after the other; null stands for polling.
    private List<@Nullable Modes> modesOf(BenchTest test) {
        List<@Nullable Modes> all = new ArrayList<>(modes);
        if (all.isEmpty()) {
            all.add(test == BenchTest.REQUEST_LAT ? Modes.SLEEPING : null);
        }
        return all;
    }

    /// The plans of all measurements, in order.
    public List<TrialPlan> plans() {
        List<TrialPlan> plans = new ArrayList<>();
        for (BenchTest test : tests) {
            if (runsInTurn(test)) {
                continue;
            }
            for (Modes each : modesOf(test)) {
                for (long bytes : sizes(test)) {
                    test.inTurn().forEach(one -> plans.add(plan(one, bytes, each)));
                }
            }
        }
        return plans;
    }

    /// Whether this test already runs in turn with another test of the benchmark.
    private boolean runsInTurn(BenchTest test) {
        return tests.stream().anyMatch(other -> other != test && other.inTurn().contains(test));
    }

    private TrialPlan plan(BenchTest test, long bytes, @Nullable Modes each) {
        boolean latency = test.kind() == BenchTest.Kind.LATENCY;
        return new TrialPlan(
                test,
                bytes,
                latency || test.usesSocket() ? 1 : queuePairs,
                test.usesSocket() ? 0 : idleQueuePairs,
                depth,
                bidirectional && !latency,
                ThreadLocalRandom.current().nextLong(),
                each,
                service);
    }
}
