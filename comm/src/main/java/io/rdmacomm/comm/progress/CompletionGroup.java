package io.rdmacomm.comm.progress;

import io.rdmacomm.verbs.RdmaInterruptedException;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.service.SafeLogger;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// A completion queue and the members whose work completes there. One thread at a time polls it, any thread;
/// that thread runs the handlers.
public final class CompletionGroup implements AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.ofPackage(CompletionGroup.class);

    /// Idle threads spin and never sleep: the queue needs no events.
    public static final long SPIN_FOREVER = Long.MAX_VALUE;

    private static final int POLL_BATCH = 64;
    private static final int ROUNDS_AT_A_TIME = 16;
    private static final int CAPACITY_WITHOUT_RESIZE = 1 << 16;
    /// The longest sleep while tasks wait, or while another thread sleeps for this one.
    static final long SHORT_SLEEP_NANOS = 100_000;
    private static final long RETRY_MICROS = 10;
    /// A round of polling looks for waiters without a memory fence, and so may miss one that has just come.
    private static final long MISSED_NANOS = 500_000;
    /// The polling thread could itself be waiting for the one that catches up, so that one must not wait for
    /// long.
    private static final long CATCH_UP_NANOS = 100_000_000;

    private static final VarHandle OWNER;

    static {
        try {
            OWNER = MethodHandles.lookup().findVarHandle(CompletionGroup.class, "owner", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final String name;
    private final long spinNanos;
    private final boolean callerDriven;
    private final Arena arena = Arena.ofShared();
    private final Completions completions = Completions.create(arena, POLL_BATCH);
    private final @Nullable CompletionChannel events;
    private final CompletionQueue queue;
    private final GroupMembers members;
    private final ReceiveRoutes routes = new ReceiveRoutes();
    private final GroupTasks tasks = new GroupTasks();
    // Those that look for something that has no event, in each round until it has come.
    private final GroupTasks looks = new GroupTasks();
    private final LookPace pace = new LookPace();
    private final ReentrantLock reserving = new ReentrantLock();
    private final AtomicInteger reserved = new AtomicInteger();
    private final List<Waiter> waiters = new CopyOnWriteArrayList<>();
    private final PollingTurn turn = new PollingTurn();
    private final Sleeper sleeper;
    private final @Nullable EventLoop loop;
    // The number of the thread that polls, as in an OperationLock; 0 for none.
    private volatile long owner;
    private volatile boolean broken;

    /// A group that is polled by a [CompletionLoop] or by callers.
    ///
    /// @param spinNanos how long idle threads spin before they sleep, or [#SPIN_FOREVER]
    /// @param entries completions that it must hold to begin with
    /// @param maxMembers how many members may join
    /// @param callerDriven whether no library thread polls it
    public CompletionGroup(
            CompletionQueues queues, String name, long spinNanos, int entries, int maxMembers, boolean callerDriven) {
        this(queues, name, spinNanos, entries, maxMembers, callerDriven, null);
    }

    /// A group of one member that `loop` polls.
    ///
    /// @param entries completions that it must hold
    public CompletionGroup(CompletionQueues queues, String name, int entries, EventLoop loop) {
        this(queues, name, 0, entries, 1, false, loop);
    }

    private CompletionGroup(
            CompletionQueues queues,
            String name,
            long spinNanos,
            int entries,
            int maxMembers,
            boolean callerDriven,
            @Nullable EventLoop loop) {
        this.name = name;
        this.spinNanos = spinNanos;
        this.callerDriven = callerDriven;
        this.loop = loop;
        this.members = new GroupMembers(maxMembers);
        Context context = queues.context();
        long most = context.limit(DeviceLimit.MAX_COMPLETION_QUEUE_DEPTH);
        boolean grows = maxMembers == 1 || context.supports(Capability.RESIZE_COMPLETION_QUEUE);
        int capacity = (int) Math.min(most, grows ? entries : Math.max(entries, CAPACITY_WITHOUT_RESIZE));
        CompletionQueueOptions options =
                CompletionQueueOptions.ofCapacity(Math.max(1, capacity)).withSingleThreaded(true);
        if (spinNanos == SPIN_FOREVER) {
            this.events = null;
            this.queue = queues.create(options);
        } else if (loop != null) {
            this.events = null;
            this.queue = queues.create(options, loop.channel());
        } else {
            CompletionChannel channel = context.createCompletionChannel();
            this.events = channel;
            this.queue = queues.create(options, channel);
        }
        this.sleeper = new Sleeper(events);
    }

    /// Its name in messages, and that of its thread.
    public String name() {
        return name;
    }

    /// The completion queue, for the queue pairs of its members.
    public CompletionQueue queue() {
        return queue;
    }

    /// Whether a poll has found that somebody has closed the completion queue.
    boolean isLost() {
        return broken && !queue.isOpen();
    }

    /// Whether no library thread polls it.
    public boolean isCallerDriven() {
        return callerDriven;
    }

    /// Whose turn it is to poll, of the threads that wait.
    PollingTurn turn() {
        return turn;
    }

    /// Whether idle threads spin and never sleep.
    boolean spins() {
        return spinNanos == SPIN_FOREVER;
    }

    /// A new strategy for a thread that polls this group for good.
    public IdleStrategy newIdleStrategy() {
        return newIdleStrategy(() -> false);
    }

    /// A new strategy for one thread that polls this group until `ended`.
    IdleStrategy newIdleStrategy(BooleanSupplier ended) {
        return spins() ? new SpinningIdleStrategy() : new SleepingIdleStrategy(this, spinNanos, ended);
    }

    /// A new strategy for a thread that polls this group until `ended` and does not need the lowest latency.
    /// Without events, in [#SPIN_FOREVER], it sleeps for fixed times.
    IdleStrategy newPatientStrategy(BooleanSupplier ended) {
        return spins()
                ? (polled, maxNanos) ->
                        LockSupport.parkNanos(this, polled > 0 ? 0 : Math.min(maxNanos, SHORT_SLEEP_NANOS))
                : new SleepingIdleStrategy(this, 0, ended);
    }

    /// Takes what has completed and runs its handlers. Never blocks.
    ///
    /// @return how many completions there were; 0 while another thread polls, or in a handler
    public int poll() {
        if (!enter()) {
            return 0;
        }
        try {
            boolean hadTasks = runTasks();
            if (members.areCondemned()) {
                tellCondemned();
            }
            int count = broken ? 0 : pollQueue();
            if (count > 0) {
                pace.restart();
            }
            if (count > 0 || hadTasks) {
                wakeWaiters();
            }
            return count;
        } finally {
            leave();
        }
    }

    /// Polls, and sleeps if nothing has completed: until there is an event, [#wake()] is called, or the time is
    /// up. Without events, in [#SPIN_FOREVER], it only polls.
    ///
    /// @return how many completions there were before it slept
    public int pollOrSleep(long maxNanos) {
        int count = poll();
        if (count > 0 || spins() || isPolling()) {
            return count;
        }
        arm();
        count = poll();
        if (count == 0) {
            awaitEvent(() -> false, maxNanos);
        }
        return count;
    }

    private boolean runTasks() {
        boolean had = tasks.areWaiting();
        if (had) {
            pace.restart();
            tasks.run();
        }
        if (looks.areWaiting()) {
            had = true;
            looks.run();
        }
        return had;
    }

    private void wakeWaiters() {
        if (!waiters.isEmpty()) {
            waiters.forEach(Waiter::wake);
        }
    }

    /// Blocks the calling thread until `condition` holds, which the polling threads of `groups` make true.
    /// Where no library thread polls one of them, the calling thread does.
    ///
    /// @param deadline the last moment, of [System#nanoTime()]
    /// @return whether it holds
    public static boolean await(Collection<CompletionGroup> groups, BooleanSupplier condition, long deadline)
            throws InterruptedException {
        CompletionGroup driven = groups.stream()
                .filter(CompletionGroup::isCallerDriven)
                .findFirst()
                .orElse(null);
        return await(groups, new Waiter(driven), condition, deadline);
    }

    /// Blocks as [#await] does, and never polls.
    public static boolean awaitOthers(Collection<CompletionGroup> groups, BooleanSupplier condition, long deadline)
            throws InterruptedException {
        return await(groups, new Waiter(null), condition, deadline);
    }

    private static boolean await(
            Collection<CompletionGroup> groups, Waiter waiter, BooleanSupplier condition, long deadline)
            throws InterruptedException {
        groups.forEach(group -> group.waiters.add(waiter));
        try {
            return waiter.awaitPatiently(condition, deadline, MISSED_NANOS);
        } finally {
            groups.forEach(group -> group.waiters.remove(waiter));
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
            boolean hadTasks = runTasks();
            if (members.areCondemned()) {
                tellCondemned();
            }
            if (!broken) {
                arm();
            }
            int rounds = 0;
            while (!broken && rounds < ROUNDS_AT_A_TIME && pollQueue() > 0) {
                rounds++;
            }
            if (rounds > 0) {
                pace.restart();
            }
            if (rounds > 0 || hadTasks) {
                wakeWaiters();
            }
            return rounds < ROUNDS_AT_A_TIME;
        } finally {
            leave();
        }
    }

    private int pollQueue() {
        int count;
        try {
            count = queue.poll(completions);
        } catch (RuntimeException | Error e) {
            // Nobody knows what it has taken from the queue.
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
            GroupMember member = members.of(workId);
            if (member == null) {
                dispatchShared(i, workId);
                continue;
            }
            // The others have been taken from the queue, too: whatever goes wrong with one costs its member.
            try {
                if (WorkId.isReceive(workId)) {
                    member.received(completions, i, WorkId.index(workId));
                } else {
                    member.completed(completions, i, workId);
                }
            } catch (RuntimeException | Error e) {
                condemn(workId, e);
            }
        }
        if (members.areCondemned()) {
            tellCondemned();
        }
    }

    /// The queue pair alone says whose receive it is. Any other work is that of a member which has left.
    private void dispatchShared(int index, long workId) {
        if (WorkId.isSharedReceive(workId)) {
            ReceiveRoute route = routes.find(completions.queuePairNumber(index));
            if (route == null) {
                return;
            }
            try {
                route.received(completions, index, WorkId.index(workId));
            } catch (RuntimeException | Error e) {
                condemn(route.owner(), e);
            }
        }
    }

    /// Has the member that this number belongs to fail in the next poll, which repeats it until there is memory for
    /// it: work that depends on the member would not end otherwise. Any thread; allocates nothing.
    public void condemn(long workId, Throwable why) {
        members.condemn(workId, why);
    }

    private void breakDown(Throwable why) {
        broken = true;
        members.condemnAll(why);
        tellCondemned();
    }

    private void tellCondemned() {
        try {
            members.tellCondemned(this::failure);
        } catch (RuntimeException | Error e) {
            // The next poll tries again.
            LOGGER.log(Level.DEBUG, "a channel could not be failed yet", e);
        }
    }

    private RdmaException failure(Throwable why) {
        if (why instanceof RdmaException known && !broken) {
            return known;
        }
        if (!broken) {
            return new RdmaException(name + " could not handle a completion: " + why, why);
        }
        String how = queue.isOpen()
                ? String.valueOf(why.getMessage())
                : "the program has closed the device context of the session; close the session instead";
        return new RdmaException(name + " lost its completion queue: " + how, why);
    }

    /// The device has reported that the queue is of no more use: soon fails all members. Any thread. Not all
    /// devices let polling say so.
    public void fail(RuntimeException why) {
        submit(() -> {
            if (!broken) {
                breakDown(why);
            }
        });
    }

    /// The thread that polls it has ended: fails all members, here and now.
    void failNow(RuntimeException why) {
        fail(why);
        runExclusively(this::tellCondemned);
    }

    /// Takes everything that has completed up to now; bounded, even if completions keep coming. To be called in
    /// a task.
    public void drain() {
        int count = 1;
        for (int left = broken ? 0 : queue.capacity(); left > 0 && count > 0 && !broken; left -= count) {
            count = pollQueue();
        }
    }

    /// Takes what has completed up to now, for a thread that polls another group: it waits a moment for the
    /// thread that polls this one, and then gives up. Does nothing in a handler of this group, where all that
    /// completed earlier was handled.
    public void catchUp() {
        long deadline = System.nanoTime() + CATCH_UP_NANOS;
        while (!isPolling() && deadline - System.nanoTime() > 0) {
            if (enter()) {
                try {
                    drain();
                    wakeWaiters();
                } finally {
                    leave();
                }
                return;
            }
            LockSupport.parkNanos(this, TimeUnit.MICROSECONDS.toNanos(RETRY_MICROS));
        }
    }

    /// Whether the queue can no longer tell what has ended.
    public boolean isBroken() {
        return broken;
    }

    /// Whether the calling thread is in a handler of this group.
    public boolean isPolling() {
        return Thread.currentThread().threadId() == owner;
    }

    /// Rejects a blocking call in a handler of this group.
    ///
    /// @throws IllegalStateException in such a handler, which would wait for itself
    public void refuseInHandler() {
        if (isPolling()) {
            throw new IllegalStateException(
                    "a blocking call in a handler would wait for itself; use a try method, a future or another thread");
        }
    }

    private boolean enter() {
        return owner == 0
                && OWNER.compareAndSet(this, 0L, Thread.currentThread().threadId());
    }

    private void leave() {
        OWNER.setRelease(this, 0L);
    }

    /// Has the polling thread run `task` once, soon. A thread that sleeps in [#awaitEvent] wakes up.
    public void submit(Runnable task) {
        tasks.add(task);
        wake();
    }

    /// Has the polling thread run `task` once, in its next round: it looks for something that has no event, and
    /// submits itself again until that has come. A thread that finds nothing else sleeps between the rounds, as
    /// [LookPace] says.
    public void submitLook(Runnable task) {
        looks.add(task);
        if (loop != null) {
            loop.attendLater(this);
        } else {
            sleeper.wake();
        }
    }

    /// Runs `task` while nobody polls, here or in the polling thread, and waits until it has run. In a handler
    /// it runs at once.
    public void runExclusively(Runnable task) {
        if (isPolling()) {
            task.run();
            return;
        }
        FutureTask<@Nullable Void> future = new FutureTask<>(task, null);
        submit(future);
        boolean interrupted = false;
        while (true) {
            if (enter()) {
                try {
                    tasks.run();
                } finally {
                    leave();
                }
            }
            try {
                // The thread that polls now may never poll again, so try again.
                future.get(RETRY_MICROS, TimeUnit.MICROSECONDS);
                break;
            } catch (TimeoutException e) {
                // It has not run yet.
            } catch (InterruptedException e) {
                interrupted = true;
            } catch (ExecutionException e) {
                restoreInterrupt(interrupted);
                throw e.getCause() instanceof RuntimeException failure
                        ? failure
                        : new IllegalStateException(e.getCause());
            }
        }
        restoreInterrupt(interrupted);
    }

    private static void restoreInterrupt(boolean interrupted) {
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /// Asks for one event at the next completion.
    void arm() {
        try {
            queue.arm();
        } catch (VerbException e) {
            breakDown(e);
        } catch (IllegalStateException e) {
            // It is closed, which the next poll finds out.
            return;
        }
    }

    /// Sleeps until an armed queue has an event, [#wake()] is called, or the time is up. One thread sleeps like
    /// that; others only wait a little.
    ///
    /// @param ended whether the calling thread has nothing to wait for any more
    /// @return whether there may be something to do
    boolean awaitEvent(BooleanSupplier ended, long maxNanos) {
        CompletionChannel channel = events;
        if (channel == null || !sleeper.enter()) {
            LockSupport.parkNanos(this, Math.min(maxNanos, SHORT_SLEEP_NANOS));
            return true;
        }
        boolean event = false;
        try {
            // A wake-up that came before this thread was the sleeper has not reached it.
            if (ended.getAsBoolean()) {
                return true;
            }
            CompletionQueue ready = channel.awaitEvent(Duration.ofNanos(Math.min(maxNanos, longestSleep())));
            if (ready != null) {
                ready.acknowledge(1);
                event = true;
            }
        } catch (RdmaInterruptedException e) {
            // The thread's own loop looks at its flag.
        } catch (IllegalStateException e) {
            // It is closed, which the next poll finds out.
            event = true;
        } finally {
            sleeper.leave();
        }
        return event || tasks.areWaiting();
    }

    private long longestSleep() {
        if (tasks.areWaiting()) {
            return SHORT_SLEEP_NANOS;
        }
        return looks.areWaiting() ? pace.nextNanos(System.nanoTime()) : Long.MAX_VALUE;
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
    /// @throws RdmaException if it cannot: another channel would overrun it
    public void reserve(int entries) {
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
                throw new RdmaException(
                        name + " holds " + queue.capacity() + " completions, another channel needs " + needed
                                + "; use fewer or smaller channels, or thread mode PER_QUEUE_PAIR",
                        again);
            }
        }
    }

    /// Gives back what [#reserve] took.
    public void unreserve(int entries) {
        // Without the lock: its holder may be waiting for this thread.
        reserved.addAndGet(-entries);
    }

    /// Dispatches completions to `member` from now on.
    ///
    /// @return the part that the numbers of all its work requests share
    /// @throws RdmaException if there is no place for it, or the queue cannot be used any more
    public long join(GroupMember member) {
        if (broken) {
            throw new RdmaException(name + " has lost its completion queue; open a new session", null);
        }
        return members.join(member, name);
    }

    /// Ends the dispatching to the member with this number. To be called exclusively.
    public void leave(long workIdBase) {
        members.leave(workIdBase);
    }

    /// Dispatches what the queue pair with this number receives from a shared receive queue to `route` from now
    /// on.
    public void route(int queuePairNumber, ReceiveRoute route) {
        routes.add(queuePairNumber, route);
    }

    /// Ends that dispatching. To be called exclusively.
    public void unroute(int queuePairNumber, ReceiveRoute route) {
        routes.remove(queuePairNumber, route);
    }

    /// Closes the completion queue; its members have left.
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
