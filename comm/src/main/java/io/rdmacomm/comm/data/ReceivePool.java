package io.rdmacomm.comm.data;

import io.rdmacomm.comm.progress.CompletionGroup;
import io.rdmacomm.comm.progress.WorkId;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.service.OperationLock;
import java.lang.foreign.MemorySegment;

/// The receives of one channel: posted before the peer may send, and reposted after each message was handled. A
/// quarter of them is reposted at a time, with one doorbell and one credit update.
public final class ReceivePool implements ReceiveBlocks, ChannelReceives {
    private final QueuePair queuePair;
    private final long workIdBase;
    private final ReceiveMemory memory;
    private final SendQueue<?> sends;
    private final ReceiveBatch batch;
    private final int together;
    private final OperationLock lock = new OperationLock();
    private final int[] free;
    private int freeCount;
    private long posted;
    private boolean ended;

    ReceivePool(ChannelParts parts, OwnReceives own) {
        this.queuePair = parts.queuePair();
        this.workIdBase = parts.workIdBase();
        this.memory = own.memory();
        this.sends = parts.sends();
        this.batch = ReceiveBatch.create(own.arena(), own.count(), 1);
        this.together = together(own.count());
        this.free = new int[own.count()];
    }

    /// The number of receives, out of `receives`, to repost together: the others are enough to keep the peer
    /// sending.
    public static int together(int receives) {
        return Math.max(1, receives / 4);
    }

    @Override
    public ReceiveBlocks blocks() {
        return this;
    }

    @Override
    public boolean holds(int receive) {
        return true;
    }

    @Override
    public int count() {
        return free.length;
    }

    @Override
    public MemorySegment block(int receive) {
        return memory.block(receive);
    }

    /// Posts all receives for the first time.
    @Override
    public void begin() {
        memory.provide();
        lock.lock();
        try {
            for (int receive = 0; receive < free.length; receive++) {
                free[freeCount++] = receive;
            }
            post();
        } finally {
            lock.unlock();
        }
    }

    /// Posts a receive again, now or together with others. From any thread.
    @Override
    public void repost(int receive) {
        long count = 0;
        lock.lock();
        try {
            if (ended) {
                return;
            }
            free[freeCount++] = receive;
            if (freeCount >= together) {
                post();
                count = posted;
            }
        } finally {
            lock.unlock();
        }
        if (count > 0) {
            sends.announceReceives(count);
        }
    }

    /// Posts the free receives.
    private void post() {
        batch.clear();
        for (int i = 0; i < freeCount; i++) {
            memory.append(batch, WorkId.receive(workIdBase, free[i]), free[i]);
        }
        int taken = queuePair.post(batch);
        freeCount = 0;
        if (taken != batch.size()) {
            throw new RdmaException(
                    queuePair + " took " + taken + " of " + batch.size() + " receives it has room for", null);
        }
        posted += taken;
    }

    /// Zero: this side never asks the peer to return receives.
    @Override
    public boolean returned(int count) {
        return count == 0;
    }

    /// Posts no more receives: the queue pair has failed or is about to be closed.
    @Override
    public void end() {
        lock.lock();
        try {
            ended = true;
        } finally {
            lock.unlock();
        }
    }

    /// No other channel needs these receives, so they need not be flushed.
    @Override
    public boolean isFlushed() {
        return true;
    }

    @Override
    public void beforeClose(CompletionGroup group, Runnable close) {
        close.run();
    }

    @Override
    public void ended() {
        // They end with the queue pair.
    }
}
