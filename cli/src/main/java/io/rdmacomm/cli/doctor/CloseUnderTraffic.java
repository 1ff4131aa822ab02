package io.rdmacomm.cli.doctor;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Closes a queue pair and its memory while another thread posts and polls. Its calls must end, and the device must
/// keep working.
final class CloseUnderTraffic implements Check {
    private static final int ROUNDS = 5;

    @Override
    public String name() {
        return "close under traffic";
    }

    @Override
    public Verdict run(CheckSetup setup) throws InterruptedException {
        EndPlan plan = EndPlan.usual().withReceives(0, 64);
        long written = 0;
        for (int round = 0; round < ROUNDS; round++) {
            try (Pair pair = Pair.connected(setup, plan, plan)) {
                Traffic traffic = Traffic.begin(pair);
                boolean flows =
                        traffic.awaitFlow(setup.timeout()) && !traffic.end().isDone();
                pair.near().shut();
                awaitEnd(traffic, setup);
                if (!flows) {
                    throw new CheckFailure(
                            "WRITEs to complete until the queue pair is closed", traffic.done() + " did");
                }
                written += traffic.done();
            }
        }
        try (Pair pair = Pair.connected(setup, plan, plan)) {
            pair.write();
        }
        return Verdict.ok(ROUNDS + " closed after " + written + " WRITEs; another one works");
    }

    private static void awaitEnd(Traffic traffic, CheckSetup setup) throws InterruptedException {
        try {
            // The status of WRITEs on a queue pair that is being closed is undefined.
            var _ = traffic.end().get(setup.timeout().toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException _) {
            // A call has reported that its object is closed.
        } catch (TimeoutException _) {
            throw new CheckFailure("calls on a closed queue pair to end", "one does not return");
        }
    }
}
