package io.rdmacomm.tests.soak;

import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.soak.WorkerProcess.GoneException;
import java.util.List;
import java.util.Random;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// Gives a link one life after the other: opens its two sides, lets them run, ends them in a random way, and
/// compares what they say.
final class LinkRun implements Runnable {
    /// The ways in which a life ends when its time is over.
    private enum End {
        QUIET,
        DROP,
        DROP_BOTH,
        REVOKE
    }

    private static final End[] ENDS = {End.QUIET, End.QUIET, End.QUIET, End.DROP, End.DROP, End.DROP_BOTH, End.REVOKE};
    private static final long DEATH_MILLIS = 20_000;
    private static final long REJECTED_SECONDS = 5;

    /// A report that may end a life early.
    private record Event(@Nullable WorkerProcess from, String what, long epoch, long at) {}

    private final Route route;
    private final Soak soak;
    private final Random random;
    private final LinkedBlockingQueue<Event> events = new LinkedBlockingQueue<>();
    private long epoch;
    private boolean opened;
    private volatile boolean running;

    LinkRun(Route route, Soak soak, long seed) {
        this.route = route;
        this.soak = soak;
        this.random = new Random(seed);
    }

    Route route() {
        return route;
    }

    boolean isRunning() {
        return running;
    }

    void ended(WorkerProcess from, String status, long of, long noticed) {
        events.add(new Event(from, status, of, noticed));
    }

    void gone(WorkerProcess worker) {
        events.add(new Event(worker, "gone", -1, 0));
    }

    /// Asks for an end soon.
    void rest() {
        events.add(new Event(null, "rest", -1, 0));
    }

