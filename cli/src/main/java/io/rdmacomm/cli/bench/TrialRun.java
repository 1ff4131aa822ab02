package io.rdmacomm.cli.bench;

/// One measurement: verifies the data, warms up, and then performs as many operations as were asked for, in steps.
final class TrialRun {
    private static final long WARM_UP_STEP_NANOS = 50_000_000;
    private static final long SETTLED_NANOS = 250_000_000;
    private static final long SETTLED_COMPILER_NANOS = 5_000_000;
    private static final int MAX_WARM_UP_FACTOR = 10;
    private static final int MAX_STEP_GROWTH = 8;
    private static final long LATENCY_STEP_NANOS = 1_000_000_000;
    private static final long BANDWIDTH_STEP_NANOS = 2_000_000_000;
    private static final int MAX_READINGS = 1 << 18;
    private static final int MAX_COUNT = 1 << 30;
    private static final int MAX_SETTLING_STEPS = 50;
    private static final int QUIET_STEPS = 5;
    private static final int CHECKED = 64;
    private static final long CHECKED_BYTES = 32 << 20;

    private final Trial trial;
    private final TrialPlan plan;
    private final BenchSettings settings;
    private final boolean latency;
    private final long[] readings;

    TrialRun(Trial trial, TrialPlan plan, BenchSettings settings) {
        this.trial = trial;
        this.plan = plan;
        this.settings = settings;
        this.latency = plan.test().kind() == BenchTest.Kind.LATENCY;
        this.readings = new long[latency ? MAX_READINGS + 1 : 2];
    }

    /// Warms up and measures.
    ///
    /// @param floor the machine's limit for this measurement; 0 if unknown
    Result measure(long warmUpNanos, double floor) {
        double nanosPerOperation = warmUp(warmUpNanos);
        return latency ? latency(nanosPerOperation, floor) : bandwidth(nanosPerOperation, floor);
    }

    private LatencyResult latency(double nanosPerOperation, double floor) {
        LatencySamples samples = new LatencySamples(plan.test().hops());
        sample(samples, nanosPerOperation);
        return new LatencyResult(plan.test(), plan.bytes(), samples, floor);
    }

    /// Measures operations one after the other.
    ///
    /// @param samples receives the time of each
    /// @param nanosPerOperation what [#warmUp] returned
    /// @return the CPU time of all steps
    StepUse sample(LatencySamples samples, double nanosPerOperation) {
        StepUse use = StepUse.NONE;
        long end = System.nanoTime() + settings.durationNanos();
        long longest = Math.min(MAX_READINGS, (long) (LATENCY_STEP_NANOS / nanosPerOperation) + 1);
        while (settings.iterations() > 0 ? samples.count() < settings.iterations() : isBefore(end, samples.count())) {
            long wanted = settings.iterations() > 0
                    ? settings.iterations() - samples.count()
                    : (long) ((end - System.nanoTime()) / nanosPerOperation);
            int count = (int) Math.clamp(wanted, 1, longest);
            use = use.plus(trial.step(count, StepMode.MEASURE, readings));
            samples.add(readings, count);
        }
        return use;
    }

    /// Lets both sides wait for `millis` milliseconds without any operation, after their JIT compilers have become
    /// idle, and then checks that they still answer.
    ///
    /// @return the CPU time of the wait
    StepUse idle(int millis) {
        settle();
        StepUse use = trial.step(millis, StepMode.IDLE, readings);
        trial.step(CHECKED, StepMode.CHECK, readings);
        return use;
    }

    /// Lets the JIT compilers finish: they would keep other threads from sleeping in peace.
    private void settle() {
        int quiet = 0;
        for (int i = 0; i < MAX_SETTLING_STEPS && quiet < QUIET_STEPS; i++) {
            long compilerNanos = trial.compilerNanos();
            trial.step(1, StepMode.WARM_UP, readings);
            quiet = trial.compilerNanos() == compilerNanos ? quiet + 1 : 0;
        }
    }

    private static boolean isBefore(long end, long samples) {
        return samples == 0 || System.nanoTime() - end < 0;
    }

    private BandwidthResult bandwidth(double nanosPerOperation, double copyGbps) {
        long wanted = settings.iterations() > 0
                ? settings.iterations()
                : Math.max(1, (long) (settings.durationNanos() / nanosPerOperation));
        long longest = Math.clamp((long) (BANDWIDTH_STEP_NANOS / nanosPerOperation), 1, MAX_COUNT);
        long nanos = 0;
        long cpuNanos = 0;
        long done = 0;
        while (done < wanted) {
            int count = (int) Math.min(wanted - done, longest);
            cpuNanos += trial.step(count, StepMode.MEASURE, readings).cpuNanos();
            nanos += readings[1] - readings[0];
            done += count;
        }
        long messages = plan.bidirectional() ? 2 * done : done;
        return new BandwidthResult(plan.test(), plan.bytes(), messages, nanos, cpuNanos, copyGbps);
    }

    /// Verifies every message of a first step, and then runs longer and longer steps: at least for `nanos`, not
    /// counting the waits for the JIT compiler, and then until the compilers of both sides are idle, but at
    /// most for ten times as long.
    ///
    /// @return how many nanoseconds one operation took in the last step
    double warmUp(long nanos) {
        trial.step(Math.clamp(CHECKED_BYTES / plan.bytes(), 1, CHECKED), StepMode.CHECK, readings);
        long begin = System.nanoTime();
        long settledSince = begin;
        long compilerNanos = trial.compilerNanos();
        int count = Math.clamp(CHECKED_BYTES / plan.bytes(), 2, CHECKED);
        long worked = 0;
        double nanosPerOperation;
        long now;
        do {
            trial.step(count, StepMode.WARM_UP, readings);
            long stepNanos = readings[latency ? count : 1] - readings[0];
            worked += stepNanos;
            nanosPerOperation = Math.max(1.0, stepNanos / (double) count);
            long longest = Math.min(latency ? MAX_READINGS : Integer.MAX_VALUE, (long) count * MAX_STEP_GROWTH);
            count = (int) Math.clamp((long) (WARM_UP_STEP_NANOS / nanosPerOperation), 1, longest);
            now = System.nanoTime();
            if (Math.abs(trial.compilerNanos() - compilerNanos) > SETTLED_COMPILER_NANOS) {
                compilerNanos = trial.compilerNanos();
                settledSince = now;
            }
        } while (now - begin < MAX_WARM_UP_FACTOR * nanos && (worked < nanos || now - settledSince < SETTLED_NANOS));
        return nanosPerOperation;
    }
}
