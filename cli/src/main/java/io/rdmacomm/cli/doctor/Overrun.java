package io.rdmacomm.cli.doctor;

import io.rdmacomm.verbs.AsyncEvent;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import java.time.Duration;
import java.util.Map;

/// More completions than the queue holds. The device must report this, and other queues must keep working.
final class Overrun implements Check {
    private static final int ROOM = 4;
    private static final Duration MOMENT = Duration.ofMillis(100);

    @Override
    public String name() {
        return "completion queue overrun";
    }

    @Override
    public Verdict run(CheckSetup setup) throws InterruptedException {
        String report;
        try (Pair pair = Pair.connected(
                setup, new EndPlan(ROOM, ROOM, 0, 64), EndPlan.usual().withReceives(0, 64))) {
            QueuePairEnd near = pair.near();
            int capacity = near.completionQueue().capacity();
            for (int i = 0; i <= capacity; i++) {
                near.request()
                        .write(i, pair.far().offer().open())
                        .with(near.open(), 0, 8)
                        .signaled();
                near.post();
            }
            report = awaitReport(near, capacity + 1, setup.timeout());
        }
        try (Pair other = Pair.connected(
                setup, EndPlan.usual().withReceives(0, 64), EndPlan.usual().withReceives(0, 64))) {
            other.write();
        }
        return Verdict.ok(report + "; another queue works");
    }

    /// Waits until the device reports the overrun.
    private static String awaitReport(QueuePairEnd near, int posted, Duration timeout) throws InterruptedException {
        if (raisesEvent(near.context(), timeout)) {
            return "COMPLETION_QUEUE_ERROR";
        }
        try {
            Map<Long, WorkStatus> ends = near.collect(all -> all.size() == posted, timeout);
            throw new CheckFailure(
                    "COMPLETION_QUEUE_ERROR, or polling to fail",
                    ends.size() + " of " + posted + " completions were polled, and no error was reported");
        } catch (VerbException e) {
            return "polling fails: " + e.getMessage();
        }
    }

    private static boolean raisesEvent(Context context, Duration timeout) throws InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (System.nanoTime() - deadline < 0) {
            AsyncEvent event = context.awaitAsyncEvent(MOMENT);
            if (event != null && event.type() == AsyncEventType.COMPLETION_QUEUE_ERROR) {
                return true;
            }
        }
        return false;
    }
}
