package io.rdmacomm.verbs;

import java.util.Objects;

/// A receive queue that several queue pairs share (`struct ibv_srq`, ibv_create_srq(3)). Thread-safe.
///
/// When a queue pair fails, the receives in the shared queue are not flushed; those that it has taken are. Wait for
/// [AsyncEventType#QUEUE_PAIR_LAST_WORK_REACHED], if the device has [Capability#LAST_WORK_EVENT], and poll what
/// has completed before closing that queue pair.
public abstract class SharedReceiveQueue extends Resource {
    private final ProtectionDomain protectionDomain;
    private final int elements;
    private final OperationLock lock = new OperationLock();

    /// For providers.
    protected SharedReceiveQueue(ProtectionDomain protectionDomain, SharedReceiveQueueOptions options) {
        super(protectionDomain);
        this.protectionDomain = protectionDomain;
        this.elements = options.elements();
    }

    /// The protection domain that it belongs to.
    public final ProtectionDomain protectionDomain() {
        return protectionDomain;
    }

    /// Posts the receives of `batch` (ibv_post_srq_recv(3)). Never blocks, never allocates.
    ///
    /// @return how many receives were posted; if fewer than the batch holds, the queue is full
    /// @throws WorkRequestException if a receive has more elements than the queue allows; the receives before it
    ///         were posted
    public final int post(ReceiveBatch batch) {
        return post(batch, batch.size());
    }

    /// Posts the first `count` receives of `batch`; see [#post(ReceiveBatch)].
    ///
    /// @return how many receives were posted
    /// @throws IndexOutOfBoundsException if the batch does not hold so many
    public final int post(ReceiveBatch batch, int count) {
        Objects.checkFromIndexSize(0, count, batch.size());
        lock.lock();
        try {
            checkOpen();
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
        batch.endAfter(count - 1);
        return doPost(batch, 0, count);
    }

    /// Arms the limit (ibv_modify_srq(3)): [AsyncEventType#SHARED_RECEIVE_QUEUE_LIMIT_REACHED] is raised once when
    /// fewer than `limit` receives are left.
    ///
    /// @throws VerbException EINVAL if the limit exceeds the capacity of the queue
    public final void armLimit(int limit) {
        checkOpen();
        int depth = doQuery().receives();
        if (limit < 0 || limit > depth) {
            throw new VerbException(
                    "modify shared receive queue (ibv_modify_srq)",
                    Errno.EINVAL,
                    "limit is " + limit + ", must be 0 to " + depth);
        }
        doArmLimit(limit);
    }

    /// Its size and the armed limit, 0 if none is armed (ibv_query_srq(3)).
    public final SharedReceiveQueueOptions query() {
        checkOpen();
        return doQuery();
    }

    /// Posts for [#post(ReceiveBatch)]; returns how many were posted.
    protected abstract int doPost(ReceiveBatch batch, int first, int count);

    /// Arms for [#armLimit(int)].
    protected abstract void doArmLimit(int limit);

    /// Queries for [#query()].
    protected abstract SharedReceiveQueueOptions doQuery();

    @Override
    public final String toString() {
        return "shared receive queue on " + protectionDomain.context();
    }
}
