package io.rdmacomm.comm.data;

import io.rdmacomm.comm.progress.CompletionGroup;
import io.rdmacomm.comm.progress.WorkId;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.PlainRequest;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.counters.ChannelCounters;
import io.rdmacomm.verbs.service.OperationLock;
import io.rdmacomm.verbs.statistics.ChannelCounter;
import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// The sending half of a channel: the operations in flight, the credits they need, and the two internal
/// operations, credit updates and arrival reads. Operations are posted under [#lock()] and end on the polling
/// thread, in order.
public final class SendQueue<H> {
    private static final int MOST_TRIES = 1_000;

    private static final VarHandle ENDED;

    static {
        try {
            ENDED = MethodHandles.lookup().findVarHandle(SendQueue.class, "ended", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final String channel;
    private final CompletionGroup group;
    private final QueuePair queuePair;
    private final long workIdBase;
    private final ChannelMemory memory;
    private final ChannelEvents<H> events;
    private final ChannelCounters counters;
    private final int inlineBytes;
    private final boolean fenced;
    private final OperationLock lock = new OperationLock();
    private final OperationRing<H> ring;
    private final Credits credits;
    private final SendBatch single;
    private final PlainRequest[] alone = new PlainRequest[1];
    private @Nullable Operation creditUpdate;
    private @Nullable Operation arrivalRead;
    private long receivesPosted;
    private long receivesAnnounced;
    // All operations before this number have ended, the last ones perhaps when they were posted.
    private volatile long ended;
    // Whether the device finished the last request at once. Then it may execute the next operation without one.
    private boolean atOnce;
    // All operations before this number have arrived, or this side can no longer find out whether they have.
    private volatile long arrived;

    /// @param channel its name, for the flight recorder
    /// @param group whose polling thread ends its operations
    /// @param receives how many receives the peer can rely on from the beginning
    /// @param fenced whether all operations but READs have to wait for preceding READs
    SendQueue(
            String channel,
            CompletionGroup group,
            QueuePair queuePair,
            long workIdBase,
            ChannelSizes sizes,
            int receives,
            ChannelMemory memory,
            Arena arena,
            boolean fenced,
            ChannelCounters counters,
            ChannelEvents<H> events) {
        this.channel = channel;
        this.group = group;
        this.queuePair = queuePair;
        this.workIdBase = workIdBase;
        this.memory = memory;
        this.events = events;
        this.counters = counters;
        this.inlineBytes = Math.min(sizes.inlineBytes(), queuePair.sizes().inlineBytes());
        this.fenced = fenced;
        this.ring = new OperationRing<>(sizes.sendWindow());
        this.credits = new Credits(channel, memory, counters);
        this.single = SendBatch.create(arena, 1, 1);
        this.receivesPosted = receives;
        this.receivesAnnounced = receives;
    }

    /// Sets the address of the peer's credits, before the queue pairs are connected.
    ///
    /// @param acknowledged whether a completed operation has arrived at the peer
    void begin(ChannelInfo peer, boolean acknowledged) {
        creditUpdate = newOperation()
                .local(Operation.CREDIT_UPDATE, memory.ownReceivesAddress(), Long.BYTES, memory.cellsKey())
                .remote(peer.creditAddress(), peer.creditKey());
        arrivalRead = newOperation()
                .local(Operation.ARRIVAL_READ, 0, peer.arrivalReadBytes(), 0)
                .remote(peer.creditAddress(), peer.creditKey());
        arrived = acknowledged ? Long.MAX_VALUE : 0;
        credits.begin(peer.receives());
    }

    /// A new operation for this queue.
    public Operation newOperation() {
        return new Operation(inlineBytes, fenced);
    }

    /// The lock for posting.
    public OperationLock lock() {
        return lock;
    }

    /// Whether the window has room for `count` more operations. Under the lock.
    public boolean hasRoom(int count) {
        if (ring.hasRoom(count)) {
            return true;
        }
        counters.count(ChannelCounter.WINDOW_STALLS);
        return false;
    }

    /// Uses up `count` receives of the peer. Under the lock.
    ///
    /// @return false if it has fewer
    public boolean takeCredits(int count) {
        return count == 0 || credits.take(count);
    }

    /// Gives up unused receives of the peer, except those that it guarantees.
    ///
    /// @return how many were given up
    public int surrenderCredits() {
        lock.lock();
        try {
            return credits.surrender();
        } finally {
            lock.unlock();
        }
    }

    /// Starts an operation, for which there is room and credit. Under the lock.
    ///
    /// @param handler given to [ChannelEvents#onEnd]
    /// @param context given to [ChannelEvents#onEnd]
    /// @return false if the device rejected it
    public boolean post(Operation operation, H handler, long context) {
        if (!postSingle(operation, handler, context)) {
            credits.giveBack(operation.needsCredit() ? 1 : 0);
            return false;
        }
        countStarted(operation.kind(), operation.length());
        return true;
    }

    private boolean postSingle(Operation operation, @Nullable H handler, long context) {
        long sequence = ring.next();
        int kind = operation.kind();
        if (atOnce && isNothingInFlight() && operation.isPlain() && executesAtOnce(operation)) {
            ring.add(kind, operation.length(), handler, context, 0);
            haveEnded();
            return true;
        }
        SendBatch batch = single.clear();
        operation.appendTo(
                batch, WorkId.send(workIdBase, sequence), memory.resultAddress(ring.slot(sequence)), memory.cellsKey());
        signal(batch);
        ring.add(kind, operation.length(), handler, context, SlowOperations.now());
        boolean taken = false;
        try {
            taken = queuePair.post(batch) == 1;
        } finally {
            if (!taken) {
                ring.undo(1);
            }
        }
        if (taken) {
            noteEnded(batch);
        }
        return taken;
    }

    private boolean executesAtOnce(Operation operation) {
        alone[0] = operation.request();
        return queuePair.executeAtOnce(alone, 1) == 1;
    }

    /// Makes the last request of a batch end with a completion, unless the device finishes it at once and
    /// nothing before it is in flight, so that operations end in order.
    private void signal(SendBatch batch) {
        if (group.endsAtOnce(workIdBase) && isNothingInFlight()) {
            batch.signaledUnlessAtOnce();
        } else {
            batch.signaled();
        }
    }

    private boolean isNothingInFlight() {
        return ring.next() == ended || ring.isEmpty();
    }

    /// Notes whether the device has finished all operations of a batch.
    private void noteEnded(SendBatch batch) {
        atOnce = batch.hasEndedAtOnce();
        if (atOnce) {
            haveEnded();
        }
    }

    /// All operations have ended. The polling thread learns that by its next poll.
    private void haveEnded() {
        ENDED.setRelease(this, ring.next());
        group.endedAtOnce();
    }

    /// Starts all operations, for which there is room and credit, with at most one completion. Under the lock. If it
    /// throws, none has started. If only some have, the channel fails, and ends them.
    public void post(PreparedOperations<H> operations) {
        int count = operations.size();
        int done = 0;
        if (atOnce && isNothingInFlight()) {
            done = queuePair.executeAtOnce(operations.requests(), count);
            for (int i = 0; i < done; i++) {
                add(operations, i, 0);
            }
        }
        if (done > 0) {
            countStarted(operations, 0, done);
            haveEnded();
        }
        if (done < count) {
            postFrom(done, operations);
        }
    }

    private void postFrom(int first, PreparedOperations<H> operations) {
        SendBatch batch = operations.batch().clear();
        for (int i = first; i < operations.size(); i++) {
            operations.get(i).appendTo(batch, WorkId.send(workIdBase, ring.next() + i - first), 0, 0);
        }
        signal(batch);
        long now = SlowOperations.now();
        for (int i = first; i < operations.size(); i++) {
            add(operations, i, now);
        }
        int count = batch.size();
        int taken = 0;
        try {
            taken = queuePair.post(batch);
            for (int tries = 0; taken < count && tries < MOST_TRIES; tries++) {
                taken += queuePair.post(batch, taken);
            }
        } catch (RuntimeException | Error e) {
            if (first + taken == 0) {
                ring.undo(count);
                credits.giveBack(operations.sends());
                throw e;
            }
            events.onFailed(new RdmaException(queuePair + " did not take all operations of a batch", e));
            return;
        }
        if (taken < count) {
            // Cannot happen, as the queue has room. Closing the queue pair ends the operations that the
            // device did not take.
            events.onFailed(new RdmaException(queuePair + " took " + taken + " of " + count + " operations", null));
            return;
        }
        countStarted(operations, first, operations.size());
        noteEnded(batch);
    }

    private void add(PreparedOperations<H> operations, int index, long now) {
        Operation operation = operations.get(index);
        ring.add(operation.kind(), operation.length(), operations.handler(index), operations.context(index), now);
    }

    private void countStarted(PreparedOperations<H> operations, int from, int to) {
        for (int i = from; i < to; i++) {
            Operation operation = operations.get(i);
            countStarted(operation.kind(), operation.length());
        }
    }

    private void countStarted(int kind, long bytes) {
        counters.count(ChannelCounter.OPERATIONS);
        if (kind == Operation.READ) {
            counters.add(ChannelCounter.BYTES_READ, bytes);
        } else if (!Operation.isAtomic(kind)) {
            counters.add(ChannelCounter.BYTES_OUT, bytes);
        }
    }

    /// A request has completed: everything before it has succeeded without a completion. On the polling
    /// thread.
    void completed(Completions completions, int index, long workId) {
        long sequence = WorkId.sequence(workId, ring.oldest());
        if (sequence >= ring.next()) {
            // The operation has already ended: siw sometimes flushes a READ twice.
            return;
        }
        while (ring.oldest() < sequence) {
            finish(WorkStatus.SUCCESS);
        }
        if (completions.isSuccess(index)) {
            finish(WorkStatus.SUCCESS);
            return;
        }
        WorkStatus status = completions.status(index);
        events.onWorkFailed(Operation.name(ring.get(sequence).kind), status, completions.vendorError(index));
        finish(status);
    }

    /// Whether there are operations that ended when they were posted and were not handled yet. Any thread.
    boolean hasEnded() {
        return ring.oldest() < ended;
    }

    /// Ends the operations that had ended when they were posted. On the polling thread.
    ///
    /// @return how many there were
    int finishEnded() {
        long until = ended;
        int count = 0;
        for (; ring.oldest() < until; count++) {
            finish(WorkStatus.SUCCESS);
        }
        return count;
    }

    /// Ends the oldest operation.
    private void finish(WorkStatus status) {
        OperationRing.Entry<H> entry = ring.get(ring.oldest());
        int kind = entry.kind;
        H handler = entry.handler;
        entry.handler = null;
        if (kind == Operation.CREDIT_UPDATE) {
            ring.creditUpdateInFlight(false);
            ring.advance();
            if (status == WorkStatus.SUCCESS) {
                announceReceives(0);
            }
            return;
        }
        if (kind == Operation.ARRIVAL_READ) {
            arrived = status == WorkStatus.SUCCESS ? ring.oldest() + 1 : Long.MAX_VALUE;
            ring.arrivalReadInFlight(false);
            ring.advance();
            return;
        }
        long context = entry.context;
        long result = 0;
        if (status == WorkStatus.SUCCESS) {
            result = Operation.isAtomic(kind) ? memory.result(ring.slot(ring.oldest())) : entry.length;
            counters.count(ChannelCounter.COMPLETED);
        } else {
            counters.count(ChannelCounter.FAILED);
        }
        if (entry.startNanos != 0) {
            SlowOperations.report(entry.startNanos, channel, kind, entry.length);
        }
        ring.advance();
        if (handler != null) {
            events.onEnd(handler, context, status, result);
        }
    }

    /// Ends everything in flight as FLUSHED. On the polling thread; the queue pair is closed, so that the
    /// device no longer touches the memory of the operations.
    void flush() {
        var _ = finishEnded();
        while (!ring.isEmpty()) {
            finish(WorkStatus.FLUSHED);
        }
    }

    /// Sends the peer the number of receives posted so far: now, or when the update in flight has ended.
    void announceReceives(long posted) {
        lock.lock();
        try {
            receivesPosted = Math.max(receivesPosted, posted);
            announceUnderLock();
        } finally {
            lock.unlock();
        }
    }

    /// Sends a no-op credit update, because on iWARP the connecting side must send first.
    void sendNoOpUpdate() {
        lock.lock();
        try {
            receivesAnnounced = receivesPosted - 1;
            announceUnderLock();
        } finally {
            lock.unlock();
        }
    }

    private void announceUnderLock() {
        Operation update = creditUpdate;
        if (receivesAnnounced == receivesPosted || ring.isCreditUpdateInFlight() || update == null || !isConnected()) {
            return;
        }
        memory.ownReceives(receivesPosted);
        ring.creditUpdateInFlight(true);
        try {
            if (postSingle(update, null, 0)) {
                receivesAnnounced = receivesPosted;
                counters.count(ChannelCounter.CREDIT_UPDATES);
                return;
            }
        } catch (RdmaException | IllegalStateException e) {
            // The queue pair has just failed or was closed: the peer sends no more.
        }
        ring.creditUpdateInFlight(false);
    }

    private boolean isConnected() {
        return queuePair.state() == QueuePairState.READY_TO_SEND;
    }

    /// Stops credit updates: one of the two sides is done.
    public void endCredits() {
        lock.lock();
        try {
            creditUpdate = null;
        } finally {
            lock.unlock();
        }
    }

    /// Starts no more internal operations.
    void end() {
        lock.lock();
        try {
            creditUpdate = null;
            arrivalRead = null;
        } finally {
            lock.unlock();
        }
    }

    /// The number of the next operation.
    long next() {
        lock.lock();
        try {
            return ring.next();
        } finally {
            lock.unlock();
        }
    }

    /// Whether the operations before number `sequence` have ended, and have arrived at the peer unless they failed.
    /// Call it repeatedly until it returns true: if completion does not mean arrival, this READs from the peer,
    /// which answers when everything before the READ was delivered (RFC 5040, section 5.5).
    boolean hasArrived(long sequence) {
        if (arrived < sequence) {
            postArrivalRead();
        }
        return arrived >= sequence && ring.hasEnded(sequence);
    }

    private void postArrivalRead() {
        lock.lock();
        try {
            Operation read = arrivalRead;
            if (ring.isArrivalReadInFlight()) {
                return;
            }
            if (read == null || !isConnected()) {
                arrived = Long.MAX_VALUE;
                return;
            }
            ring.arrivalReadInFlight(true);
            if (!postSingle(read, null, 0)) {
                ring.arrivalReadInFlight(false);
            }
        } catch (RdmaException | IllegalStateException e) {
            // The queue pair has just failed or was closed: the peer does not answer.
            ring.arrivalReadInFlight(false);
            arrived = Long.MAX_VALUE;
        } finally {
            lock.unlock();
        }
    }

    /// The user's operations in flight.
    public int inFlight() {
        return ring.inFlight();
    }

    boolean isIdle() {
        return ring.isEmpty();
    }
}
