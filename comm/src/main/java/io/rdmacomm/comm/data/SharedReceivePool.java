package io.rdmacomm.comm.data;

import io.rdmacomm.comm.progress.WorkId;
import io.rdmacomm.comm.statistics.SharedReceiveStatistics;
import io.rdmacomm.verbs.AsyncEvent;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SharedReceiveQueue;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;
import io.rdmacomm.verbs.service.OperationLock;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/// Receives that the channels of a session share: one shared receive queue and its memory. Thread-safe.
///
/// At any time, at least as many receives are posted as all peers together may use, so every message finds a
/// receive. Arrivals do not touch the pool. When a message is closed, its receive returns here under a lock; the
/// [ReceiveBudget] decides whether it is granted to the same channel or becomes free for others.
///
/// Free receives are posted several at a time. When less than a quarter of all receives is left in the queue, its
/// limit event makes the pool post all free ones. From then on, the pool posts each one as soon as it is free,
/// until there are enough.
public final class SharedReceivePool implements ReceiveBlocks, AutoCloseable {
    private static final int MOST_TOGETHER = 64;
    /// A channel that uses its window this many times between two checks (100 ms) gets a larger one.
    private static final int BUSY = 4;
    /// Checking a queue pair is a system call.
    private static final int TICKS_PER_CHECK = 5;

    private final SharedReceiveQueue queue;
    private final Arena arena;
    private final ReceiveMemory memory;
    private final int guaranteed;
    private final boolean reportsLastWork;
    private final int limit;
    private final ReceiveBatch batch;
    private final ReceiveBudget budget;
    private final List<ReceiveShare> shares = new CopyOnWriteArrayList<>();
    private final OperationLock lock = new OperationLock();
    private final @Nullable ReceiveShare[] owners;
    private final int[] free;
    private int freeCount;
    private volatile boolean low;
    private volatile boolean scarce;
    private boolean closed;
    private long refills;
    // Only used by the thread that calls [#maintain].
    private int ticks;

    /// Creates the shared receive queue and posts all receives.
    ///
    /// @param memory for messages
    /// @param receives the number of receives in the pool
    /// @param channels how many channels there may be at a time
    /// @param guaranteed how many receives each channel has at least
    /// @throws io.rdmacomm.verbs.VerbException if the device has no shared receive queues, or none of that size
    public SharedReceivePool(
            ProtectionDomain domain, ReceiveMemory memory, int receives, int channels, int guaranteed) {
        this.queue = domain.createSharedReceiveQueue(SharedReceiveQueueOptions.ofDepth(receives));
        this.arena = Arena.ofShared();
        this.memory = memory;
        this.guaranteed = guaranteed;
        this.reportsLastWork = domain.context().supports(Capability.LAST_WORK_EVENT);
        this.limit = ReceivePool.together(receives);
        this.batch = ReceiveBatch.create(arena, Math.min(MOST_TOGETHER, limit), 1);
        this.budget = new ReceiveBudget(receives, channels, guaranteed);
        this.owners = new @Nullable ReceiveShare[receives];
        this.free = new int[receives];
        for (int receive = receives - 1; receive >= 0; receive--) {
            free[freeCount++] = receive;
        }
        post();
        queue.armLimit(limit);
    }

    /// The receives of a channel that may have at most `most` of them at a time.
    public ReceiveSource source(int most) {
        return new SharedReceiveSource(this, most);
    }

    @Override
    public int count() {
        return free.length;
    }

    @Override
    public MemorySegment block(int receive) {
        return memory.block(receive);
    }

    SharedReceiveQueue queue() {
        return queue;
    }

    int guaranteed() {
        return guaranteed;
    }

    boolean reportsLastWork() {
        return reportsLastWork;
    }

    /// Gives a channel its guaranteed receives.
    ///
    /// @throws io.rdmacomm.verbs.RdmaException if there are none for it
    ReceiveShare admit(int most, ChannelParts parts) {
        lock.lock();
        try {
            ReceiveShare share = new ReceiveShare(this, budget.admit(most), parts);
            shares.add(share);
            if (budget.uncommitted(freeCount) < 0) {
                post();
            }
            return share;
        } finally {
            lock.unlock();
        }
    }

    /// A message of `share` has arrived in this receive.
    void ownedBy(ReceiveShare share, int receive) {
        owners[receive] = share;
    }

    /// Whether the last message in this receive was one of `share`. On any thread; it may be out of date.
    boolean isOwnedBy(ReceiveShare share, int receive) {
        return share.equals(owners[receive]);
    }

    @Override
    public void repost(int receive) {
        ReceiveShare owner = owners[receive];
        if (owner == null) {
            throw new IllegalStateException("no message has arrived in receive " + receive);
        }
        long due;
        lock.lock();
        try {
            budget.takeBack(owner.claim());
            putBack(receive);
            due = closed ? 0 : grant(owner);
        } finally {
            lock.unlock();
        }
        if (due > 0) {
            owner.announce(due);
        }
    }

    /// Puts back the receive of a message that exceeded the peer's credits.
    void returnUngranted(int receive) {
        lock.lock();
        try {
            putBack(receive);
        } finally {
            lock.unlock();
        }
    }

    private void putBack(int receive) {
        free[freeCount++] = receive;
        if (low || freeCount >= batch.capacity()) {
            post();
        }
    }

