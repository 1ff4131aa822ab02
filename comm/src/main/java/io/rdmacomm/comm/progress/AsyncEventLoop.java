package io.rdmacomm.comm.progress;

import io.rdmacomm.verbs.AsyncEvent;
import io.rdmacomm.verbs.Context;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.function.Consumer;

/// A thread that takes the asynchronous events of a context, as long as that is open.
public final class AsyncEventLoop implements AutoCloseable {
    private static final Logger LOGGER = System.getLogger(AsyncEventLoop.class.getPackageName());

    private final Context context;
    private final Consumer<AsyncEvent> onEvent;
    private final Runnable onTick;
    private final Duration interval;
    private final Thread thread;
    private volatile boolean stopping;

    /// @param name of its thread
    /// @param onEvent takes each event
    /// @param onTick runs now and then, in between
    /// @param interval how often
    public AsyncEventLoop(
            Context context, String name, Consumer<AsyncEvent> onEvent, Runnable onTick, Duration interval) {
        this.context = context;
        this.onEvent = onEvent;
        this.onTick = onTick;
        this.interval = interval;
        this.thread = Thread.ofVirtual().name(name).unstarted(this::run);
    }

    /// Starts the thread.
    public AsyncEventLoop start() {
        thread.start();
        return this;
    }

    private void run() {
        long tick = System.nanoTime() + interval.toNanos();
        while (!stopping && context.isOpen()) {
            try {
                AsyncEvent event = context.awaitAsyncEvent(Duration.ofNanos(Math.max(0, tick - System.nanoTime())));
                if (event != null) {
                    onEvent.accept(event);
                }
                if (System.nanoTime() - tick >= 0) {
                    tick = System.nanoTime() + interval.toNanos();
                    onTick.run();
                }
            } catch (InterruptedException e) {
                LOGGER.log(Level.DEBUG, thread.getName() + " was interrupted");
            } catch (RuntimeException | Error e) {
                if (!stopping && context.isOpen()) {
                    LOGGER.log(Level.ERROR, thread.getName() + " goes on after an error", e);
                }
            }
        }
    }

    /// Handles no further event; the thread ends soon, at the latest when the context is closed. Never blocks.
    @Override
    public void close() {
        stopping = true;
    }
}
