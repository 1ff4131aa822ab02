package io.rdmacomm.soft.transport;

import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.service.ServiceThread;
import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/// The one thread of a context. It sleeps until one of its channels is ready, or until the time that
/// [Clock#onTime] asked for; everything that is fast is done by the threads that post and poll instead.
public final class Engine implements AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.of(Engine.class);
    private static final long JOIN_MILLIS = 5_000;
    /// The engine does not hear its channels while it waits for a shorter time.
    public static final long EXACT_NANOS = 1_000_000;
    private static final long DEAF_NANOS = 100_000;
    private static final long SELDOM_NANOS = 50_000;

    /// Called when time has passed, always on the engine's thread.
    public interface Clock {
        /// Time has passed, or [Engine#wakeup()] was called.
        ///
        /// @return nanoseconds until the next call is due, [Long#MAX_VALUE] for never; with 0, everything else
        /// waits up to 50 us
        long onTime();
    }

    /// Handles a channel that is ready; the attachment of its key. Always called on the engine's thread.
    public interface Ready {
        /// The channel of `key` is ready.
        void ready(SelectionKey key) throws IOException;
    }

    private final Clock clock;
    private final Runnable onFailure;
    private final Selector selector;
    private final Consumer<SelectionKey> handler = this::handle;
    private final ServiceThread thread;
    private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private long lastAsked = System.nanoTime();
    /// How long the thread waits next.
    private long wait = Long.MAX_VALUE;
    private volatile boolean stopping;

    /// An engine that does not run yet.
    ///
    /// @param name of the thread
    /// @param onFailure called once by the thread if it ends although the engine was not closed
    /// @throws IOException if the system has no selector left
    public Engine(String name, Clock clock, Runnable onFailure) throws IOException {
        this.clock = clock;
        this.onFailure = onFailure;
        this.selector = Selector.open();
        this.thread = new ServiceThread(name, LOGGER, this::serve, this::ended);
    }

    /// Begins to work.
    public void start() {
        var _ = thread.start();
    }

    /// Registers a channel that is not blocking; any thread.
    ///
    /// @param operations of [SelectionKey]
    /// @throws ClosedChannelException if the channel is closed
    public SelectionKey register(SelectableChannel channel, int operations, Ready ready) throws ClosedChannelException {
        SelectionKey key = channel.register(selector, operations, ready);
        selector.wakeup();
        return key;
    }

    /// Runs `task` on the engine's thread, soon.
    public void execute(Runnable task) {
        tasks.add(task);
        selector.wakeup();
    }

    /// Has [Clock#onTime] called soon.
    public void wakeup() {
        selector.wakeup();
    }

    private boolean serve() throws IOException {
        if (stopping) {
            return false;
        }
        long now = wait;
        // After a failure, too: what has failed may be due.
        wait = 0;
        try {
            select(now);
        } catch (ClosedSelectorException e) {
            if (!stopping) {
                LOGGER.log(System.Logger.Level.ERROR, "the engine has lost its selector and ends", e);
            }
            return false;
        }
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
        wait = clock.onTime();
        return true;
    }

    private void ended() {
        if (!stopping) {
            onFailure.run();
        }
    }

    /// Waits, and handles what is ready: without a set of keys, whose iterator would be allocated each time.
    private void select(long waitNanos) throws IOException {
        if (waitNanos == 0) {
            selectSeldom();
        } else if (waitNanos == Long.MAX_VALUE) {
            selector.select(handler);
        } else if (waitNanos < EXACT_NANOS) {
            int ready = selector.selectNow(handler);
            if (ready == 0 && tasks.isEmpty()) {
                // No longer: only a wake-up of the selector would end a select early.
                LockSupport.parkNanos(Math.min(waitNanos, DEAF_NANOS));
            }
        } else {
            // Rounded up, or the thread would wake up just before the time.
            selector.select(handler, TimeUnit.NANOSECONDS.toMillis(waitNanos + EXACT_NANOS - 1));
        }
    }

    /// A select costs as much as a read from a socket, so it is not done in each pass over busy channels.
    private void selectSeldom() throws IOException {
        long now = System.nanoTime();
        if (now - lastAsked >= SELDOM_NANOS) {
            lastAsked = now;
            selector.selectNow(handler);
        }
    }

    private void handle(SelectionKey key) {
        try {
            if (key.isValid() && key.attachment() instanceof Ready ready) {
                ready.ready(key);
            }
        } catch (CancelledKeyException e) {
            LOGGER.log(System.Logger.Level.TRACE, "another thread has closed it meanwhile", e);
        } catch (IOException | RuntimeException | Error e) {
            report(e);
        }
    }

    /// Reports a failure that costs one connection, and must neither end the engine nor keep it from the others. Never
    /// throws. Called by the engine.
    public void report(Throwable e) {
        thread.report(e);
    }

    /// Whether the calling thread is the engine's.
    public boolean isCurrentThread() {
        return thread.isCurrent();
    }

    /// Ends the thread and closes all channels.
    @Override
    public void close() throws IOException {
        stopping = true;
        selector.wakeup();
        var _ = thread.join(JOIN_MILLIS);
        if (selector.isOpen()) {
            for (SelectionKey key : selector.keys()) {
                key.channel().close();
            }
            selector.close();
        }
    }
}