    /// Asks for an end while `stopped` is stopped.
    void dropPeerOf(WorkerProcess stopped) {
        events.add(new Event(stopped, "stopped", -1, 0));
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
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | AssertionError e) {
            violation("stuck: " + e);
        }
    }

    private void violation(String text) {
        soak.violation(route, text + " (epoch " + epoch + ")");
    }

    private void live() throws InterruptedException {
        WorkerProcess a = soak.worker(route.a());
        WorkerProcess b = soak.worker(route.b());
        epoch++;
        events.clear();
        opened = false;
        try {
            open(a, b);
            opened = true;
            soak.count(route, "lives");
            running = true;
            Event event = await(a, b, TimeUnit.MILLISECONDS.toNanos(soak.life(random)));
            running = false;
            if (event == null) {
                end(ENDS[random.nextInt(ENDS.length)], a, b);
            } else if (event.what().equals("rest")) {
                end(ENDS[random.nextInt(ENDS.length)], a, b);
            } else if (event.what().equals("stopped")) {
                soak.count(route, "stopped");
                dropAll(event.from() == a ? List.of(b, a) : List.of(a, b), 0);
            } else if (!event.what().equals("gone") && !awaitDeath(a, b)) {
                violation("unexpected: " + event.from() + " reports " + event.what());
                Event second = await(a, b, TimeUnit.SECONDS.toNanos(REJECTED_SECONDS));
                if (second != null) {
                    violation("unexpected, too: " + second.from() + " reports " + second.what());
                }
                dropAll(List.of(a, b), 0);
            } else {
                throw new GoneException("a worker has ended");
            }
        } catch (GoneException e) {
            survive(a, b);
        } catch (IllegalStateException e) {
            if (a.isGone() || b.isGone() || awaitDeath(a, b)) {
                survive(a, b);
            } else {
                violation("stuck: " + e.getMessage());
                abandon(a);
                abandon(b);
            }
        } finally {
            running = false;
        }
    }

    /// A failure may be noticed before it is known that a worker was killed.
    private static boolean awaitDeath(WorkerProcess a, WorkerProcess b) {
        return (a.killed() != 0 && Deadline.until(DEATH_MILLIS, a::isGone))
                || (b.killed() != 0 && Deadline.until(DEATH_MILLIS, b::isGone));
    }

    private Words command(String verb) {
        return Words.of("do", verb, "link", route.name());
    }

    private void open(WorkerProcess a, WorkerProcess b) throws GoneException, InterruptedException {
        long seed = random.nextLong();
        Words ofA = a.call(opening(seed, 0));
        Words ofB = b.call(opening(seed, 1));
        a.call(command("connect").addAll(ofB));
        b.call(command("connect").addAll(ofA));
    }

    private Words opening(long seed, int side) {
        return command("open")
                .with("epoch", epoch)
                .with("side", side)
                .with("seed", seed)
                .with("rate", soak.rate())
                .with("device", route.device());
    }

    /// Waits for something that ends this life; null if nothing does.
    private @Nullable Event await(WorkerProcess a, WorkerProcess b, long nanos) throws InterruptedException {
        long end = System.nanoTime() + nanos;
        while (true) {
            Event event = events.poll(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
            boolean ours = event != null && (event.from() == null || event.from() == a || event.from() == b);
            if (event == null || (ours && (event.epoch() < 0 || event.epoch() == epoch))) {
                return event;
            }
        }
    }

    private void end(End how, WorkerProcess a, WorkerProcess b) throws GoneException, InterruptedException {
        boolean first = random.nextBoolean();
        List<WorkerProcess> order = first ? List.of(a, b) : List.of(b, a);
        soak.count(route, how.name().toLowerCase(java.util.Locale.ROOT));
        switch (how) {
            case QUIET -> quiet(order.get(0), order.get(1));
            case DROP -> dropAll(order, random.nextInt(300));
            case DROP_BOTH -> dropAll(order, 0);
            case REVOKE -> {
                order.get(0).call(command("revoke"));
                Event event = await(a, b, TimeUnit.SECONDS.toNanos(REJECTED_SECONDS));
                if (event != null && event.what().equals("gone")) {
                    throw new GoneException("a worker has ended");
                }
                dropAll(order, 0);
            }
        }
    }

    private void quiet(WorkerProcess one, WorkerProcess other) throws GoneException, InterruptedException {
        Words ofOne = one.call(command("quiesce"));
        Words ofOther = other.call(command("quiesce"));
        one.call(command("finish").addAll(ofOther));
        other.call(command("finish").addAll(ofOne));
        compare(one.call(close(false)), other.call(close(false)));
    }

    private Words close(boolean watch) {
        return command("close").with("watch", watch ? 1 : 0);
    }

    private void dropAll(List<WorkerProcess> order, int pauseMillis) throws GoneException, InterruptedException {
        order.get(0).call(command("drop"));
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(pauseMillis));
        order.get(1).call(command("drop"));
        order.get(0).call(command("await"));
        order.get(1).call(command("await"));
        compare(order.get(0).call(close(true)), order.get(1).call(close(true)));
    }

    /// Each program has seen all messages that its device has acknowledged, and none that was not sent.
    private void compare(Words one, Words other) {
        compareDirection(one, other);
        compareDirection(other, one);
    }

    private void compareDirection(Words from, Words to) {
        long expected = to.number("expected");
        if (from.number("acknowledged") > expected) {
            violation("lost: message " + (from.number("acknowledged") - 1) + " succeeded, but only " + expected
                    + " have arrived");
        }
        if (from.number("posted") < expected) {
            violation("doubled: " + expected + " have arrived, but " + from.number("posted") + " were posted");
        }
    }

    /// A side whose peer was killed notices that, all its work ends, and it can be closed.
    private void survive(WorkerProcess a, WorkerProcess b) throws InterruptedException {
        // A call fails a moment before it is known which worker has ended.
        if (!awaitDeath(a, b) || (a.isGone() && b.isGone())) {
            return;
        }
        WorkerProcess dead = a.isGone() ? a : b;
        WorkerProcess living = a.isGone() ? b : a;
        if (!opened) {
            abandon(living);
            return;
        }
        try {
            Words answer = living.call(command("notice").with("since", dead.killed()));
            if (answer.has("absent")) {
                // It was closed just before the other side.
                return;
            }
            soak.count(route, "killed");
            long noticed = answer.number("noticed");
            if (noticed != 0) {
                soak.noticed(route, dead, noticed, answer.number("delay"));
            }
            living.call(command("await"));
            living.call(close(true));
        } catch (GoneException e) {
            // Both are dead.
        } catch (IllegalStateException e) {
            if (!living.isGone()) {
                violation("stuck: after the death of " + dead + ": " + e.getMessage());
            }
            abandon(living);
        }
    }

    /// Closes a side, whatever state it is in.
    private void abandon(WorkerProcess worker) throws InterruptedException {
        try {
            worker.call(close(false));
        } catch (GoneException | IllegalStateException e) {
            // It was not open, or the worker is dead.
        }
    }
}
