package io.rdmacomm.comm.data;

import io.rdmacomm.comm.progress.WorkId;
import io.rdmacomm.verbs.OperationLock;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.ReceiveBatch;
import java.lang.foreign.Arena;

/// The receives of one channel: posted before the peer may send, and again after each message was handled. They
/// are posted again a quarter at a time, with one doorbell and one credit update.
public final class ReceivePool {
    private final QueuePair queuePair;
    private final long workIdBase;
    private final ChannelMemory memory;
    private final SendQueue<?> sends;
    private final ReceiveBatch batch;
    private final int together;
    private final OperationLock lock = new OperationLock();
    private final int[] free;
    private int freeCount;
    private long posted;
    private boolean ended;

    /// @param sends tells the peer of new receives
    ReceivePool(
            QueuePair queuePair,
            long workIdBase,
            ChannelSizes sizes,
            ChannelMemory memory,
            Arena arena,
            SendQueue<?> sends) {
        this.queuePair = queuePair;
        this.workIdBase = workIdBase;
        this.memory = memory;
        this.sends = sends;
        this.batch = ReceiveBatch.create(arena, sizes.receives(), 1);
        this.together = together(sizes.receives());
        this.free = new int[sizes.receives()];
    }

    /// The number of receives that are posted again together, out of `receives`: the others are enough to keep the peer
    /// sending.
    public static int together(int receives) {
        return Math.max(1, receives / 4);
    }

    /// Posts all receives for the first time.
    void begin() {
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
            int receive = free[i];
            batch.receive(WorkId.receive(workIdBase, receive))
                    .with(memory.blockAddress(receive), memory.blockLength(), memory.poolKey());
        }
        int taken = queuePair.post(batch);
        freeCount = 0;
        if (taken != batch.size()) {
            throw new RdmaException(
                    queuePair + " took " + taken + " of " + batch.size() + " receives it has room for", null);
        }
        posted += taken;
    }

    /// Posts no more receives: the queue pair has failed or is about to be closed.
    void end() {
        lock.lock();
        try {
            ended = true;
        } finally {
            lock.unlock();
        }
    }
}
