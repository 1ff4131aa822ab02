package io.rdmacomm.verbs;

/// Receives that several queue pairs share (`struct ibv_srq`, ibv_create_srq(3)). Usable from any thread.
///
/// Receives that are left when a queue pair fails are not flushed; wait for
/// [AsyncEventType#QUEUE_PAIR_LAST_WORK_REACHED] before destroying the queue pair.
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

    /// The protection domain it belongs to.
    public final ProtectionDomain protectionDomain() {
        return protectionDomain;
    }

    /// Posts the receives of `batch` (ibv_post_srq_recv(3)). Never blocks, never allocates.
    ///
    /// @return how many were taken; fewer than the batch holds means that the queue is full
    /// @throws WorkRequestException if a receive has more elements than the queue allows; those before it were
    ///         posted
    public final int post(ReceiveBatch batch) {
        lock.lock();
        try {
            checkOpen();
            int good = batch.acceptable(elements);
            int taken = good == 0 ? 0 : post(batch, good);
            if (taken == good && good < batch.size()) {
                throw WorkRequestException.tooManyElements("post receive (ibv_post_srq_recv)", good, elements);
            }
            return taken;
        } finally {
            lock.unlock();
        }
    }

    private int post(ReceiveBatch batch, int count) {
        batch.endAfter(count - 1);
        return doPost(batch, 0, count);
    }

    /// Arms the limit (ibv_modify_srq(3)): when fewer than `limit` receives are left,
    /// [AsyncEventType#SHARED_RECEIVE_QUEUE_LIMIT_REACHED] is raised once.
    ///
    /// @throws VerbException EINVAL if the limit is more than the queue holds
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

    /// Its size and the armed limit, 0 when none is armed (ibv_query_srq(3)).
    public final SharedReceiveQueueOptions query() {
        checkOpen();
        return doQuery();
    }

    /// Posts for [#post(ReceiveBatch)]; returns how many were taken.
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
