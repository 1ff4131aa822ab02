package io.rdmacomm.comm;

import io.rdmacomm.comm.endpoint.HandlerErrors;
import io.rdmacomm.comm.progress.Threads;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.service.SafeLogger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Replaces the endpoint of a client whenever it has ended. A virtual thread waits for that and connects again.
///
/// The old endpoint is closed when [SessionListener#onEnd] has returned. The new one is made meanwhile, with
/// new queue pairs, and [SessionListener#onEndPoint] is called for it after that.
///
/// @param <E> the endpoints that users hold
final class Reconnector<E> implements AutoCloseable {
    /// Notified of replacements of a client's endpoint; see [SessionListener].
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
    private final ReconnectPauses pauses;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread;
    private long connectedAt;

    /// @param server the server's name in messages
    /// @param errors receives the exceptions of the listener
    /// @param connect makes one attempt; its argument limits the time to reach the server
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
        this.pauses =
                new ReconnectPauses(options, () -> ThreadLocalRandom.current().nextDouble());
        this.thread =
                Thread.ofVirtual().name("rdmacomm-reconnect-" + session.name()).unstarted(this::run);
    }

    /// Starts; the first endpoint is set already.
    void start() {
        connectedAt = System.nanoTime();
        thread.start();
    }

    private void run() {
        try {
            E next = current.get();
            while (next != null) {
                PeerConnection old = current.awaitEnded();
                Thread endThread = Objects.requireNonNull(old.endThread());
                Thread closing = start("free-" + old.name(), () -> {
                    Threads.join(endThread);
                    old.close();
                });
                next = replacement(old);
                if (next != null) {
                    replaced(next, closing);
                }
            }
        } catch (InterruptedException e) {
            LOGGER.log(Level.DEBUG, () -> session.name() + " is being closed");
        } finally {
            current.end(new ClosedException(session.name() + " no longer reconnects", null));
        }
    }

    private void replaced(E next, Thread closing) {
        current.set(next);
        LOGGER.log(Level.INFO, session.name() + " is connected to " + server + " again");
        notifyListener("onEndPoint of " + next, () -> {
            Threads.join(closing);
            listener.onEndPoint(next);
        });
    }

    /// Tries until there is another endpoint.
    ///
    /// @return the endpoint; null when it has given up, or the session is being closed
    private @Nullable E replacement(PeerConnection old) throws InterruptedException {
        long start = System.nanoTime();
        // If the server accepts clients and then fails at once, the pauses keep growing.
        if (start - connectedAt >= options.most().toNanos()) {
            pauses.reset();
        }
        RdmaException last = old.failure();
        for (int attempts = 0; ; attempts++) {
            long pause = pauses.nextNanos();
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
                notifyListener("onRefused", () -> listener.onRefused(failure));
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
        notifyListener("onGiveUp", () -> listener.onGiveUp(why));
    }

    /// Calls the listener on a separate thread: it may block, or close the session.
    private void notifyListener(String what, Runnable call) {
        var _ = start(what, () -> errors.guard(what, call));
    }

    private static Thread start(String name, Runnable call) {
        return Thread.ofVirtual().name("rdmacomm-" + name).start(call);
    }

    /// Interrupts a pause or an attempt to connect, and waits until the thread has ended.
    @Override
    public void close() {
        closed.countDown();
        thread.interrupt();
        Threads.join(thread);
    }
}
