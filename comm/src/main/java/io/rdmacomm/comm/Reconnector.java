package io.rdmacomm.comm;

import io.rdmacomm.verbs.VerbException;

import io.rdmacomm.verbs.RdmaException;

import io.rdmacomm.comm.endpoint.HandlerErrors;
import io.rdmacomm.comm.progress.Threads;
import io.rdmacomm.verbs.service.SafeLogger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Replaces the endpoint of a client whenever it has ended, in a virtual thread that sleeps in between.
///
/// The old endpoint is closed when [SessionListener#onEnd] has returned. The new one is made meanwhile, with new
/// queue pairs, and [SessionListener#onEndPoint] is told of it after that.
///
/// @param <E> the endpoints that users hold
final class Reconnector<E> implements AutoCloseable {
    /// Is told what becomes of the endpoint of a client; see [SessionListener].
    ///
    /// @param <E> the endpoints that users hold
    interface Listener<E> {
        void onEndPoint(E endPoint);

        void onRefused(RdmaException failure);

        void onGiveUp(RdmaException failure);
    }

    private static final SafeLogger LOGGER = SafeLogger.ofPackage(Reconnector.class);

    private final SessionSettings session;
    private final String server;
    private final Reconnect options;
    private final CurrentEndPoint<E> current;
    private final HandlerErrors errors;
    private final Listener<E> listener;
    private final Function<Duration, E> connect;
    private final BackOff backOff;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread;
    private long connectedAt;

    /// @param server what to call the server
    /// @param errors receives the exceptions of the listener
    /// @param connect makes one attempt, which takes no longer than a duration for reaching the server
    Reconnector(
            SessionSettings session,
            String server,
            Reconnect options,
            CurrentEndPoint<E> current,
            HandlerErrors errors,
            Listener<E> listener,
            Function<Duration, E> connect) {
        this.session = session;
        this.server = server;
        this.options = options;
        this.current = current;
        this.errors = errors;
        this.listener = listener;
        this.connect = connect;
        this.backOff = new BackOff(options, () -> ThreadLocalRandom.current().nextDouble());
        this.thread =
                Thread.ofVirtual().name("rdmacomm-reconnect-" + session.name()).unstarted(this::run);
    }

    /// Begins, when there is an endpoint.
    void start() {
        connectedAt = System.nanoTime();
        thread.start();
    }

    private void run() {
        try {
            E next = current.get();
            while (next != null) {
                PeerConnection old = current.awaitEnded();
                Thread teller = Objects.requireNonNull(old.teller());
                Thread farewell = told("free-" + old.name(), () -> {
                    Threads.join(teller);
                    old.close();
                });
                next = replacement(old);
                if (next != null) {
                    welcome(next, farewell);
                }
            }
        } catch (InterruptedException e) {
            LOGGER.log(Level.DEBUG, () -> session.name() + " is being closed");
        } finally {
            current.end(new ClosedException(session.name() + " does not reconnect any more", null));
        }
    }

    private void welcome(E next, Thread farewell) {
        current.set(next);
        LOGGER.log(Level.INFO, session.name() + " is connected to " + server + " again");
        tell("onEndPoint of " + next, () -> {
            Threads.join(farewell);
            listener.onEndPoint(next);
        });
    }

    /// Tries until there is another endpoint.
    ///
    /// @return the endpoint; null when it has given up, or the session is being closed
    private @Nullable E replacement(PeerConnection old) throws InterruptedException {
        long start = System.nanoTime();
        // A server that accepts clients and then fails at once is not to be hurried.
        if (start - connectedAt >= options.most().toNanos()) {
            backOff.reset();
        }
        RdmaException last = old.failure();
        for (int attempts = 0; ; attempts++) {
            long pause = backOff.nextNanos();
            long left = options.giveUpAfter().toNanos() - (System.nanoTime() - start);
            if (pause >= left) {
                giveUp(attempts, last);
                return null;
            }
            if (closed.await(pause, TimeUnit.NANOSECONDS)) {
                return null;
            }
            try {
                E next = connect.apply(attemptTime(left - pause));
                connectedAt = System.nanoTime();
                return next;
            } catch (RuntimeException e) {
                if (closed.getCount() == 0) {
                    return null;
                }
                RdmaException failure = failure(e);
                last = failure;
                tell("onRefused", () -> listener.onRefused(failure));
            }
        }
    }

    private Duration attemptTime(long leftNanos) {
        Duration left = Duration.ofNanos(Math.max(1_000_000, leftNanos));
        Duration most = session.deadlines().connect();
        return left.compareTo(most) < 0 ? left : most;
    }

    private RdmaException failure(RuntimeException e) {
        return e instanceof RdmaException same && !(e instanceof VerbException)
                ? same
                : new RdmaException(session.name() + " cannot reconnect to " + server + ": " + e.getMessage(), e);
    }

    private void giveUp(int attempts, @Nullable RdmaException last) {
        ClosedException why = new ClosedException(
                session.name() + " has given up reconnecting to " + server + " after " + attempts + " attempts in "
                        + options.giveUpAfter().toMillis() + " ms"
                        + (last == null ? "" : "; the last failure: " + last.getMessage()),
                last);
        LOGGER.log(Level.WARNING, why.getMessage());
        current.end(why);
        tell("onGiveUp", () -> listener.onGiveUp(why));
    }

    /// Runs a call of the listener on a thread of its own: it may block, or close the session.
    private void tell(String what, Runnable call) {
        var _ = told(what, () -> errors.guard(what, call));
    }

    private static Thread told(String name, Runnable call) {
        return Thread.ofVirtual().name("rdmacomm-" + name).start(call);
    }

    /// Ends at once, also during a pause or an attempt. Waits until it has ended.
    @Override
    public void close() {
        closed.countDown();
        thread.interrupt();
        Threads.join(thread);
    }
}
