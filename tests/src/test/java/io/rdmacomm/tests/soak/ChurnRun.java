package io.rdmacomm.tests.soak;

import io.rdmacomm.tests.soak.WorkerProcess.GoneException;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// Has one worker open connections of sockets to the echo server of another one, which is never killed. A life is some
/// connections, one after the other.
final class ChurnRun implements Runnable {
    private static final int CONNECTIONS = 20;
    private static final int LONGEST_PAUSE_MILLIS = 400;

    private final Route route;
    private final Soak soak;
    private final Random random;

    ChurnRun(Route route, Soak soak, long seed) {
        this.route = route;
        this.soak = soak;
        this.random = new Random(seed);
    }

    @Override
    public void run() {
        try {
            while (soak.begin()) {
                try {
                    live();
                } finally {
                    soak.done();
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(LONGEST_PAUSE_MILLIS)));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | AssertionError e) {
            soak.violation(route, "stuck: " + e);
        }
    }

    private void live() throws InterruptedException {
        WorkerProcess server = soak.worker(route.a());
        WorkerProcess client = soak.worker(route.b());
        try {
            Words listening = server.call(command("listen"));
            soak.count(route, "lives");
            client.call(command("churn")
                    .with("port", listening.number("port"))
                    .with("seed", random.nextLong())
                    .with("connections", CONNECTIONS));
            soak.count(route, "quiet");
        } catch (GoneException e) {
            // The conductor finds out whether somebody killed it.
            soak.count(route, "killed");
        } catch (IllegalStateException e) {
            if (client.killed() == 0) {
                soak.violation(route, "unexpected: " + e.getMessage());
            }
        }
    }

    private Words command(String verb) {
        return Words.of("do", verb, "link", route.name(), "device", route.device());
    }
}
