package io.rdmacomm.comm;

import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.OperationLock;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.ReceiveBatch;
import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/// The receives of one channel: posted before the peer may send, and again after each message was dealt
/// with. They are posted a few at a time, with one doorbell and one credit update for all.
final class ReceivePool {
    /// Who has its messages handled, and tells the peer of new receives.
    interface Events {
        /// Runs the handler; it does not throw.
        void onMessage(MessageHandler handler, Message message);

        /// So many receives were posted since the beginning.
        void onReceivesPosted(long count);
    }

    private final ChannelOptions options;
    private final ChannelMemory memory;
    private final Events events;
    private final Message[] messages;
    private final Message[] free;
    private final ReceiveBatch batch;
    private final int together;
    private final OperationLock lock = new OperationLock();
    private final ArrayDeque<CompletableFuture<Message>> receivers = new ArrayDeque<>();
    private final Message[] inbox;
    private volatile @Nullable MessageHandler handler;
    private @Nullable QueuePair queuePair;
    private volatile @Nullable CommException end;
    private long workIdBase;
    private int freeCount;
    private long posted;
    private long inboxHead;
    private volatile long inboxTail;

    ReceivePool(ChannelOptions options, ChannelMemory memory, Arena arena, Events events) {
        this.options = options;
        this.memory = memory;
        this.events = events;
        this.together = together(options.receives());
        this.messages = new Message[options.receives()];
        this.free = new Message[options.receives()];
        this.inbox = new Message[options.receives()];
        this.batch = ReceiveBatch.create(arena, options.receives(), 1);
        for (int i = 0; i < messages.length; i++) {
            messages[i] = new Message(this, i, memory.block(options, i));
        }
    }

    /// How many of `receives` are posted again together: the others are enough to keep the peer sending.
    static int together(int receives) {
        return Math.max(1, receives / 4);
    }

    /// Posts all receives for the first time.
    void begin(QueuePair receivingPair, long base) {
        lock.lock();
        try {
            queuePair = receivingPair;
            workIdBase = base;
            for (Message message : messages) {
                free[freeCount++] = message;
            }
            post(receivingPair);
        } finally {
            lock.unlock();
        }
    }

    /// A message or notice has arrived. On the polling thread.
    Message arrived(Completions completions, int index, int receive) {
        Message message = messages[receive];
        boolean tagged = completions.hasImmediate(index);
        boolean notice = tagged && completions.opcode(index) == CompletionOpcode.RECEIVE_WRITE_WITH_IMMEDIATE;
        message.arrived(completions.byteLength(index), notice, tagged, tagged ? completions.immediate(index) : 0);
        return message;
    }

    /// Gives a message to whoever is to have it. On the polling thread.
    void deliver(Message message) {
        MessageHandler now = handler;
        if (now == null || inboxTail != inboxHead) {
            store(message);
        } else {
            handle(now, message);
        }
    }

    private void handle(MessageHandler now, Message message) {
        message.handled();
        events.onMessage(now, message);
        message.endOfHandler();
    }

    private void store(Message message) {
        message.held();
        while (true) {
            CompletableFuture<Message> receiver;
            lock.lock();
            try {
                receiver = receivers.poll();
                if (receiver == null) {
                    long tail = inboxTail;
                    inbox[(int) (tail % inbox.length)] = message;
                    inboxTail = tail + 1;
                    return;
                }
            } finally {
                lock.unlock();
            }
            if (receiver.complete(message)) {
                return;
            }
        }
    }

    /// Gives what has arrived to the handler, if there is one. On the polling thread.
    void deliverStored() {
        MessageHandler now = handler;
        while (now != null) {
            Message message = take();
            if (message == null) {
                return;
            }
            handle(now, message);
            now = handler;
        }
    }

    void handler(@Nullable MessageHandler value) {
        handler = value;
    }

    /// The oldest message that waits, or null.
    @Nullable
    Message tryReceive() {
        return handler == null ? take() : null;
    }

    private @Nullable Message take() {
        if (inboxTail == inboxHead) {
            return null;
        }
        lock.lock();
        try {
            long head = inboxHead;
            if (inboxTail == head) {
                return null;
            }
            inboxHead = head + 1;
            return inbox[(int) (head % inbox.length)];
        } finally {
            lock.unlock();
        }
    }

    /// The next message, now or later.
    CompletableFuture<Message> receive() {
        CompletableFuture<Message> future = new CompletableFuture<>();
        lock.lock();
        try {
            Message message = take();
            if (message != null) {
                future.complete(message);
            } else if (end != null) {
                future.completeExceptionally(end);
            } else {
                receivers.add(future);
            }
        } finally {
            lock.unlock();
        }
        return future;
    }

    /// Posts the receive of a message again, now or with a few others.
    void repost(Message message) {
        long count = 0;
        lock.lock();
        try {
            QueuePair pair = queuePair;
            if (pair == null || end != null) {
                return;
            }
            free[freeCount++] = message;
            if (freeCount >= together) {
                post(pair);
                count = posted;
            }
        } catch (IllegalStateException e) {
            // The queue pair was closed meanwhile.
            queuePair = null;
        } finally {
            lock.unlock();
        }
        if (count > 0) {
            events.onReceivesPosted(count);
        }
    }

    /// Posts the receives of the free messages.
    private void post(QueuePair pair) {
        batch.clear();
        for (int i = 0; i < freeCount; i++) {
            int index = free[i].index();
            batch.receive(WorkId.receive(workIdBase, index))
                    .with(
                            memory.blockAddress(options, index),
                            Math.max(1, options.messageBytes()),
                            memory.pool().localKey());
        }
        int taken = pair.post(batch);
        freeCount = 0;
        if (taken != batch.size()) {
            throw new CommException(
                    pair + " took " + taken + " of " + batch.size() + " receives it has room for", null);
        }
        posted += taken;
    }

    /// Nothing arrives any more: fails those who wait. What has arrived can still be received.
    void end(CommException why) {
        while (true) {
            CompletableFuture<Message> receiver;
            lock.lock();
            try {
                if (end == null) {
                    end = why;
                }
                receiver = receivers.poll();
            } finally {
                lock.unlock();
            }
            if (receiver == null) {
                return;
            }
            receiver.completeExceptionally(why);
        }
    }

    /// Why nothing arrives any more; null while something may.
    @Nullable
    CommException end() {
        return end;
    }

    /// The queue pair is about to be closed.
    void close() {
        lock.lock();
        try {
            queuePair = null;
        } finally {
            lock.unlock();
        }
    }
}
