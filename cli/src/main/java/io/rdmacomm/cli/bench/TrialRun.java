package io.rdmacomm.cli.bench;

/// One measurement: warms up, checks the data, and then does as many operations as were asked for, in steps.
final class TrialRun {
    private static final long STEP_NANOS = 50_000_000;
    private static final long SETTLED_NANOS = 250_000_000;
    private static final long SETTLED_COMPILER_NANOS = 5_000_000;
    private static final int MOST_WARM_UPS = 10;
    private static final long BANDWIDTH_STEP_NANOS = 2_000_000_000;
    private static final int MAX_READINGS = 1 << 18;
    private static final int CHECKED = 64;
    private static final long CHECKED_BYTES = 32 << 20;
    private static final int GROWTH = 8;

    private final Trial trial;
    private final TrialPlan plan;
    private final BenchSettings settings;
    private final long[] readings;

    TrialRun(Trial trial, TrialPlan plan, BenchSettings settings) {
        this.trial = trial;
        this.plan = plan;
        this.settings = settings;
        this.readings = new long[plan.test().kind() == BenchTest.Kind.LATENCY ? MAX_READINGS + 1 : 2];
    }

    /// Warms up, and measures nothing.
    void warmUp(long nanos) {
        warmUp(nanos, MAX_READINGS);
    }

    LatencyResult latency(long warmUpNanos, double floor) {
        double nanosEach = warmUp(warmUpNanos, MAX_READINGS);
        LatencySamples samples = new LatencySamples(plan.test().hops());
        long end = System.nanoTime() + settings.durationNanos();
        while (settings.iterations() > 0 ? samples.count() < settings.iterations() : isBefore(end, samples.count())) {
            long wanted = settings.iterations() > 0
                    ? settings.iterations() - samples.count()
                    : (long) ((end - System.nanoTime()) / nanosEach);
            int count = (int) Math.clamp(wanted, 1, Math.min(MAX_READINGS, (long) (1e9 / nanosEach) + 1));
            trial.step(count, StepMode.MEASURE, readings);
            samples.add(readings, count);
        }
        return LatencyResult.of(plan.test(), plan.bytes(), samples, floor);
    }

    BandwidthResult bandwidth(long warmUpNanos, double copyGbps) {
        double nanosEach = warmUp(warmUpNanos, Integer.MAX_VALUE);
        long wanted = settings.iterations() > 0
                ? settings.iterations()
                : Math.max(1, (long) (settings.durationNanos() / nanosEach));
        long longest = Math.max(1, (long) (BANDWIDTH_STEP_NANOS / nanosEach));
        long nanos = 0;
        long processorNanos = 0;
        long done = 0;
        while (done < wanted) {
            int count = (int) Math.min(Math.min(wanted - done, longest), 1 << 30);
            processorNanos += trial.step(count, StepMode.MEASURE, readings);
            nanos += readings[1] - readings[0];
            done += count;
        }
        long messages = plan.bidirectional() ? 2 * done : done;
        return new BandwidthResult(plan.test(), plan.bytes(), messages, nanos, processorNanos, copyGbps);
    }

    private static boolean isBefore(long end, long samples) {
        return samples == 0 || System.nanoTime() - end < 0;
    }

    /// Runs longer and longer steps, after one whose messages are all checked: for so long, without the time in
    /// which the compilers are waited for, and then until those of both ends have settled, but not for ever.
    ///
    /// @return the nanoseconds that one operation takes at the end
    private double warmUp(long nanos, int maxCount) {
        trial.step(Math.clamp(CHECKED_BYTES / plan.bytes(), 1, CHECKED), StepMode.CHECK, readings);
        long begin = System.nanoTime();
        long settledSince = begin;
        long compiled = trial.compilerNanos();
        int count = Math.clamp(CHECKED_BYTES / plan.bytes(), 2, CHECKED);
        long worked = 0;
        double each;
        long now;
        do {
            trial.step(count, StepMode.WARM_UP, readings);
            long last = plan.test().kind() == BenchTest.Kind.LATENCY ? readings[count] : readings[1];
            worked += last - readings[0];
            each = Math.max(1.0, (last - readings[0]) / (double) count);
            long fitting = (long) (STEP_NANOS / each);
            count = (int) Math.clamp(fitting, 1, Math.min(maxCount, (long) count * GROWTH));
            now = System.nanoTime();
            if (Math.abs(trial.compilerNanos() - compiled) > SETTLED_COMPILER_NANOS) {
                compiled = trial.compilerNanos();
                settledSince = now;
            }
        } while (now - begin < MOST_WARM_UPS * nanos && (worked < nanos || now - settledSince < SETTLED_NANOS));
        return each;
    }
}
