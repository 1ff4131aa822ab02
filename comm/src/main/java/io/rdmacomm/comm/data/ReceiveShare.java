package io.rdmacomm.comm.data;

import io.rdmacomm.comm.progress.CompletionGroup;
import io.rdmacomm.comm.progress.GroupMember;
import io.rdmacomm.comm.progress.ReceiveRoute;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.RdmaException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// One channel's share of a [SharedReceivePool]: how many receives its peer was granted, and how many it has
/// used. It handles the completions of receives that its queue pair has taken from the pool.
final class ReceiveShare implements ChannelReceives, ReceiveRoute {
    private static final VarHandle GRANTED;
    private static final VarHandle USED;
    private static final VarHandle RETURNED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            GRANTED = lookup.findVarHandle(ReceiveShare.class, "granted", long.class);
            USED = lookup.findVarHandle(ReceiveShare.class, "used", long.class);
            RETURNED = lookup.findVarHandle(ReceiveShare.class, "returned", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final SharedReceivePool pool;
    private final ReceiveClaim claim;
    private final ChannelParts parts;
    private final GroupMember member;
    // The credits granted to the peer so far, how many of them were announced, and how many the peer has returned
    // unused. Written under the lock of the pool.
    private long granted;
    private long announced;
    private long returned;
    private boolean recalled;
    // Written by the polling thread.
    private long used;
    // Written by the checking thread; other threads may see an old number.
    private volatile long usedAtCheck;
    private volatile boolean lastWorkReached;
    private volatile boolean ending;
    private volatile boolean failed;

    ReceiveShare(SharedReceivePool pool, ReceiveClaim claim, ChannelParts parts) {
        this.pool = pool;
        this.claim = claim;
        this.parts = parts;
        this.member = parts.member();
        this.granted = claim.held;
        this.announced = claim.held;
        parts.group().route(parts.queuePair().number(), this);
    }

    ReceiveClaim claim() {
        return claim;
    }

    QueuePair queuePair() {
        return parts.queuePair();
    }

    @Override
    public boolean holds(int receive) {
        return pool.isOwnedBy(this, receive);
    }

    @Override
    public ReceiveBlocks blocks() {
        return pool;
    }

    /// The pool posted them when it was created.
    @Override
    public void begin() {}

    @Override
    public void received(Completions completions, int index, int receive) {
        long count = used + 1;
        if (count > (long) GRANTED.getAcquire(this) - (long) RETURNED.getAcquire(this)) {
            pool.returnUngranted(receive);
            member.failed(new RdmaException("the peer has sent more messages than it was granted receives", null));
            return;
        }
        USED.setRelease(this, count);
        pool.ownedBy(this, receive);
        boolean arrived = completions.isSuccess(index);
        member.received(completions, index, receive);
        if (!arrived) {
            pool.repost(receive);
        }
    }

    @Override
    public long owner() {
        return parts.workIdBase();
    }

    /// The number of granted receives that the peer has not used. Under the lock of the pool; the polling thread
    /// may use one meanwhile.
    int unused() {
        return (int) (granted - returned - (long) USED.getAcquire(this));
    }

    /// Grants the peer one more receive. Under the lock of the pool.
    void grant() {
        GRANTED.setRelease(this, granted + 1);
    }

    /// The number to announce to the peer now: all receives granted so far, or 0 if it has enough for now. Under
    /// the lock of the pool.
    long due() {
        long news = granted - announced;
        if (news == 0 || news < ReceivePool.together(unused())) {
            return 0;
        }
        announced = granted;
        return granted;
    }

    /// Announces it to the peer. Without the lock of the pool.
    void announce(long total) {
        parts.sends().announceReceives(total);
    }

    /// The number of receives that the peer has used since the last check.
    long usedLately() {
        return (long) USED.getAcquire(this) - usedAtCheck;
    }

    /// Restarts the count, ten times a second.
    void restartCount() {
        usedAtCheck = (long) USED.getAcquire(this);
    }

    /// Takes back grants that were not announced to the peer. Under the lock of the pool.
    ///
    /// @return how many were taken back
    int withdraw() {
        int unknown = (int) (granted - announced);
        GRANTED.setRelease(this, announced);
        return unknown;
    }

    /// Whether to ask the peer to return unused receives: it has more than `guaranteed`, has used none lately, and
    /// was not asked since it last used one. Under the lock of the pool.
    boolean shouldRecall(int guaranteed) {
        boolean idle = usedLately() == 0;
        boolean ask = idle && !recalled && unused() > guaranteed;
        recalled = idle && (recalled || ask);
        return ask;
    }

    /// Asks the peer to return them. Without the lock of the pool.
    void recall() {
        parts.recall().run();
    }

    @Override
    public boolean returned(int count) {
        return pool.returned(this, count);
    }

    /// The peer will not use `count` receives that it was granted. Under the lock of the pool.
    void take(int count) {
        RETURNED.setRelease(this, returned + count);
    }

    /// Keeps the receives: existing messages must still be closed, and those in flight may still arrive.
    @Override
    public void end() {
        ending = true;
    }

    void lastWorkReached() {
        lastWorkReached = true;
        queuePairFailed();
    }

    /// Checks the state of the queue pair, on a device that does not report its failure.
    void check() {
        try {
            if (!ending && queuePair().query().state() == QueuePairState.ERROR) {
                queuePairFailed();
            }
        } catch (RdmaException | IllegalStateException e) {
            // It is being closed.
            return;
        }
    }

    /// Reports that the queue pair has failed, after the messages that have arrived. It has no receives of its own
    /// whose flushing would report it.
    private void queuePairFailed() {
        if (!ending && !failed) {
            failed = true;
            parts.group().submit(() -> {
                parts.group().drain();
                parts.lost().run();
            });
        }
    }

    @Override
    public boolean isFlushed() {
        return lastWorkReached || !pool.reportsLastWork();
    }

    /// Closing a queue pair may drop its completions in the driver's library, so they are polled first.
    @Override
    public void beforeClose(CompletionGroup completing, Runnable close) {
        completing.submit(() -> {
            completing.drain();
            Thread.ofVirtual().name(completing.name() + "-close").start(close);
        });
    }

    @Override
    public void ended() {
        parts.group().unroute(parts.queuePair().number(), this);
        pool.ended(this);
    }
}
