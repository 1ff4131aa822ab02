package io.rdmacomm.comm.progress;

import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.service.ServiceThread;

/// A library thread that polls one completion group until it is closed.
public final class CompletionLoop implements AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.ofPackage(CompletionLoop.class);
    private static final long LONGEST_SLEEP_NANOS = 500_000_000;

    private final CompletionGroup group;
    private final IdleStrategy idle;
    private final Runnable onLost;
    private final ServiceThread thread;
    private volatile boolean stopping;

    /// @param idle what the thread does when it finds nothing
    public CompletionLoop(CompletionGroup group, IdleStrategy idle) {
        this(group, idle, () -> {});
    }

    /// @param idle what the thread does when it finds nothing
    /// @param onLost called once by the thread if it ends because the completion queue was closed from
    ///         outside
    public CompletionLoop(CompletionGroup group, IdleStrategy idle, Runnable onLost) {
        this.group = group;
        this.idle = idle;
        this.onLost = onLost;
        this.thread = new ServiceThread(group.name(), LOGGER, this::serve, this::ended);
    }

    /// Starts the thread.
    public CompletionLoop start() {
        var _ = thread.start();
        return this;
    }

    private boolean serve() {
        if (stopping || group.isLost()) {
            return false;
        }
        idle.idle(group.tryPoll(), LONGEST_SLEEP_NANOS);
        return true;
    }

    private void ended() {
        if (!stopping) {
            onLost.run();
        }
    }

    /// Stops the thread and waits for its end; called in that thread, it only stops it.
    @Override
    public void close() {
        stopping = true;
        // A queued task keeps the thread from falling asleep; a wake-up could come too early.
        group.submit(() -> {});
        thread.join();
    }
}