    /// Doubles the window of a channel whose peer uses its receives fast or has few left. While receives are
    /// plentiful, each message doubles it: otherwise a peer that starts slowly, because it competes for a
    /// processor, would stay slow for lack of receives. Unused receives are taken back when they are scarce.
    private long grant(ReceiveShare share) {
        ReceiveClaim claim = share.claim();
        if (budget.hasPlentyFor(claim)
                || share.unused() <= claim.window / 4
                || share.usedLately() >= (long) BUSY * claim.window) {
            claim.window = Math.min(claim.most, claim.window * 2);
        }
        while (budget.mayGive(claim) && isAnotherPosted()) {
            budget.give(claim);
            share.grant();
        }
        if (claim.held < claim.window && !scarce) {
            scarce = true;
        }
        return share.due();
    }

    /// Whether a posted receive is not granted to any channel.
    private boolean isAnotherPosted() {
        if (budget.uncommitted(freeCount) <= 0) {
            post();
        }
        return budget.uncommitted(freeCount) > 0;
    }

    /// Posts the free receives.
    private void post() {
        int wanted = 1;
        int taken = closed ? 0 : 1;
        while (freeCount > 0 && taken == wanted) {
            batch.clear();
            wanted = Math.min(freeCount, batch.capacity());
            for (int i = 1; i <= wanted; i++) {
                int receive = free[freeCount - i];
                memory.append(batch, WorkId.sharedReceive(receive), receive);
            }
            taken = queue.post(batch);
            freeCount -= taken;
        }
    }

    /// Handles an event of the device.
    public void onEvent(AsyncEvent event) {
        switch (event.type()) {
            case SHARED_RECEIVE_QUEUE_LIMIT_REACHED -> {
                if (queue.equals(event.resource())) {
                    refill();
                }
            }
            case QUEUE_PAIR_LAST_WORK_REACHED -> {
                if (event.resource() instanceof QueuePair queuePair) {
                    lastWorkReached(queuePair);
                }
            }
            default -> {
                // The completions report everything relevant here.
            }
        }
    }

    private void refill() {
        lock.lock();
        try {
            refills++;
            low = true;
            post();
        } finally {
            lock.unlock();
        }
    }

    private void lastWorkReached(QueuePair queuePair) {
        for (ReceiveShare share : shares) {
            if (share.queuePair().equals(queuePair)) {
                share.lastWorkReached();
            }
        }
    }

    /// Maintenance off the data path, called ten times a second: rearms the limit (a system call) when there are
    /// enough receives in the queue, and measures how fast the channels use theirs. When a channel cannot borrow
    /// enough, asks the peers of idle channels to return the receives that those channels have borrowed.
    public void maintain() {
        if (low && hasEnough()) {
            queue.armLimit(limit);
        }
        if (scarce) {
            scarce = false;
            shares.forEach(this::recallIfIdle);
            shares.forEach(this::narrowUnlessBusy);
        }
        boolean check = !reportsLastWork && ticks++ % TICKS_PER_CHECK == 0;
        for (ReceiveShare share : shares) {
            share.restartCount();
            if (check) {
                share.check();
            }
        }
    }

    private void recallIfIdle(ReceiveShare share) {
        boolean ask;
        lock.lock();
        try {
            ask = share.shouldRecall(guaranteed);
            takeBack(share, ask ? share.withdraw() : 0);
        } finally {
            lock.unlock();
        }
        if (ask) {
            share.recall();
        }
    }

    private void takeBack(ReceiveShare share, int count) {
        for (int i = 0; i < count; i++) {
            budget.takeBack(share.claim());
        }
    }

    private void narrowUnlessBusy(ReceiveShare share) {
        ReceiveClaim claim = share.claim();
        if (share.usedLately() >= claim.window || claim.window == guaranteed) {
            return;
        }
        lock.lock();
        try {
            claim.window = Math.max(guaranteed, claim.window / 2);
        } finally {
            lock.unlock();
        }
    }

    /// The peer of a channel has returned receives that it was granted.
    ///
    /// @return false if it does not have that many
    boolean returned(ReceiveShare share, int count) {
        lock.lock();
        try {
            if (count < 0 || count > share.unused() || !shares.contains(share)) {
                return false;
            }
            share.take(count);
            takeBack(share, count);
            return true;
        } finally {
            lock.unlock();
        }
    }

    private boolean hasEnough() {
        lock.lock();
        try {
            boolean enough = !closed && posted() >= limit;
            low = !enough;
            return enough;
        } finally {
            lock.unlock();
        }
    }

    /// The number of receives that are posted, or taken by messages in flight.
    private int posted() {
        return free.length - freeCount - kept();
    }

    private int kept() {
        int unused = 0;
        for (ReceiveShare share : shares) {
            unused += share.unused();
        }
        return free.length - budget.uncommitted(0) - unused;
    }

    /// The channel has ended.
    void ended(ReceiveShare share) {
        lock.lock();
        try {
            if (shares.remove(share)) {
                budget.end(share.claim(), share.unused());
            }
        } finally {
            lock.unlock();
        }
    }

    /// Its current state.
    public SharedReceiveStatistics statistics() {
        lock.lock();
        try {
            return new SharedReceiveStatistics(budget.open(), posted(), kept(), budget.lent(), refills);
        } finally {
            lock.unlock();
        }
    }

    /// Posts no more receives and closes the queue. The channels are closed.
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
        } finally {
            lock.unlock();
        }
        try (arena) {
            queue.close();
        }
    }
}
