package io.rdmacomm.tests.repeat;

import io.rdmacomm.tests.fixture.TestName;
import java.io.PrintStream;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/// Counts how often each test ran and failed, alone and beside busy loops. Prints each failure when it happens.
final class Tally implements TestExecutionListener {
    /// How often a test failed.
    private static final class Failures {
        int alone;
        int busy;
    }

    private final PrintStream out;
    private final Map<String, Failures> failed = new TreeMap<>();
    private @Nullable TestPlan plan;
    private long seed;
    private boolean busy;
    private int roundsAlone;
    private int roundsBusy;
    private int run;
    private int failures;
    private long runInAll;

    Tally(PrintStream out) {
        this.out = out;
    }

    /// A round begins.
    synchronized void begin(long roundSeed, boolean besideLoops) {
        seed = roundSeed;
        busy = besideLoops;
        roundsAlone += busy ? 0 : 1;
        roundsBusy += busy ? 1 : 0;
        run = 0;
        failures = 0;
    }

    /// That of the round.
    synchronized long seed() {
        return seed;
    }

    synchronized String where() {
        return busy ? "beside two busy loops" : "alone";
    }

    /// The results of the round.
    synchronized String counts() {
        return run + " tests, " + failures + " failed";
    }

    /// Whether any test ran, and none ever failed.
    synchronized boolean allPassed() {
        return runInAll > 0 && failed.isEmpty();
    }

    /// Prints how often each test failed, and the counts in the format of Maven.
    synchronized void summarize() {
        failed.forEach((name, count) -> out.printf(
                "[ERROR] %s failed in %d of %d rounds alone and %d of %d beside busy loops%n",
                name, count.alone, roundsAlone, count.busy, roundsBusy));
        int sum = failed.values().stream()
                .mapToInt(count -> count.alone + count.busy)
                .sum();
        out.printf("Tests run: %d, Failures: %d, Errors: 0, Skipped: 0%n", runInAll, sum);
    }

    @Override
    public synchronized void testPlanExecutionStarted(TestPlan testPlan) {
        plan = testPlan;
    }

    @Override
    public synchronized void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (test.isTest()) {
            run++;
            runInAll++;
        }
        if (result.getStatus() != TestExecutionResult.Status.FAILED) {
            return;
        }
        failures++;
        String name = TestName.of(test, plan);
        Failures count = failed.computeIfAbsent(name, _ -> new Failures());
        count.alone += busy ? 0 : 1;
        count.busy += busy ? 1 : 0;
        out.println("[ERROR] " + name + " failed " + where() + ", seed " + seed);
        result.getThrowable().ifPresent(thrown -> thrown.printStackTrace(out));
    }
}
