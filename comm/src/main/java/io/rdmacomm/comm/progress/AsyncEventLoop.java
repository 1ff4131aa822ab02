package io.rdmacomm.comm.progress;

import io.rdmacomm.verbs.AsyncEvent;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.service.ServiceThread;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A thread that reads the asynchronous events of a context while the context is open.
public final class AsyncEventLoop implements AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.ofPackage(AsyncEventLoop.class);

    private static final long LONGEST_JOIN_MILLIS = 1_000;

    private final Context context;
    private final Consumer<AsyncEvent> onEvent;
    private final Runnable onTick;
    private final Duration interval;
    private final ServiceThread thread;
    private long tick;
    /// An event that could not be handled for lack of memory.
    private @Nullable AsyncEvent pending;
    private volatile boolean stopping;

    /// @param name of its thread
    /// @param onEvent receives each event
    /// @param onTick runs periodically
    /// @param interval how often
    public AsyncEventLoop(
            Context context, String name, Consumer<AsyncEvent> onEvent, Runnable onTick, Duration interval) {
        this.context = context;
        this.onEvent = onEvent;
        this.onTick = onTick;
        this.interval = interval;
        this.thread = new ServiceThread(name, LOGGER, this::serve);
    }

    /// Starts the thread.
    public AsyncEventLoop start() {
        tick = System.nanoTime() + interval.toNanos();
        var _ = thread.start();
        return this;
    }

    private boolean serve() {
        if (stopping || !context.isOpen()) {
            return false;
        }
        try {
            serveOnce();
        } catch (IllegalStateException e) {
            if (context.isOpen()) {
                throw e;
            }
        }
        return true;
    }

    private void serveOnce() {
        AsyncEvent event = pending;
        pending = null;
        if (event == null) {
            event = context.awaitAsyncEvent(Duration.ofNanos(Math.max(0, tick - System.nanoTime())));
        }
        if (event != null) {
            try {
                onEvent.accept(event);
            } catch (VirtualMachineError e) {
                // Keep the event: endpoints may not have been notified of the device failure yet.
                pending = event;
                throw e;
            }
        }
        if (System.nanoTime() - tick >= 0) {
            tick = System.nanoTime() + interval.toNanos();
            onTick.run();
        }
    }

    /// Handles no further events; the thread ends soon, at the latest when the context is closed. Never
    /// blocks.
    @Override
    public void close() {
        stopping = true;
    }

    /// Waits until the thread has ended, at most one second: a listener may be waiting for the caller. The context
    /// is already closed.
    public void join() {
        var _ = thread.join(LONGEST_JOIN_MILLIS);
    }
}
