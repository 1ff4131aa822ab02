package io.rdmacomm.examples;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.AsyncEvent;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.RdmaInterruptedException;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SharedReceiveQueue;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.EnumSet;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/// The receives of [SharedReceiveServer]: a shared receive queue, memory for as many messages, and a thread that
/// refills the queue whenever a limit event reports that few receives are left.
final class ReceivePool implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final Context context;
    private final SharedReceiveQueue queue;
    private final MemoryRegion memory;
    private final long messageBytes;
    private final int count;
    private final int limit;
    private final ReceiveBatch batch;

    /// The numbers of the receives that are not in the queue.
    private final BlockingQueue<Integer> unused;

    private final ExecutorService refilling = Executors.newVirtualThreadPerTaskExecutor();

    /// @param arena a shared arena that stays open longer than the pool
    /// @param count the number of receives
    /// @param limit refills the queue when fewer are left
    /// @param messageBytes the longest message
    ReceivePool(ProtectionDomain domain, Arena arena, int count, int limit, long messageBytes)
            throws InterruptedException {
        this.context = domain.context();
        this.queue = domain.createSharedReceiveQueue(SharedReceiveQueueOptions.ofDepth(count));
        this.memory = domain.allocate(count * messageBytes, EnumSet.of(AccessFlag.LOCAL_WRITE));
        this.messageBytes = messageBytes;
        this.count = count;
        this.limit = limit;
        this.batch = ReceiveBatch.create(arena, count, 1);
        this.unused = new ArrayBlockingQueue<>(count);
        for (int receive = 0; receive < count; receive++) {
            unused.add(receive);
        }
        refill(count);
        refilling.execute(this::refillAtEachEvent);
    }

    /// The queue for the server's queue pairs.
    SharedReceiveQueue queue() {
        return queue;
    }

    /// The memory of a receive. Its number is the work id of its completion.
    MemorySegment message(long receive) {
        return memory.segment().asSlice(receive * messageBytes, messageBytes);
    }

    /// Releases the receive of a served message, so that it can be posted again.
    void release(long receive) {
        unused.add((int) receive);
    }

    private void refillAtEachEvent() {
        try {
            while (true) {
                AsyncEvent event = context.awaitAsyncEvent(TIMEOUT);
                if (event != null && event.type() == AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED) {
                    refill(count - limit);
                }
            }
        } catch (InterruptedException | RdmaInterruptedException _) {
            // The pool is being closed.
        }
    }

    /// Posts receives, and waits for those whose messages are still being served.
    private void refill(int receives) throws InterruptedException {
        batch.clear();
        for (int i = 0; i < receives; i++) {
            int receive = unused.take();
            batch.receive(receive).with(memory, receive * messageBytes, messageBytes);
        }
        // The event is raised once, when fewer receives than the limit are left. Arm it first: otherwise all posted
        // receives might be taken before, and none would be left to raise it.
        queue.armLimit(limit);
        queue.post(batch);
    }

    /// Stops refilling. The owner of the protection domain frees the rest.
    @Override
    public void close() {
        refilling.shutdownNow();
        refilling.close();
    }
}
