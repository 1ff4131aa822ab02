package io.rdmacomm.comm.progress;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.RdmaInterruptedException;
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

/// A completion queue and the members whose work completes there. Any thread may poll it, one at a time; the
/// polling thread runs the handlers.
public final class CompletionGroup implements AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.ofPackage(CompletionGroup.class);

    /// Idle threads spin and never sleep: the queue needs no events.
    public static final long SPIN_FOREVER = Long.MAX_VALUE;

    /// Another thread polls.
    static final int TAKEN = -1;

    private static final int POLL_BATCH = 64;
    private static final int ROUNDS_AT_A_TIME = 16;
    private static final int CAPACITY_WITHOUT_RESIZE = 1 << 16;
    /// The longest sleep while tasks are queued, or while another thread waits for events.
    static final long SHORT_SLEEP_NANOS = 100_000;
    private static final long RETRY_MICROS = 10;
    /// A polling round checks for waiters without a memory fence, and so may miss a new one.
    private static final long MISSED_NANOS = 500_000;
    /// Limits the wait in [#catchUp]: the polling thread may itself be waiting for the calling thread.
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
    // Checks for conditions that raise no event, run in each round until they hold.
    private final GroupTasks checks = new GroupTasks();
    private final CheckPace pace = new CheckPace();
    private final ReentrantLock reserving = new ReentrantLock();
    private final AtomicInteger reserved = new AtomicInteger();
    private final List<Waiter> waiters = new CopyOnWriteArrayList<>();
    private final PollingTurn turn = new PollingTurn();
    private final Sleeper sleeper;
    private final @Nullable EventLoop loop;
    // The id of the thread that polls, as in an OperationLock; 0 for none.
    private volatile long owner;
    private volatile boolean broken;
    // The completions of the last poll; for the polling thread.
    private int polled;

    /// A group for polling by a [CompletionLoop] or by callers.
    ///
    /// @param spinNanos how long idle threads spin before they sleep, or [#SPIN_FOREVER]
    /// @param entries the initial capacity in completions
    /// @param maxMembers how many members may join
    /// @param callerDriven whether no library thread polls it
    public CompletionGroup(
            CompletionQueues queues, String name, long spinNanos, int entries, int maxMembers, boolean callerDriven) {
        this(queues, name, spinNanos, entries, maxMembers, callerDriven, null);
    }

    /// A group of one member that `loop` polls.
    ///
    /// @param entries the capacity in completions
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

    /// Whether a poll has found the completion queue closed from outside.
    boolean isLost() {
        return broken && !queue.isOpen();
    }

    /// Whether no library thread polls it.
    public boolean isCallerDriven() {
        return callerDriven;
    }

    /// Decides which of the waiting threads polls.
    PollingTurn turn() {
        return turn;
    }

    /// Whether idle threads spin and never sleep.
    boolean spins() {
        return spinNanos == SPIN_FOREVER;
    }

    /// A new strategy for a thread that polls this group permanently.
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

    /// Reads completions and runs their handlers. Never blocks.
    ///
    /// @return the number of completions; 0 while another thread polls, or in a handler
    public int poll() {
        return Math.max(0, tryPoll());
    }

    /// Polls, for a thread that sleeps if it finds nothing.
    ///
    /// @return as [#poll()], but [#TAKEN] while another thread has the group. The completions that it leaves raise
    /// no
    ///         event, so the calling thread must poll again before it sleeps
    int tryPoll() {
        if (!enter()) {
            return TAKEN;
        }
        try {
            boolean hadTasks = runTasks();
            if (members.areCondemned()) {
                failCondemned();
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
    /// @return the number of completions before it slept
    public int pollOrSleep(long maxNanos) {
        int count = tryPoll();
        if (count > 0 || spins() || isPolling()) {
            return Math.max(0, count);
        }
        arm();
        count = tryPoll();
        if (count == 0) {
            awaitEvent(() -> false, maxNanos);
        } else if (count == TAKEN) {
            LockSupport.parkNanos(this, Math.min(maxNanos, SHORT_SLEEP_NANOS));
        }
        return Math.max(0, count);
    }

    private boolean runTasks() {
        boolean had = tasks.areWaiting();
        if (had) {
            pace.restart();
            tasks.run();
        }
        if (checks.areWaiting()) {
            had = true;
            checks.run();
        }
        return had;
    }

    private void wakeWaiters() {
        if (!waiters.isEmpty()) {
            waiters.forEach(Waiter::wake);
        }
    }

    /// Blocks the calling thread until the polling threads of `groups` have made `condition` true. If no library
    /// thread polls one of them, the calling thread does.
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

    /// Arms the queue and reads all completions so far; for the thread of an [EventLoop].
    ///
    /// @return false if it must be repeated: another thread polls, there were too many completions, or there was no
    ///         memory to fail a member
    boolean serveArmed() {
        if (!enter()) {
            return false;
        }
        try {
            boolean hadTasks = runTasks();
            if (members.areCondemned()) {
                failCondemned();
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
            return rounds < ROUNDS_AT_A_TIME && !members.areCondemned();
        } finally {
            leave();
        }
    }

    private int pollQueue() {
        try {
            polled = queue.poll(completions);
        } catch (RuntimeException | Error e) {
            // It is unknown which completions were removed from the queue.
            polled = 0;
            breakDown(e);
            return 0;
        }
        // Operations that ended when they were posted are older than the completions, and visible now.
        int count = polled;
        int ended = members.finishEnded();
        if (count > 0) {
            dispatch(count);
        } else if (members.areCondemned()) {
            failCondemned();
        }
        return ended + count;
    }

    /// Separate from polling: most polls find nothing, and the compiler would treat this as unlikely.
    private void dispatch(int count) {
        for (int i = 0; i < count; i++) {
            long workId = completions.workId(i);
            GroupMember member = members.of(workId);
            if (member == null) {
                dispatchShared(i, workId);
                continue;
            }
            // The whole batch was removed from the queue, so an exception must fail only the member
            // concerned.
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
            failCondemned();
        }
    }

    /// Dispatches a shared receive: only its queue pair identifies the owner. Any other work here belongs to a
    /// member that has left.
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

    /// Makes the next poll fail the member with this number, and retries while memory is short. Otherwise, work
    /// that depends on the member would never end. Any thread; allocates nothing.
    public void condemn(long workId, Throwable why) {
        members.condemn(workId, why);
    }

    /// Whether operations of the member with this number may end when they are posted, without a completion. An
    /// [EventLoop] sleeps for many groups, so waking it would cost more than a completion.
    public boolean endsAtOnce(long workIdBase) {
        return loop == null && GroupMembers.isWatched(workIdBase);
    }

    /// Lets each poll [finish][GroupMember#finishEnded()] operations of a member that ended when they were posted.
    /// The member is completely constructed.
    public void watch(long workIdBase, GroupMember member) {
        members.watch(workIdBase, member);
    }

    /// A member [has operations that ended][GroupMember#hasEnded()] when they were posted: the next poll
    /// handles them. Wakes the sleeper. Any thread; allocates nothing.
    public void endedAtOnce() {
        if (events != null) {
            // Either this thread finds the sleeper, or that one finds what has ended.
            VarHandle.fullFence();
            sleeper.wake();
        }
    }

    private void breakDown(Throwable why) {
        broken = true;
        members.condemnAll(why);
        failCondemned();
    }

    private void failCondemned() {
        try {
            members.failCondemned(this::failure);
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

    /// The device has reported an error of the queue: fails all members soon. Any thread. On some devices, polling
    /// does not report the error.
    public void fail(RuntimeException why) {
        submit(() -> {
            if (!broken) {
                breakDown(why);
            }
        });
    }

    /// The polling thread has ended: fails all members on the calling thread.
    void failNow(RuntimeException why) {
        fail(why);
        runExclusively(this::failCondemned);
    }

    /// Reads all completions so far; bounded, even if completions keep arriving. Call it in a task.
    public void drain() {
        int left = broken ? 0 : queue.capacity();
        while (left > 0 && !broken) {
            var _ = pollQueue();
            // Operations that end at once do not count: handlers may post them again and again.
            left = polled > 0 ? left - polled : 0;
        }
    }

    /// Reads all completions so far, for a thread that polls another group: it waits briefly for the polling
    /// thread of this one, and then gives up. Does nothing in a handler of this group, where all earlier
    /// completions were handled.
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

    /// Whether the queue can no longer report completions.
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

    /// Runs `task` once on the polling thread, soon. A thread that sleeps in [#awaitEvent] wakes up.
    public void submit(Runnable task) {
        tasks.add(task);
        wake();
    }

    /// Runs `task` once on the polling thread, in its next round: it checks a condition that raises no event,
    /// and resubmits itself until it holds. A thread without other work sleeps between the rounds, according
    /// to [CheckPace].
    public void submitCheck(Runnable task) {
        checks.add(task);
        if (loop != null) {
            loop.attendLater(this);
        } else {
            sleeper.wake();
        }
    }

    /// Runs `task` while no thread polls, on this or the polling thread, and waits until it has run. In a
    /// handler it runs at once.
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
                // The current polling thread may never poll again, so retry here.
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

    /// Requests one event for the next completion.
    void arm() {
        try {
            queue.arm();
        } catch (VerbException e) {
            breakDown(e);
        } catch (IllegalStateException e) {
            // It is closed; the next poll detects that.
            return;
        }
    }

    /// Sleeps until an armed queue has an event, [#wake()] is called, or the time is up. Only one thread sleeps
    /// this way; others wait briefly.
    ///
    /// @param over whether the wait of the calling thread is over
    /// @return whether there may be work to do
    boolean awaitEvent(BooleanSupplier over, long maxNanos) {
        CompletionChannel channel = events;
        if (channel == null || !sleeper.enter()) {
            LockSupport.parkNanos(this, Math.min(maxNanos, SHORT_SLEEP_NANOS));
            return true;
        }
        boolean event = false;
        try {
            // A wake-up may have been lost before this thread became the sleeper.
            if (over.getAsBoolean() || (!broken && members.haveEnded())) {
                return true;
            }
            CompletionQueue ready = channel.awaitEvent(Duration.ofNanos(Math.min(maxNanos, longestSleep())));
            if (ready != null) {
                ready.acknowledge(1);
                event = true;
            }
        } catch (RdmaInterruptedException e) {
            // The caller's loop checks the interrupt flag.
        } catch (IllegalStateException e) {
            // It is closed; the next poll detects that.
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
        return checks.areWaiting() ? pace.nextNanos(System.nanoTime()) : Long.MAX_VALUE;
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

    /// Releases entries from [#reserve].
    public void unreserve(int entries) {
        // Without the lock: its holder may be waiting for this thread.
        reserved.addAndGet(-entries);
    }

    /// Dispatches completions to `member` from now on.
    ///
    /// @return the part that the numbers of all its work requests share
    /// @throws RdmaException if the group is full, or the queue can no longer be used
    public long join(GroupMember member) {
        if (broken) {
            throw new RdmaException(name + " has lost its completion queue; open a new session", null);
        }
        return members.join(member, name);
    }

    /// Ends the dispatching to the member with this number. Call it in [#runExclusively].
    public void leave(long workIdBase) {
        members.leave(workIdBase);
    }

    /// Dispatches receives of the queue pair with this number from a shared receive queue to `route` from now
    /// on.
    public void route(int queuePairNumber, ReceiveRoute route) {
        routes.add(queuePairNumber, route);
    }

    /// Ends that dispatching. Call it in [#runExclusively].
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
