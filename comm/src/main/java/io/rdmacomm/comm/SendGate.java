package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Bounds;
import io.rdmacomm.comm.data.Operation;
import io.rdmacomm.comm.data.PreparedOperations;
import io.rdmacomm.comm.data.RdmaAdapter;
import io.rdmacomm.comm.data.SendQueue;
import io.rdmacomm.verbs.DeadlineException;
import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Decides whether an operation of a channel starts now, later, or not at all.
///
/// An operation starts when the channel is open and there is room for it. Those that may wait are queued and
/// start in order; while any are queued, those that may not wait are not accepted. The polling thread drains
/// the queue, once in each of its rounds.
final class SendGate {
    private final String name;
    private final RdmaAdapter<CompletionHandler> adapter;
    private final SendQueue<CompletionHandler> sends;
    private final Arena arena;
    private final int mostTogether;
    private final ArrayDeque<PendingOperation<?>> queue = new ArrayDeque<>();
    private volatile @Nullable ClosedException refusal;
    // Why the first queued operation has not started, for messages.
    private volatile Admission waitReason = Admission.WINDOW_FULL;
    // Under the send lock: whether the polling thread was asked to drain the queue; no queued deadline is
    // before firstDeadline.
    private boolean drainRequested;
    private long firstDeadline;
    // The space for READs that start together, once there are any. Under the send lock.
    private @Nullable PreparedOperations<CompletionHandler> together;

