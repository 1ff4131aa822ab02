package io.rdmacomm.comm;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.VerbException;
import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// A completion queue and the adapters whose work completes there. One thread at a time polls it, whichever
/// it is; that thread runs the handlers.
final class CompletionGroup implements AutoCloseable {
    private static final int POLL_BATCH = 64;
    private static final int ROUNDS_AT_A_TIME = 16;
    private static final int CAPACITY_WITHOUT_RESIZE = 1 << 16;
    private static final long STARVING_NANOS = 100_000;
    private static final VarHandle OWNER;

    static {
        try {
            OWNER = MethodHandles.lookup().findVarHandle(CompletionGroup.class, "owner", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final String name;
    private final WorkMode workMode;
    private final boolean callerDriven;
    private final Arena arena = Arena.ofShared();
    private final Completions completions = Completions.create(arena, POLL_BATCH);
    private final @Nullable CompletionChannel events;
    private final CompletionQueue queue;
    private final GroupMembers members;
    private final GroupTasks tasks = new GroupTasks();
    private final ReentrantLock reserving = new ReentrantLock();
    private final AtomicInteger reserved = new AtomicInteger();
    private final Sleeper sleeper;
    private final @Nullable EventLoop loop;
    // The number of the thread that polls, as in an OperationLock; 0 for none.
    private volatile long owner;
    private volatile boolean broken;

    /// A group that threads of its own or callers poll.
    ///
    /// @param entries completions it must hold to begin with
    /// @param maxAdapters how many adapters may join
    /// @param callerDriven whether no library thread polls it
    CompletionGroup(
            Context context, String name, WorkMode workMode, int entries, int maxAdapters, boolean callerDriven) {
        this(context, name, workMode, entries, maxAdapters, callerDriven, null);
    }

    /// A group of one adapter that `loop` polls.
    ///
    /// @param entries completions it must hold
    CompletionGroup(Context context, String name, int entries, EventLoop loop) {
        this(context, name, WorkMode.EPOLL, entries, 1, false, loop);
    }

    private CompletionGroup(
            Context context,
            String name,
            WorkMode workMode,
            int entries,
            int maxAdapters,
            boolean callerDriven,
            @Nullable EventLoop loop) {
        this.name = name;
        this.workMode = workMode;
        this.callerDriven = callerDriven;
        this.loop = loop;
        this.members = new GroupMembers(maxAdapters);
        long most = context.attributes().limit(DeviceLimit.MAX_COMPLETION_QUEUE_DEPTH);
        boolean grows = maxAdapters == 1 || context.supports(Capability.RESIZE_COMPLETION_QUEUE);
        int capacity = (int) Math.min(most, grows ? entries : Math.max(entries, CAPACITY_WITHOUT_RESIZE));
        CompletionQueueOptions options =
                CompletionQueueOptions.ofCapacity(Math.max(1, capacity)).withSingleThreaded(true);
        if (workMode == WorkMode.POLLING) {
            this.events = null;
            this.queue = context.createCompletionQueue(options);
        } else if (loop != null) {
            this.events = null;
            this.queue = context.createCompletionQueue(options.withChannel(loop.channel()));
        } else {
            CompletionChannel channel = context.createCompletionChannel();
            this.events = channel;
            this.queue = context.createCompletionQueue(options.withChannel(channel));
        }
        this.sleeper = new Sleeper(events);
    }

    String name() {
        return name;
    }

    CompletionQueue queue() {
        return queue;
    }

    boolean isCallerDriven() {
        return callerDriven;
    }

    /// A new strategy for a thread that polls this group.
    ///
    /// @param spinNanos how long an adaptive one spins
    Waiter newWaiter(long spinNanos) {
        return switch (workMode) {
            case POLLING -> new PollingWaiter();
            case COMPLETION_CHANNEL, EPOLL -> new AdaptiveWaiter(this, 0);
            case ADAPTIVE -> new AdaptiveWaiter(this, spinNanos);
        };
    }

    /// Takes what has completed and runs its handlers. Never blocks.
    ///
    /// @return how many completions there were; 0 while another thread polls, or in a handler
    int poll() {
        if (!enter()) {
            return 0;
        }
        try {
            if (tasks.areWaiting()) {
                tasks.run();
            }
            return broken ? 0 : pollQueue();
        } finally {
            leave();
        }
    }

    /// Asks for the next event and takes what has completed up to now; for the thread of an [EventLoop].
    ///
    /// @return false if that must be done again: another thread polls, or there was too much for one time
    boolean serveArmed() {
        if (!enter()) {
            return false;
        }
        try {
            if (tasks.areWaiting()) {
                tasks.run();
            }
            if (!broken) {
                arm();
            }
            int rounds = 0;
            while (!broken && pollQueue() > 0) {
                if (++rounds == ROUNDS_AT_A_TIME) {
                    return false;
                }
            }
            return true;
        } finally {
            leave();
        }
    }

    private int pollQueue() {
        int count;
        try {
            count = queue.poll(completions);
        } catch (VerbException | IllegalStateException e) {
            breakDown(e);
            return 0;
        }
        if (count > 0) {
            dispatch(count);
        }
        return count;
    }

    /// Apart from the polling: most polls find nothing, and the compiler would take this for unlikely.
    private void dispatch(int count) {
        for (int i = 0; i < count; i++) {
            long workId = completions.workId(i);
            RdmaAdapter adapter = members.of(workId);
            if (adapter == null) {
                continue;
            }
            if (WorkId.isReceive(workId)) {
                adapter.received(completions, i, WorkId.index(workId));
            } else {
                adapter.completed(completions, i, workId);
            }
        }
    }

    private void breakDown(RuntimeException why) {
        broken = true;
        members.fail(new CommException(name + " lost its completion queue: " + why.getMessage(), why));
    }

    /// Takes everything that has completed up to now, and not what comes meanwhile for ever. To be called in a
    /// task.
    void drain() {
        int count = 1;
        for (int left = queue.capacity(); left > 0 && count > 0 && !broken; left -= count) {
            count = pollQueue();
        }
    }

    /// Whether the queue can no longer tell what has ended.
    boolean isBroken() {
        return broken;
    }

    /// Whether the calling thread is in a handler of this group.
    boolean isPolling() {
        return Thread.currentThread().threadId() == owner;
    }

    private boolean enter() {
        return owner == 0
                && OWNER.compareAndSet(this, 0L, Thread.currentThread().threadId());
    }

    private void leave() {
        OWNER.setRelease(this, 0L);
    }

    /// Has `task` run by the polling thread, soon and once. A thread that sleeps in [#awaitEvent] wakes up.
    void submit(Runnable task) {
        tasks.add(task);
        wake();
    }

    /// Runs `task` while nobody polls, here or in the polling thread, and waits until it has run. In a
    /// handler it runs at once.
    void runExclusively(Runnable task) {
        if (isPolling()) {
            task.run();
            return;
        }
        FutureTask<@Nullable Void> future = new FutureTask<>(task, null);
        submit(future);
        boolean interrupted = false;
        while (!future.isDone()) {
            if (enter()) {
                try {
                    tasks.run();
                } finally {
                    leave();
                }
            } else {
                LockSupport.parkNanos(this, 10_000);
                interrupted |= Thread.interrupted();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        try {
            future.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException failure ? failure : new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Asks for one event at the next completion.
    void arm() {
        try {
            queue.arm(false);
        } catch (VerbException e) {
            breakDown(e);
        } catch (IllegalStateException e) {
            broken = true;
        }
    }

    /// Sleeps until an armed queue has an event, [#wake()] is called, or the time is up. One thread sleeps
    /// like that; others only wait a little.
    ///
    /// @return whether there may be something to do
    boolean awaitEvent(long maxNanos) {
        CompletionChannel channel = events;
        if (channel == null || !sleeper.enter()) {
            LockSupport.parkNanos(this, Math.min(maxNanos, STARVING_NANOS));
            return true;
        }
        boolean event = false;
        try {
            boolean starving = tasks.areWaiting();
            CompletionQueue ready =
                    channel.awaitEvent(Duration.ofNanos(starving ? Math.min(maxNanos, STARVING_NANOS) : maxNanos));
            if (ready != null) {
                ready.acknowledge(1);
                event = true;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IllegalStateException e) {
            broken = true;
        } finally {
            sleeper.leave();
        }
        return event || tasks.areWaiting();
    }

    /// Wakes the thread that sleeps in [#awaitEvent].
    void wake() {
        if (loop != null) {
            loop.attend(this);
        } else {
            sleeper.wake();
        }
    }

    /// Wakes `thread` if it sleeps in [#awaitEvent].
    void wake(Thread thread) {
        sleeper.wake(thread);
    }

    /// Makes sure that the queue can hold `entries` more completions.
    ///
    /// @throws CommException if it cannot: a channel more would overrun it
    void reserve(int entries) {
        reserving.lock();
        try {
            int needed = reserved.get() + entries;
            if (needed > queue.capacity()) {
                grow(needed);
            }
            reserved.addAndGet(entries);
        } finally {
            reserving.unlock();
        }
    }

    private void grow(int needed) {
        try {
            runExclusively(() -> queue.resize(Math.max(needed, queue.capacity() * 2)));
        } catch (VerbException e) {
            try {
                runExclusively(() -> queue.resize(needed));
            } catch (VerbException again) {
                again.addSuppressed(e);
                throw new CommException(
                        name + " holds " + queue.capacity() + " completions, one channel more needs " + needed
                                + "; use fewer or smaller channels, or thread mode PER_QUEUE_PAIR",
                        again);
            }
        }
    }

    /// Gives back what [#reserve] took.
    void unreserve(int entries) {
        // Without the lock: who has it may wait for this thread.
        reserved.addAndGet(-entries);
    }

    /// Lets `adapter` have its completions dispatched.
    ///
    /// @return the part that the numbers of all its work requests share
    /// @throws CommException if there is no place for it
    long join(RdmaAdapter adapter) {
        return members.join(adapter, name);
    }

    /// Ends the dispatching to the adapter with this number. To be called exclusively.
    void part(long workIdBase) {
        members.part(workIdBase);
    }

    /// Closes the completion queue; its adapters are closed by now.
    @Override
    public void close() {
        runExclusively(() -> {
            broken = true;
            queue.close();
            if (events != null) {
                events.close();
            }
            arena.close();
        });
    }
}
