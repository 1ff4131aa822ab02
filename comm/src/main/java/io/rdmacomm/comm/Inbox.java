package io.rdmacomm.comm;

import io.rdmacomm.verbs.service.OperationLock;
import java.util.LinkedHashSet;
import java.util.SequencedSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/// The arrived messages of a channel: passed to its handler, or queued until they are received.
///
/// @param <H> the handler
final class Inbox<H> {
    private Message[] messages = {};
    private final Message[] stored;
    private final OperationLock lock = new OperationLock();
    private final SequencedSet<CompletableFuture<Message>> receivers = new LinkedHashSet<>();
    private volatile @Nullable H handler;
    private volatile @Nullable ClosedException end;
    private long head;
    private volatile long tail;

    /// @param most the limit of queued messages
    Inbox(int most) {
        this.stored = new Message[most];
    }

    /// Must be called before the first receive is posted.
    ///
    /// @param ofReceives the message of each receive
    void provide(Message[] ofReceives) {
        messages = ofReceives;
    }

    void handler(@Nullable H value) {
        handler = value;
    }

    /// The handler for a message that arrives now; null if there is none, or if older messages are still
    /// queued. On the polling thread.
    @Nullable
    H handlerNow() {
        return tail == head ? handler : null;
    }

    /// The handler, if there is one.
    @Nullable
    H handler() {
        return handler;
    }

    /// The message that has just arrived in this receive. On the polling thread.
    Message message(int receive) {
        Message message = messages[receive].next();
        messages[receive] = message;
        return message;
    }

    /// Hands the message to a waiting receiver, or queues it. On the polling thread.
    void store(Message message) {
        message.held();
        while (true) {
            CompletableFuture<Message> receiver;
            lock.lock();
            try {
                receiver = firstReceiver();
                if (receiver == null) {
                    long position = tail;
                    stored[(int) (position % stored.length)] = message;
                    tail = position + 1;
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

    /// The number of messages that were received or retained and are not closed. On any thread; while messages arrive
    /// it may be out of date.
    ///
    /// @param ours whether a receive belongs to this channel
    int unclosed(IntPredicate ours) {
        int held = 0;
        for (int receive = 0; receive < messages.length; receive++) {
            if (messages[receive].isHeld() && ours.test(receive)) {
                held++;
            }
        }
        lock.lock();
        try {
            return (int) Math.max(0, held - (tail - head));
        } finally {
            lock.unlock();
        }
    }

    /// Takes the oldest queued message; null if there is none.
    @Nullable
    Message take() {
        if (tail == head) {
            return null;
        }
        lock.lock();
        try {
            long position = head;
            if (tail == position) {
                return null;
            }
            head = position + 1;
            return stored[(int) (position % stored.length)];
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
        if (!future.isDone()) {
            var _ = future.whenComplete((message, failure) -> {
                if (failure != null) {
                    forget(future);
                }
            });
        }
        return future;
    }

    private @Nullable CompletableFuture<Message> firstReceiver() {
        return receivers.isEmpty() ? null : receivers.removeFirst();
    }

    /// Removes a receiver that has stopped waiting.
    @SuppressWarnings("CollectionUndefinedEquality") // this future equals only itself
    private void forget(CompletableFuture<Message> receiver) {
        lock.lock();
        try {
            receivers.remove(receiver);
        } finally {
            lock.unlock();
        }
    }

    /// No more messages arrive: fails waiting receivers. Queued messages can still be received.
    void end(ClosedException why) {
        while (true) {
            CompletableFuture<Message> receiver;
            lock.lock();
            try {
                if (end == null) {
                    end = why;
                }
                receiver = firstReceiver();
            } finally {
                lock.unlock();
            }
            if (receiver == null) {
                return;
            }
            receiver.completeExceptionally(why);
        }
    }

    /// Returns the receives of messages that were not received.
    void discard() {
        for (Message message = take(); message != null; message = take()) {
            message.discard();
        }
    }

    /// @throws ClosedException if no more messages arrive
    void checkOpen() {
        ClosedException why = end;
        if (why != null) {
            throw why.again();
        }
    }
}