    /// @param name of the channel
    /// @param arena lives as long as the channel
    /// @param window how many operations may be in flight
    SendGate(String name, RdmaAdapter<CompletionHandler> adapter, Arena arena, int window) {
        this.name = name;
        this.arena = arena;
        this.mostTogether = window;
        this.adapter = adapter;
        this.sends = adapter.sends();
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

    /// Starts an operation if that is possible at once. The caller holds the send lock, and has found the gate open
    /// under it.
    Admission start(Operation operation, CompletionHandler handler, long context) {
        if (!queue.isEmpty()) {
            return Admission.OTHERS_WAIT;
        }
        return attempt(operation, handler, context);
    }

    private Admission attempt(Operation operation, CompletionHandler handler, long context) {
        if (!sends.hasRoom(1)) {
            return Admission.WINDOW_FULL;
        }
        if (!sends.takeCredits(operation.needsCredit() ? 1 : 0)) {
            return Admission.NO_CREDIT;
        }
        return sends.post(operation, handler, context) ? Admission.ACCEPTED : Admission.WINDOW_FULL;
    }

    /// Starts a single operation. Under the send lock.
    Admission attempt(PendingOperation<?> pending) {
        return pending.load() ? attempt(pending.operation(), pending, 0) : Admission.WINDOW_FULL;
    }

    /// Starts the next parts of a list of READs. Under the send lock.
    Admission attempt(PendingReads reads) {
        PreparedOperations<CompletionHandler> part = together();
        while (reads.fill(part)) {
            if (!sends.hasRoom(part.size())) {
                return Admission.WINDOW_FULL;
            }
            reads.starts(part.size());
            try {
                sends.post(part);
            } catch (RuntimeException | Error e) {
                reads.startsNot();
                throw e;
            }
        }
        return Admission.ACCEPTED;
    }

    /// Starts READs as one operation: all, or none. Under the send lock, and the gate is open.
    ///
    /// @throws IllegalArgumentException if there are more than the send window has
    Admission start(List<Read> reads, OperationChecks checks, CompletionHandler handler, long context) {
        PreparedOperations<CompletionHandler> all = together();
        Bounds.range("number of reads", reads.size(), 1, all.capacity());
        Read.checkTargets(reads);
        all.clear();
        for (int i = 0; i < reads.size(); i++) {
            checks.read(all.next(), reads.get(i));
            all.add(i == reads.size() - 1 ? handler : null, context);
        }
        return start(all);
    }

    private PreparedOperations<CompletionHandler> together() {
        PreparedOperations<CompletionHandler> made = together;
        if (made == null) {
            made = new PreparedOperations<>(arena, mostTogether, Operation.MOST_ELEMENTS, sends);
            together = made;
        }
        return made;
    }

    /// Starts all operations if that is possible at once.
    Admission start(PreparedOperations<CompletionHandler> operations) {
        sends.lock().lock();
        try {
            if (refusal != null) {
                return Admission.CLOSED;
            }
            if (!queue.isEmpty()) {
                return Admission.OTHERS_WAIT;
            }
            if (!sends.hasRoom(operations.size())) {
                return Admission.WINDOW_FULL;
            }
            if (!sends.takeCredits(operations.sends())) {
                return Admission.NO_CREDIT;
            }
            sends.post(operations);
            return Admission.ACCEPTED;
        } finally {
            sends.lock().unlock();
        }
    }

    /// Starts an operation now, or queues it until it is first and there is room.
    ///
    /// @throws ClosedException if operations are refused
    void submit(PendingOperation<?> pending) {
        boolean request = false;
        Admission admission;
        sends.lock().lock();
        try {
            checkOpen();
            admission = queue.isEmpty() ? pending.attempt(this) : Admission.OTHERS_WAIT;
            if (!admission.isAccepted()) {
                pending.keep();
                setWaitReason(admission);
                if (queue.isEmpty() || pending.deadline() - firstDeadline < 0) {
                    firstDeadline = pending.deadline();
                }
                queue.add(pending);
                request = !drainRequested;
                drainRequested = true;
            }
        } finally {
            sends.lock().unlock();
        }
        if (admission.isAccepted()) {
            pending.started();
        } else if (request) {
            adapter.attention();
        }
    }

    /// Starts queued operations while there is room, and fails those whose deadline has passed. On the polling
    /// thread.
    void drain() {
        List<PendingOperation<?>> expired = List.of();
        PendingOperation<?> lastStarted = null;
        PendingOperation<?> failed = null;
        Throwable failure = null;
        boolean waiting;
        sends.lock().lock();
        try {
            long now = System.nanoTime();
            if (!queue.isEmpty() && now - firstDeadline >= 0) {
                expired = removeExpired(now);
            }
            for (PendingOperation<?> first = queue.peek(); refusal == null && first != null; first = queue.peek()) {
                try {
                    Admission admission = first.attempt(this);
                    if (!admission.isAccepted()) {
                        setWaitReason(admission);
                        break;
                    }
                } catch (RuntimeException | Error e) {
                    // For example, there is no memory. The others start in the next round.
                    queue.remove();
                    failed = first;
                    failure = e;
                    break;
                }
                queue.remove();
                first.startedAfter(lastStarted);
                lastStarted = first;
            }
            waiting = !queue.isEmpty();
            drainRequested = waiting;
        } finally {
            sends.lock().unlock();
        }
        for (PendingOperation<?> each = lastStarted; each != null; each = each.startedBefore()) {
            each.started();
        }
        if (failed != null && failure != null) {
            failed.fail(failure);
        }
        for (PendingOperation<?> operation : expired) {
            operation.fail(timedOut(operation));
        }
        if (waiting) {
            adapter.attentionLater();
        }
    }

    private void setWaitReason(Admission admission) {
        if (admission != Admission.OTHERS_WAIT && admission != waitReason) {
            waitReason = admission;
        }
    }

    /// The failure of an operation that has not started by its deadline.
    DeadlineException timedOut(PendingOperation<?> operation) {
        String why;
        if (waitReason == Admission.NO_CREDIT) {
            why = (operation.operation().needsCredit() ? "" : "a message queued before it waits, and ")
                    + "the peer receives too slowly: it has not returned the receives of earlier messages, which its"
                    + " program has not received or not closed";
        } else if (operation.isCrowded()) {
            why = "the memory for copied messages is full: " + sends.inFlight()
                    + " operations are in flight and have not ended";
        } else {
            why = "the send window is full: " + sends.inFlight() + " operations are in flight and have not ended";
        }
        return new DeadlineException(operation + " on " + name + " timed out, because " + why, null);
    }

    private List<PendingOperation<?>> removeExpired(long now) {
        List<PendingOperation<?>> expired = new ArrayList<>();
        firstDeadline = now + Long.MAX_VALUE / 2;
        for (Iterator<PendingOperation<?>> i = queue.iterator(); i.hasNext(); ) {
            PendingOperation<?> operation = i.next();
            if (now - operation.deadline() >= 0) {
                i.remove();
                operation.unload();
                operation.expire();
                expired.add(operation);
            } else if (operation.deadline() - firstDeadline < 0) {
                firstDeadline = operation.deadline();
            }
        }
        return expired;
    }

    /// Removes an operation from the queue.
    ///
    /// @return true if it never starts; false if it has started or ended
    boolean withdraw(PendingOperation<?> operation) {
        sends.lock().lock();
        try {
            boolean removed = queue.remove(operation);
            if (removed) {
                operation.unload();
            }
            return removed || operation.isExpired();
        } finally {
            sends.lock().unlock();
        }
    }

    /// Rejects new operations from now on and fails the queued ones. Those that have started continue. The
    /// first reason is kept, unless a later one is a failure. The failure of an operation is always kept: the peer
    /// may have ended because of it.
    void refuse(ClosedException why) {
        List<PendingOperation<?>> waiting;
        sends.lock().lock();
        try {
            ClosedException earlier = refusal;
            if (earlier == null || (why.getCause() != null && !(earlier.getCause() instanceof OperationException))) {
                refusal = why;
            }
            waiting = List.copyOf(queue);
            queue.clear();
        } finally {
            sends.lock().unlock();
        }
        for (PendingOperation<?> operation : waiting) {
            operation.fail(why);
        }
    }
}
