package io.rdmacomm.tests.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collection;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/// The gate of the benchmarks: the hot paths allocate nothing. It ignores their times, because those depend on the
/// machine.
@Tag("long")
class AllocationTest {
    private static final String ALLOCATION = "gc.alloc.rate.norm";
    // The harness itself allocates a little in each iteration, which is spread over millions of operations.
    private static final double NOTHING = 0.9;

    @ParameterizedTest
    @ValueSource(
            classes = {PostPollBenchmark.class, StructureBenchmark.class, FrameBenchmark.class, PoolBenchmark.class})
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void theHotPathAllocatesNothing(Class<?> benchmark) throws RunnerException {
        Collection<RunResult> results = new Runner(options(benchmark)).run();

        assertThat(results)
                .isNotEmpty()
                .allSatisfy(result -> assertThat(
                                result.getSecondaryResults().get(ALLOCATION).getScore())
                        .as("bytes that an operation of " + result.getParams().getBenchmark() + " allocates")
                        .isLessThan(NOTHING));
    }

    private static Options options(Class<?> benchmark) {
        return new OptionsBuilder()
                .include(benchmark.getName() + "\\..*")
                .addProfiler(GCProfiler.class)
                .forks(1)
                .jvmArgsAppend("-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED")
                // Code that is not compiled yet allocates.
                .warmupIterations(5)
                .warmupTime(TimeValue.seconds(1))
                .measurementIterations(1)
                .measurementTime(TimeValue.seconds(1))
                .shouldFailOnError(true)
                .verbosity(VerboseMode.SILENT)
                .build();
    }
}
