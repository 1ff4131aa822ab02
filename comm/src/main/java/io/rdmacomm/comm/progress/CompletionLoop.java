package io.rdmacomm.comm.progress;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/// A library thread that polls one completion group until it is closed.
public final class CompletionLoop implements AutoCloseable {
    private static final Logger LOGGER = System.getLogger(CompletionLoop.class.getPackageName());
    private static final long LONGEST_SLEEP_NANOS = 500_000_000;

    private final CompletionGroup group;
    private final IdleStrategy idle;
    private final Runnable onLost;
    private final Thread thread;
    private volatile boolean stopping;

    /// @param idle what the thread does when it finds nothing
    public CompletionLoop(CompletionGroup group, IdleStrategy idle) {
        this(group, idle, () -> {});
    }

    /// @param idle what the thread does when it finds nothing
    /// @param onLost called once by the thread if it ends because somebody else has closed the completion queue
    public CompletionLoop(CompletionGroup group, IdleStrategy idle, Runnable onLost) {
        this.group = group;
        this.idle = idle;
        this.onLost = onLost;
        this.thread = Thread.ofPlatform().daemon().name(group.name()).unstarted(this::run);
    }

    /// Starts the thread.
    public CompletionLoop start() {
        thread.start();
        return this;
    }

    private void run() {
        while (!stopping) {
            try {
                idle.idle(group.poll(), LONGEST_SLEEP_NANOS);
                if (Thread.interrupted()) {
                    LOGGER.log(Level.DEBUG, group.name() + " was interrupted");
                }
            } catch (RuntimeException | Error e) {
                // All channels of the group depend on this thread: one error does not end it.
                LOGGER.log(Level.ERROR, group.name() + " goes on after an error", e);
            }
            if (!stopping && group.isLost()) {
                onLost.run();
                return;
            }
        }
    }

    /// Stops the thread and waits for its end; called in that thread, it only stops it.
    @Override
    public void close() {
        stopping = true;
        // A task keeps the thread from falling asleep; waking it would be too early.
        group.submit(() -> {});
        if (!Thread.currentThread().equals(thread)) {
            Threads.join(thread);
        }
    }
}
