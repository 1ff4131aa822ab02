package io.rdmacomm.cli.mesh;

import io.rdmacomm.cli.bench.trial.CompilerTime;
import io.rdmacomm.cli.bench.trial.WarmUp;
import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.mesh.Mesh;
import io.rdmacomm.mesh.collective.Collectives;
import io.rdmacomm.mesh.collective.Reduction;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/// Measures collectives on all ranks at the same time. Rank 0 decides the number of calls, and broadcasts it.
final class CollectiveBench {
    private static final long STEP_NANOS = 20_000_000;
    private static final int ROUNDS = 5;
    private static final long MOST_CALLS = 1 << 24;

    private final Mesh mesh;
    private final CollectiveSettings settings;
    private final Duration timeout;

    /// A benchmark on this rank.
    CollectiveBench(Mesh mesh, CollectiveSettings settings) {
        this.mesh = mesh;
        this.settings = settings;
        this.timeout = settings.timeout();
    }

    /// Measures everything. Blocks.
    ///
    /// @param onStart receives the test and the size before each measurement
    /// @param onResult receives each result
    void run(BiConsumer<CollectiveTest, Long> onStart, Consumer<CollectiveResult> onResult) {
        long largest = settings.tests().stream()
                .flatMap(test -> settings.sizes(test).stream()
                        .map(size -> CollectiveTrial.count(test, size, mesh.size()) * Double.BYTES))
                .max(Long::compare)
                .orElse(0L);
        TrialMemory memory = settings.arrays()
                ? new TrialMemory.Arrays()
                : TrialMemory.Buffers.allocate(mesh, Math.max(largest, Double.BYTES), timeout);
        for (CollectiveTest test : settings.tests()) {
            for (long size : settings.sizes(test)) {
                onStart.accept(test, size);
                Collectives collectives = mesh.collectives().with(settings.choice());
                onResult.accept(measure(test, new CollectiveTrial(test, size, mesh, collectives, memory, timeout)));
            }
        }
        mesh.barrier(timeout);
    }

    private CollectiveResult measure(CollectiveTest test, CollectiveTrial trial) {
        if (minimum(trial.check() ? 1 : 0) == 0) {
            throw new CommandFailure(
                    test.label() + " of " + trial.bytes() + " bytes gave a wrong result on at least one rank");
        }
        long calls = agreed(perRound(warmUp(trial)));
        double[] micros = new double[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            micros[round] = maximum(time(trial, calls)) / 1e3 / calls;
        }
        Arrays.sort(micros);
        return new CollectiveResult(
                test, trial.bytes(), mesh.size(), trial.algorithm(), ROUNDS * calls, micros[ROUNDS / 2]);
    }

    private long perRound(double nanosPerCall) {
        long wanted = settings.iterations() > 0
                ? Math.ceilDiv(settings.iterations(), ROUNDS)
                : (long) (settings.durationNanos() / nanosPerCall / ROUNDS);
        return Math.clamp(wanted, 1, MOST_CALLS);
    }

    /// Calls the collective until it is warm on all ranks. Between steps, the ranks leave the processors to the JIT
    /// compilers.
    ///
    /// @return the nanoseconds of one call in the last step; only those of rank 0 count
    private double warmUp(CollectiveTrial trial) {
        WarmUp progress = new WarmUp(settings.warmUpNanos(), total(CompilerTime.nanos()));
        long calls = agreed(2);
        double nanosPerCall = 0;
        while (calls > 0) {
            long stepNanos = time(trial, calls);
            nanosPerCall = Math.max(1.0, stepNanos / (double) calls);
            CompilerTime.awaitIdle();
            boolean over = progress.isOverAfter(stepNanos, total(CompilerTime.nanos()));
            calls = agreed(over ? 0 : Math.clamp((long) (STEP_NANOS / nanosPerCall), 1, MOST_CALLS));
        }
        return nanosPerCall;
    }

    private long time(CollectiveTrial trial, long calls) {
        mesh.barrier(timeout);
        long begin = System.nanoTime();
        for (long call = 0; call < calls; call++) {
            trial.call();
        }
        return System.nanoTime() - begin;
    }

    /// The number that rank 0 passes.
    private long agreed(long number) {
        return total(mesh.rank() == 0 ? number : 0);
    }

    private long total(long number) {
        return reduced(number, Reduction.SUM);
    }

    private long minimum(long number) {
        return reduced(number, Reduction.MIN);
    }

    private long maximum(long number) {
        return reduced(number, Reduction.MAX);
    }

    private long reduced(long number, Reduction reduction) {
        long[] numbers = {number};
        mesh.collectives().allReduce(numbers, reduction, timeout);
        return numbers[0];
    }
}
