package io.rdmacomm.verbs;

import io.rdmacomm.verbs.lifetime.Lifetime;
import io.rdmacomm.verbs.service.OperationLock;
import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.SharedReceiveQueueDriver;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/// A receive queue that several queue pairs share (`struct ibv_srq`, ibv_create_srq(3)). Thread-safe.
///
/// When a queue pair fails, the receives in the shared queue are not flushed; those that it has taken are. Wait for
/// [AsyncEventType#QUEUE_PAIR_LAST_WORK_REACHED], if the device has [Capability#LAST_WORK_EVENT], and poll what
/// has completed before closing that queue pair.
public final class SharedReceiveQueue implements Resource {
    private static final String MODIFY = "modify shared receive queue (ibv_modify_srq)";

    private final ProtectionDomain protectionDomain;
    private final SharedReceiveQueueDriver driver;
    private final Lifetime lifetime;
    private final int elements;
    private final OperationLock lock = new OperationLock();
    /// The receives that the queue pairs on it have completed, except those of closed ones.
    private final List<ReceiveDepth> users = new ArrayList<>();
    /// The receives that were posted, except those that closed queue pairs have completed.
    private long posted;

    SharedReceiveQueue(
            ProtectionDomain protectionDomain, SharedReceiveQueueOptions options, SharedReceiveQueueDriver driver) {
        this.protectionDomain = protectionDomain;
        this.elements = options.elements();
        this.driver = driver;
        this.lifetime = new Lifetime(this, protectionDomain.lifetime(), driver, this::release);
        protectionDomain.context().sharedReceiveQueues().put(driver.handle(), this);
    }

    /// The protection domain that it belongs to.
    public ProtectionDomain protectionDomain() {
        return protectionDomain;
    }

    /// Posts the receives of `batch` (ibv_post_srq_recv(3)). Never blocks, never allocates.
    ///
    /// @return the number of posted receives; if fewer than the batch holds, the queue is full
    /// @throws WorkRequestException if a receive has more elements than the queue allows; the receives before it
    ///         were posted
    public int post(ReceiveBatch batch) {
        return post(batch, batch.size());
    }

    /// Posts the first `count` receives of `batch`; see [#post(ReceiveBatch)].
    ///
    /// @return the number of posted receives
    /// @throws IndexOutOfBoundsException if the batch holds fewer
    public int post(ReceiveBatch batch, int count) {
        Objects.checkFromIndexSize(0, count, batch.size());
        lock.lock();
        try {
            lifetime.checkOpen();
            int good = batch.acceptable(count, elements);
            int taken = good == 0 ? 0 : postGood(batch, good);
            if (taken == good && good < count) {
                throw WorkRequestException.tooManyElements("post receive (ibv_post_srq_recv)", good, elements);
            }
            return taken;
        } finally {
            lock.unlock();
        }
    }

    private int postGood(ReceiveBatch batch, int count) {
        RequestChain receives = batch.chain();
        receives.endAfter(count - 1);
        int taken = driver.post(receives, 0, count);
        posted += taken;
        return taken;
    }

    /// Adds a queue pair that takes its receives from here.
    ///
    /// @param user its counter of completed receives
    void join(ReceiveDepth user) {
        lock.lock();
        try {
            users.add(user);
        } finally {
            lock.unlock();
        }
    }

    /// Removes a queue pair that is closed.
    void leave(ReceiveDepth user) {
        lock.lock();
        try {
            users.remove(user);
            posted -= user.retired();
        } finally {
            lock.unlock();
        }
    }

    /// The most receives that can be in the queue now: those that were posted minus those whose success was polled.
    /// Receives that have failed, or that were polled after their queue pair was closed, are still counted.
    private long mostPosted() {
        long most = posted;
        for (ReceiveDepth user : users) {
            most -= user.retired();
        }
        return most;
    }

    /// Changes how many receives it holds (ibv_modify_srq(3), `IBV_SRQ_MAX_WR`). The posted receives keep
    /// their order, messages may arrive meanwhile, and an armed limit stays armed. Blocks as long as the
    /// device does, and [#post(ReceiveBatch)] waits for that.
    ///
    /// @param receives at least 1; the device may provide more, see [#query()]
    /// @throws UnsupportedVerbException without [Capability#RESIZE_SHARED_RECEIVE_QUEUE]
    /// @throws VerbException EINVAL if more receives are posted, if the armed limit is greater, or if the
    ///         device does not support the size; ENOMEM if there is no memory for it
    public void resize(int receives) {
        Context context = protectionDomain.context();
        lock.lock();
        try {
            lifetime.checkOpen();
            context.require(Capability.RESIZE_SHARED_RECEIVE_QUEUE, MODIFY);
            long max = context.limit(DeviceLimit.MAX_SHARED_RECEIVE_QUEUE_DEPTH);
            if (receives < 1 || receives > max) {
                throw new VerbException(
                        MODIFY, Errno.EINVAL, receives + " receives in " + this + ", must be 1 to " + max);
            }
            int limit = driver.query().limit();
            if (receives < limit) {
                throw new VerbException(
                        MODIFY,
                        Errno.EINVAL,
                        receives + " receives in " + this + ", but its limit is armed at " + limit
                                + "; arm a lower one, or 0 for none, first");
            }
            long posted = driver.resize(receives, mostPosted());
            if (posted > 0) {
                throw new VerbException(
                        MODIFY,
                        Errno.EINVAL,
                        receives + " receives in " + this + ", but up to " + posted
                                + " are posted; resize it when some are used");
            }
        } finally {
            lock.unlock();
        }
    }

    /// Arms the limit (ibv_modify_srq(3)): [AsyncEventType#SHARED_RECEIVE_QUEUE_LIMIT_REACHED] is raised once when
    /// fewer than `limit` receives are left.
    ///
    /// @throws VerbException EINVAL if the limit exceeds the capacity of the queue
    public void armLimit(int limit) {
        lock.lock();
        try {
            lifetime.checkOpen();
            int depth = driver.query().receives();
            if (limit < 0 || limit > depth) {
                throw new VerbException(MODIFY, Errno.EINVAL, "limit is " + limit + ", must be 0 to " + depth);
            }
            driver.armLimit(limit);
        } finally {
            lock.unlock();
        }
    }

    /// Its size and the armed limit, 0 if none is armed (ibv_query_srq(3)).
    public SharedReceiveQueueOptions query() {
        lock.lock();
        try {
            lifetime.checkOpen();
            return driver.query();
        } finally {
            lock.unlock();
        }
    }

    private void release() {
        lock.lock();
        try {
            protectionDomain.context().sharedReceiveQueues().remove(driver.handle(), this);
            driver.close();
        } finally {
            lock.unlock();
        }
    }

    SharedReceiveQueueDriver driver() {
        return driver;
    }

    Lifetime lifetime() {
        return lifetime;
    }

    @Override
    public boolean isOpen() {
        return lifetime.isOpen();
    }

    @Override
    public void close() {
        lifetime.close();
    }

    @Override
    public String toString() {
        return "shared receive queue on " + protectionDomain.context();
    }
}
