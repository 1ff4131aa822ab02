package io.rdmacomm.comm;

import io.rdmacomm.verbs.SendBatch;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Decides whether an operation of a channel starts now, later, or not at all.
///
/// An operation starts when the channel is open and there is room for it. Those that may wait do so in one
/// queue and start in order; while there are any, those that may not wait are not taken. The queue is
/// worked off by the polling thread, at each of its rounds.
final class SendGate {
    private static final long EXPIRY_INTERVAL_NANOS = 1_000_000;

    private final String name;
    private final RdmaAdapter adapter;
    private final ChannelCounters counters;
    private final ArrayDeque<QueuedOperation> queue = new ArrayDeque<>();
    private volatile @Nullable ClosedException refusal;
    private long nextExpiry;

    SendGate(String name, RdmaAdapter adapter) {
        this.name = name;
        this.adapter = adapter;
        this.counters = adapter.counters();
        this.refusal = new ClosedException(name + " is not ready yet", null);
    }

    /// Lets operations start.
    void open() {
        refusal = null;
    }

    boolean isOpen() {
        return refusal == null;
    }

    /// @throws ClosedException if operations are refused
    void checkOpen() {
        ClosedException why = refusal;
        if (why != null) {
            throw why.again();
        }
    }

    /// Starts an operation if that is possible at once. Under the send lock, and when it was found open
    /// there.
    Admission start(Operation operation, CompletionHandler handler, long context) {
        return queue.isEmpty() ? attempt(operation, handler, context) : Admission.OTHERS_WAIT;
    }

    /// Starts all operations of a batch if that is possible at once. Under the send lock.
    ///
    /// @param sends how many of them use up a receive of the peer
    Admission start(SendBatch batch, int count, int sends, PreparedOperations operations) {
        if (refusal != null) {
            return Admission.CLOSED;
        }
        Admission room = queue.isEmpty() ? room(count, sends) : Admission.OTHERS_WAIT;
        if (room != Admission.ACCEPTED) {
            return room;
        }
        adapter.post(batch, count, operations);
        for (int i = 0; i < count; i++) {
            counters.started(operations.kind(i), operations.length(i));
        }
        return Admission.ACCEPTED;
    }

    /// Starts an operation now, or when it is its turn and there is room.
    ///
    /// @throws ClosedException if operations are refused
    void submit(QueuedOperation operation) {
        boolean queued;
        adapter.sendLock().lock();
        try {
            checkOpen();
            queued = !start(operation.operation(), operation, 0).isAccepted();
            if (queued) {
                queue.add(operation);
            }
        } finally {
            adapter.sendLock().unlock();
        }
        if (queued) {
            adapter.attention();
        }
    }

    private Admission attempt(Operation operation, CompletionHandler handler, long context) {
        int sends = operation.needsCredit() ? 1 : 0;
        Admission room = room(1, sends);
        if (room != Admission.ACCEPTED) {
            return room;
        }
        if (!adapter.post(operation, handler, context)) {
            adapter.credits().untake(sends);
            return Admission.WINDOW_FULL;
        }
        counters.started(operation.kind(), operation.length());
        return Admission.ACCEPTED;
    }

    /// Takes room for operations.
    private Admission room(int count, int sends) {
        Admission room = adapter.room(count, sends);
        if (room == Admission.ACCEPTED) {
            if (sends > 0) {
                endStall();
            }
        } else if (room == Admission.WINDOW_FULL) {
            counters.windowStalls++;
        } else if (adapter.credits().beginStall()) {
            counters.creditStalls++;
        }
        return room;
    }

    private void endStall() {
        long nanos = adapter.credits().endStall();
        if (nanos != 0) {
            CreditStallEvent event = new CreditStallEvent();
            if (event.shouldCommit()) {
                event.channel = name;
                event.nanos = nanos;
                event.commit();
            }
        }
    }

    /// Starts what waits, as far as there is room, and gives up what has waited too long. On the polling
    /// thread.
    void pump() {
        List<QueuedOperation> expired = List.of();
        boolean waiting;
        adapter.sendLock().lock();
        try {
            long now = System.nanoTime();
            if (!queue.isEmpty() && now - nextExpiry >= 0) {
                nextExpiry = now + EXPIRY_INTERVAL_NANOS;
                expired = removeExpired(now);
            }
            while (refusal == null && startFirst()) {
                // The next one, then.
            }
            waiting = !queue.isEmpty();
        } finally {
            adapter.sendLock().unlock();
        }
        for (QueuedOperation operation : expired) {
            operation.rejected(new DeadlineException(
                    name + " had no room for the operation in time: the send window is full or the peer receives too"
                            + " slowly",
                    null));
        }
        if (waiting) {
            adapter.attention();
        }
    }

    private boolean startFirst() {
        QueuedOperation first = queue.peek();
        if (first == null || !attempt(first.operation(), first, 0).isAccepted()) {
            return false;
        }
        queue.remove();
        return true;
    }

    private List<QueuedOperation> removeExpired(long now) {
        List<QueuedOperation> expired = new ArrayList<>();
        for (Iterator<QueuedOperation> i = queue.iterator(); i.hasNext(); ) {
            QueuedOperation operation = i.next();
            if (now - operation.deadline() >= 0) {
                i.remove();
                operation.giveUp();
                expired.add(operation);
            }
        }
        return expired;
    }

    /// Takes an operation out of the queue.
    ///
    /// @return whether it never begins; if not, it has begun or ended
    boolean withdraw(QueuedOperation operation) {
        adapter.sendLock().lock();
        try {
            return queue.remove(operation) || operation.isGivenUp();
        } finally {
            adapter.sendLock().unlock();
        }
    }

    /// Refuses operations from now on, and those that wait. What was started goes on. The first reason is
    /// kept, unless a later one is that the channel failed.
    void refuse(ClosedException why) {
        List<QueuedOperation> waiting;
        adapter.sendLock().lock();
        try {
            if (refusal == null || why.getCause() != null) {
                refusal = why;
            }
            waiting = List.copyOf(queue);
            queue.clear();
        } finally {
            adapter.sendLock().unlock();
        }
        for (QueuedOperation operation : waiting) {
            operation.rejected(why);
        }
    }
}
