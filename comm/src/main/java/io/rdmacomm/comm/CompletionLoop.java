package io.rdmacomm.comm;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/// A library thread that polls one completion group until it is closed.
final class CompletionLoop implements AutoCloseable {
    private static final Logger LOGGER = System.getLogger(CompletionLoop.class.getPackageName());
    private static final long LONGEST_SLEEP_NANOS = 500_000_000;

    private final CompletionGroup group;
    private final Waiter waiter;
    private final Thread thread;
    private volatile boolean stopping;

    CompletionLoop(CompletionGroup group, Waiter waiter) {
        this.group = group;
        this.waiter = waiter;
        this.thread = Thread.ofPlatform().daemon().name(group.name()).unstarted(this::run);
    }

    CompletionLoop start() {
        thread.start();
        return this;
    }

    private void run() {
        while (!stopping) {
            try {
                waiter.idle(group.poll(), LONGEST_SLEEP_NANOS);
                if (Thread.interrupted()) {
                    LOGGER.log(Level.DEBUG, group.name() + " was interrupted by somebody");
                }
            } catch (RuntimeException | Error e) {
                // The thread that all channels of the group depend on does not end because one thing went wrong.
                LOGGER.log(Level.ERROR, group.name() + " goes on after an error", e);
            }
        }
    }

    /// Stops the thread and waits for its end; called in that thread itself it only stops it.
    @Override
    public void close() {
        stopping = true;
        group.wake();
        boolean interrupted = false;
        while (thread.isAlive() && !Thread.currentThread().equals(thread)) {
            group.wake();
            try {
                thread.join(1);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
