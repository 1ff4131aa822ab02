package io.rdmacomm.cli.doctor;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Runs each check in its own thread with a time limit. Abandons a thread that does not return from its driver.
public final class CheckRunner {
    private final Duration limit;
    private boolean abandoned;

    /// A runner of checks.
    ///
    /// @param limit the longest time of a check
    public CheckRunner(Duration limit) {
        this.limit = limit;
    }

    /// Runs a check. Blocks for at most the limit.
    public CheckResult run(Check check, CheckSetup setup) {
        long begin = System.nanoTime();
        FutureTask<Verdict> task = new FutureTask<>(() -> check.run(setup));
        Thread thread =
                Thread.ofPlatform().daemon().name("check " + check.name()).start(task);
        Verdict verdict;
        try {
            verdict = task.get(limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException _) {
            verdict = Verdict.failed("an end within " + limit.toSeconds() + " s", "it still runs, in " + place(thread));
            abandoned = true;
            thread.interrupt();
        } catch (ExecutionException e) {
            verdict = Verdict.of(e);
        } catch (InterruptedException e) {
            verdict = Verdict.ofFailure(e);
            Thread.currentThread().interrupt();
        }
        return new CheckResult(check.name(), setup.port(), verdict, (System.nanoTime() - begin) / 1e9);
    }

    /// Whether a thread was abandoned, so that the device cannot be closed.
    public boolean hasAbandoned() {
        return abandoned;
    }

    private static String place(Thread thread) {
        StackTraceElement[] stack = thread.getStackTrace();
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < Math.min(stack.length, 8); i++) {
            text.append(i == 0 ? "" : " < ")
                    .append(stack[i].getClassName().replaceAll(".*\\.", ""))
                    .append('.')
                    .append(stack[i].getMethodName());
        }
        return text.toString();
    }
}
