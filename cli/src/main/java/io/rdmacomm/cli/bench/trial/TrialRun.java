package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.cli.command.CommandFailure;
import java.io.IOException;

/// One measurement: verifies the data, warms up, and then performs the requested operations in steps.
public final class TrialRun {
    private static final long WARM_UP_STEP_NANOS = 50_000_000;
    private static final int MAX_STEP_GROWTH = 8;
    private static final long LATENCY_STEP_NANOS = 1_000_000_000;
    private static final long BANDWIDTH_STEP_NANOS = 2_000_000_000;
    private static final int MAX_READINGS = 1 << 18;
    private static final int MAX_COUNT = 1 << 30;
    private static final int MAX_SETTLING_STEPS = 50;
    private static final int QUIET_STEPS = 5;
    private static final int CHECKED = 64;
    private static final int PARTS = 5;
    /// Below a microsecond, reading the clock takes a good part of an operation.
    private static final double SHORT_NANOS = 1_000;
    private static final int GROUP = 64;
    private static final long UNLIMITED = -1;
    private static final long CHECKED_BYTES = 32 << 20;

    private final Trial trial;
    private final TrialPlan plan;
    private final BenchSettings settings;
    private final boolean latency;
    private final boolean sampled;
    private final Readings readings;

    public TrialRun(Trial trial, TrialPlan plan, BenchSettings settings) {
        this.trial = trial;
        this.plan = plan;
        this.settings = settings;
        this.latency = plan.test().kind() == BenchTest.Kind.LATENCY;
        this.sampled = latency && settings.sampled();
        this.readings = sampled ? Readings.ofEach(MAX_READINGS) : Readings.ofAll();
    }

    /// Warms up and measures, in parts that show how much the figure varies.
    ///
    /// @param floor the machine's limit for this measurement
    public Result measure(long warmUpNanos, Floor floor) throws IOException {
        Result figures = figures(warmUpNanos, floor);
        if (plan.service().isReliable()) {
            return figures;
        }
        Result.Losses losses = trial.losses();
        if (losses.received() == 0) {
            throw new CommandFailure("all " + losses.sent() + " messages of "
                    + plan.test().label() + " over " + plan.service().label() + " were lost: measure for longer");
        }
        return figures.over(plan.service(), losses);
    }

    private Result figures(long warmUpNanos, Floor floor) throws IOException {
        double nanosPerOperation = warmUp(warmUpNanos);
        if (!latency) {
            return bandwidth(nanosPerOperation, floor.figure());
        }
        return sampled ? latency(nanosPerOperation, floor) : mean(nanosPerOperation, floor);
    }

    private Result latency(double nanosPerOperation, Floor floor) throws IOException {
        int hops = plan.test().hops();
        // Those who name the number of operations want a sample of each.
        boolean grouped = nanosPerOperation < SHORT_NANOS * hops && settings.iterations() == 0;
        int group = grouped ? GROUP : 1;
        readings.group(group);
        LatencySamples samples = new LatencySamples(hops, group);
        Result.Spread spread = Result.Spread.NONE;
        FloorInTurn inTurn = new FloorInTurn(trial, floor);
        StepUse busy = StepUse.NONE;
        for (int part = 0; part < PARTS; part++) {
            LatencySamples own = new LatencySamples(hops, group);
            inTurn.measure();
            busy = busy.plus(sample(own, nanosPerOperation, iterations(part), settings.durationNanos() / PARTS));
            if (own.count() > 0) {
                double median = own.percentileMicros(50);
                inTurn.compare(median);
                spread = spread.with(median);
                samples.add(own);
            }
        }
        Result result =
                Result.latency(plan.test(), plan.bytes(), samples, inTurn.micros(), inTurn.difference(), spread);
        Modes modes = plan.modes();
        return settings.comparesModes() && modes != null ? result.in(modes, busy, idle()) : result;
    }

    /// The number of operations of a part; 0 if there are too few for all parts, -1 if the duration is the limit.
    private long iterations(int part) {
        long all = settings.iterations();
        return all == 0 ? UNLIMITED : all * (part + 1) / PARTS - all * part / PARTS;
    }

    /// Measures operations one after the other.
    ///
    /// @param samples receives the time of each, or of each group
    /// @param nanosPerOperation what [#warmUp] returned
    /// @return the CPU time of all steps
    private StepUse sample(LatencySamples samples, double nanosPerOperation, long iterations, long nanos) {
        StepUse use = StepUse.NONE;
        long end = System.nanoTime() + nanos;
        int group = samples.group();
        long longest = Math.min((long) MAX_READINGS * group, (long) (LATENCY_STEP_NANOS / nanosPerOperation) + group);
        while (iterations == UNLIMITED ? isBefore(end, samples.count()) : samples.count() < iterations) {
            long wanted = iterations == UNLIMITED
                    ? (long) ((end - System.nanoTime()) / nanosPerOperation)
                    : iterations - samples.count();
            int count = (int) Math.clamp(wanted, group, longest) / group * group;
            use = use.plus(trial.step(count, StepMode.MEASURE, readings));
            readings.addTo(samples);
        }
        return use;
    }

