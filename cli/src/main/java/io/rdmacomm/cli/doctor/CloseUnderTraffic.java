package io.rdmacomm.cli.doctor;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// A queue pair and its memory are closed while another thread posts and polls. That thread gets an
/// exception, and the device keeps working.
final class CloseUnderTraffic implements Check {
    private static final int ROUNDS = 5;

    @Override
    public String name() {
        return "close under traffic";
    }

    @Override
    public Verdict run(Scene scene) throws InterruptedException {
        EndPlan plan = EndPlan.usual().withReceives(0, 64);
        long written = 0;
        for (int round = 0; round < ROUNDS; round++) {
            try (Pair pair = Pair.connected(scene, plan, plan)) {
                Traffic traffic = Traffic.begin(pair);
                boolean flows =
                        traffic.awaitFlow(scene.patience()) && !traffic.end().isDone();
                pair.near().shut();
                awaitEnd(traffic, scene);
                if (!flows) {
                    throw new CheckFailure(
                            "WRITEs to complete until the queue pair is closed", traffic.done() + " did");
                }
                written += traffic.done();
            }
        }
        try (Pair pair = Pair.connected(scene, plan, plan)) {
            pair.write();
        }
        return Verdict.ok(ROUNDS + " closed after " + written + " WRITEs; another one works");
    }

    private static void awaitEnd(Traffic traffic, Scene scene) throws InterruptedException {
        try {
            // The status of WRITEs on a queue pair that is being closed is undefined.
            var _ = traffic.end().get(scene.patience().toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException _) {
            // A call reports that its object is closed.
        } catch (TimeoutException _) {
            throw new CheckFailure("calls on a closed queue pair to end", "one does not return");
        }
    }
}
