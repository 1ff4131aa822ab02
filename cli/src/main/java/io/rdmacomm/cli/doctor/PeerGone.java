package io.rdmacomm.cli.doctor;

import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.RetryOptions;
import io.rdmacomm.verbs.WorkStatus;
import java.time.Duration;
import java.util.Map;

/// The peer closes its queue pair while this side writes to it. This side must notice.
final class PeerGone implements Check {
    private static final int RETRIES = 2;
    private static final int WRITES = 200;
    private static final Duration TICK = Duration.ofMillis(1);

    @Override
    public String name() {
        return "peer closes under traffic";
    }

    @Override
    public Verdict run(CheckSetup given) throws InterruptedException {
        CheckSetup setup = given.with(fewRetries(given.how()));
        EndPlan plan = EndPlan.usual().withReceives(0, 64);
        try (Pair pair = Pair.connected(setup, plan, plan)) {
            QueuePairEnd near = pair.near();
            // If the device completes WRITEs when they are sent, only the flushed receive shows the end.
            near.receive();
            pair.write();
            var target = pair.far().offer().open();
            WorkStatus failure = null;
            boolean open = true;
            long deadline = System.nanoTime() + setup.timeout().toNanos();
            for (long next = 1; failure == null && System.nanoTime() - deadline < 0; next++) {
                near.request()
                        .write(next, target)
                        .with(near.open(), 0, QueuePairEnd.OPEN_BYTES)
                        .signaled();
                near.tryPost();
                if (open && next == WRITES) {
                    pair.far().close();
                    open = false;
                }
                Map<Long, WorkStatus> ends = near.collect(all -> !all.isEmpty(), TICK);
                failure = ends.values().stream()
                        .filter(status -> status != WorkStatus.SUCCESS)
                        .findFirst()
                        .orElse(null);
            }
            if (failure == null) {
                throw new CheckFailure(
                        "WRITEs to a closed queue pair to fail",
                        "none did within " + setup.timeout().toSeconds() + " s");
            }
            if (open) {
                throw new CheckFailure("WRITEs to succeed while the peer is there", "one completed with " + failure);
            }
            return Verdict.ok(failure.name());
        }
    }

    private static ConnectionOptions fewRetries(ConnectionOptions how) {
        RetryOptions given = how.retries();
        return how.withRetries(given.withTimeout(given.timeout(), RETRIES));
    }
}