    /// Once the JIT compilers are idle, lets both sides wait for the duration of a measurement without any
    /// operation. Then checks that both still answer.
    ///
    /// @return the CPU time of the wait
    private StepUse idle() {
        awaitCompilers();
        int millis = (int) Math.max(1, settings.durationNanos() / 1_000_000);
        StepUse use = trial.step(millis, StepMode.IDLE, readings);
        trial.step(CHECKED, StepMode.CHECK, readings);
        return use;
    }

    /// Lets the JIT compilers finish, so that they do not disturb sleeping threads.
    private void awaitCompilers() {
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

    private Result mean(double nanosPerOperation, Floor floor) throws IOException {
        Result.Spread spread = Result.Spread.NONE;
        FloorInTurn inTurn = new FloorInTurn(trial, floor);
        Total total = Total.NONE;
        for (int part = 0; part < PARTS; part++) {
            inTurn.measure();
            Total own = perform(part, nanosPerOperation, LATENCY_STEP_NANOS);
            if (own.operations > 0) {
                double mean = own.nanos / 1000.0 / own.operations / plan.test().hops();
                inTurn.compare(mean);
                spread = spread.with(mean);
                total = total.plus(own);
            }
        }
        return Result.mean(
                plan.test(), plan.bytes(), total.operations, total.nanos, inTurn.micros(), inTurn.difference(), spread);
    }

    private Result bandwidth(double nanosPerOperation, double copyGbps) {
        int directions = plan.bidirectional() ? 2 : 1;
        Result.Spread spread = Result.Spread.NONE;
        Total total = Total.NONE;
        for (int part = 0; part < PARTS; part++) {
            Total own = perform(part, nanosPerOperation, BANDWIDTH_STEP_NANOS);
            if (own.operations > 0) {
                spread = spread.with(8.0 * plan.bytes() * directions * own.arrived / own.nanos);
                total = total.plus(own);
            }
        }
        return Result.bandwidth(
                plan.test(), plan.bytes(), directions * total.arrived, total.nanos, total.cpuNanos, copyGbps, spread);
    }

    /// Performs the operations of a part in steps of at most `stepNanos`. Times only the first post and the last
    /// completion of a step.
    private Total perform(int part, double nanosPerOperation, long stepNanos) {
        long iterations = iterations(part);
        long wanted = settings.durationNanos() / PARTS;
        long enough = wanted - wanted / 8; // Steps that are too short would measure their own beginning and end.
        Total total = Total.NONE;
        while (iterations == UNLIMITED ? total.nanos < enough : total.operations < iterations) {
            double each = total.operations == 0 ? nanosPerOperation : (double) total.nanos / total.operations;
            long left =
                    iterations == UNLIMITED ? (long) ((wanted - total.nanos) / each) : iterations - total.operations;
            int count = Math.clamp(left, 1, Math.clamp((long) (stepNanos / each), 1, MAX_COUNT));
            long cpuNanos = trial.step(count, StepMode.MEASURE, readings).cpuNanos();
            total = total.plus(new Total(count, trial.completed(), Math.max(1, readings.elapsed()), cpuNanos));
        }
        return total;
    }

    /// The sum of several steps.
    ///
    /// @param operations the number of operations
    /// @param arrived how many of them took effect
    private record Total(long operations, long arrived, long nanos, long cpuNanos) {
        static final Total NONE = new Total(0, 0, 0, 0);

        Total plus(Total other) {
            return new Total(
                    operations + other.operations,
                    arrived + other.arrived,
                    nanos + other.nanos,
                    cpuNanos + other.cpuNanos);
        }
    }

    /// Verifies every message of a first step, and then runs ever longer steps until the [WarmUp] is over.
    ///
    /// @param nanos the time of the warm-up
    /// @return the nanoseconds per operation in the last step
    public double warmUp(long nanos) {
        trial.step(Math.clamp(CHECKED_BYTES / plan.bytes(), 1, CHECKED), StepMode.CHECK, readings);
        WarmUp progress = new WarmUp(nanos, trial.compilerNanos());
        int count = Math.clamp(CHECKED_BYTES / plan.bytes(), 2, CHECKED);
        double nanosPerOperation;
        long stepNanos;
        do {
            trial.step(count, StepMode.WARM_UP, readings);
            stepNanos = readings.elapsed();
            nanosPerOperation = Math.max(1.0, stepNanos / (double) (latency ? Math.max(1, trial.completed()) : count));
            long longest = Math.min(sampled ? MAX_READINGS : Integer.MAX_VALUE, (long) count * MAX_STEP_GROWTH);
            count = (int) Math.clamp((long) (WARM_UP_STEP_NANOS / nanosPerOperation), 1, longest);
        } while (!progress.isOverAfter(stepNanos, trial.compilerNanos()));
        return nanosPerOperation;
    }
}
