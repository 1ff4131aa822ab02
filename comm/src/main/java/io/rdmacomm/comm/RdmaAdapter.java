package io.rdmacomm.comm;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.OperationLock;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.TransportType;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.cm.Connection;
import java.lang.foreign.Arena;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The lower half of a channel: one queue pair, the operations in flight on it, its receives and its
/// credits. It knows nothing of peers and end points; what happens it tells its [Events].
final class RdmaAdapter {
    /// What an adapter tells, on the polling thread unless it says otherwise.
    interface Events extends ReceivePool.Events {
        /// An operation has ended. Does not throw.
        void onOperation(CompletionHandler handler, long context, WorkStatus status, long result);

        /// Work has failed, which is the end of the queue pair.
        ///
        /// @param what the kind of work in words
        void onWorkFailed(String what, WorkStatus status, int vendorError);

        /// The queue pair cannot be used any more; on any thread.
        void onFailed(CommException why);

        /// The adapter was asked for attention.
        void onAttention();
    }

    private final CompletionGroup group;
    private final ChannelOptions options;
    private final ChannelMemory memory;
    private final Events events;
    private final OperationLock sendLock = new OperationLock();
    private final OperationRing ring;
    private final Credits credits;
    private final ReceivePool receives;
    private final ChannelCounters counters = new ChannelCounters();
    private final SendBatch single;
    private final QueuePair queuePair;
    private final int entries;
    private final long workIdBase;
    private @Nullable Operation creditUpdate;
    private @Nullable Operation question;
    private volatile @Nullable Connection connection;
    private long creditCell;
    private int creditKey;
    private long receivesPosted;
    private long receivesAnnounced;
    // The operations before this number are known to have arrived, or nobody will ever know.
    private volatile long arrived;

    /// @param arena lives as long as the adapter
    RdmaAdapter(
            CompletionGroup group,
            ProtectionDomain domain,
            ChannelOptions options,
            ChannelMemory memory,
            Arena arena,
            Events events) {
        this.group = group;
        this.options = options;
        this.memory = memory;
        this.events = events;
        this.ring = new OperationRing(options.sendWindow());
        this.credits = new Credits(memory);
        this.receives = new ReceivePool(options, memory, arena, events);
        this.single = SendBatch.create(arena, 1, 1);
        this.entries = entries(options);
        group.reserve(entries);
        QueuePair created = null;
        try {
            // Sends are posted under the send lock, receives under that of their pool: it needs none of its own.
            created = domain.createQueuePair(QueuePairOptions.reliable(group.queue())
                    .withSizes(new QueueSizes(sends(options), options.receives(), 1, 1, options.inlineBytes()))
                    .withSingleThreaded(true));
            this.workIdBase = group.join(this);
        } catch (RuntimeException e) {
            if (created != null) {
                created.close();
            }
            group.unreserve(entries);
            throw e;
        }
        this.queuePair = created;
    }

    /// Two sends more than the window: a credit update, and a question whether what went before has arrived.
    private static int sends(ChannelOptions options) {
        return options.sendWindow() + 2;
    }

    /// The completions of one adapter that can be in its queue at a time.
    static int entries(ChannelOptions options) {
        return sends(options) + options.receives();
    }

    /// The part that the numbers of all its work requests share.
    long workIdBase() {
        return workIdBase;
    }

    QueuePair queuePair() {
        return queuePair;
    }

    CompletionGroup group() {
        return group;
    }

    ChannelCounters counters() {
        return counters;
    }

    ReceivePool receives() {
        return receives;
    }

    /// What the peer must know to connect.
    ChannelInfo info() {
        ConnectionOptions how = options.connection();
        return new ChannelInfo(
                queuePair.info(how.path().port(), how.path().gidIndex()),
                options.receives(),
                options.messageBytes(),
                how.maxDestinationReadAtomic(),
                questionBytes(),
                memory.cellAddress(),
                memory.cells().remoteKey());
    }

    /// How much the peer READs to ask whether all has arrived. Nothing needs no right, but the kernel's siw
    /// cannot do it.
    private int questionBytes() {
        Context context = queuePair.protectionDomain().context();
        return context.device().transport() == TransportType.IWARP ? Long.BYTES : 0;
    }

    /// Brings the queue pair up and posts the receives: after this the peer may send.
    void connect(ChannelInfo peer, ChannelRules rules, QueuePairConnector connector) {
        creditUpdate = new Operation(rules);
        question = new Operation(rules).question(peer.creditAddress(), peer.creditKey(), peer.questionBytes());
        arrived = rules.unacknowledged() ? 0 : Long.MAX_VALUE;
        creditCell = peer.creditAddress();
        creditKey = peer.creditKey();
        receivesPosted = options.receives();
        receivesAnnounced = options.receives();
        credits.begin(peer.receives());
        ConnectionOptions how = options.connection();
        // The peer's credit updates are WRITEs, whatever else it may do.
        Set<AccessFlag> access = EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        if (questionBytes() > 0) {
            access.add(AccessFlag.REMOTE_READ);
        }
        access.addAll(how.accessFlags());
        connection = connector.connect(
                queuePair,
                peer.queuePair(),
                how.withAccessFlags(access)
                        // One at least, for questions.
                        .withReadAtomic(Math.max(1, Math.min(how.maxReadAtomic(), peer.readAtomic()))),
                () -> receives.begin(queuePair, workIdBase));
        if (connector.speaksFirst()) {
            greet();
        }
    }

    /// Tells the peer what it knows already, so that this side was the first to send.
    private void greet() {
        sendLock.lock();
        try {
            receivesAnnounced = receivesPosted - 1;
            announceUnderLock();
        } finally {
            sendLock.unlock();
        }
    }

    OperationLock sendLock() {
        return sendLock;
    }

    /// Takes room for operations. Under the send lock.
    ///
    /// @param needed how many of them use up a receive of the peer
    Admission room(int count, int needed) {
        if (!ring.hasRoom(count)) {
            return Admission.WINDOW_FULL;
        }
        return needed == 0 || credits.take(needed) ? Admission.ACCEPTED : Admission.NO_CREDIT;
    }

    Credits credits() {
        return credits;
    }

    /// Starts an operation for which there is room. Under the send lock.
    ///
    /// @return false if the device took it not
    boolean post(Operation operation, @Nullable CompletionHandler handler, long context) {
        long sequence = ring.next();
        int kind = operation.kind();
        SendBatch batch = single.clear();
        operation.appendTo(
                batch,
                WorkId.send(workIdBase, sequence),
                memory.resultAddress(ring.slot(sequence)),
                memory.cells().localKey());
        batch.signaled();
        ring.add(kind, operation.length(), handler, context, SlowOperations.now());
        boolean taken = false;
        try {
            taken = queuePair.post(batch) == 1;
        } finally {
            if (!taken) {
                ring.undo();
            }
        }
        return taken;
    }

    /// Starts `count` operations for which there is room, the last of which is signalled. Under the send
    /// lock.
    void post(SendBatch batch, int count, PreparedOperations operations) {
        long now = SlowOperations.now();
        for (int i = 0; i < count; i++) {
            batch.workId(i, WorkId.send(workIdBase, ring.next()));
            ring.add(operations.kind(i), operations.length(i), operations.handler(i), operations.context(i), now);
        }
        int taken = queuePair.post(batch);
        for (int tries = 0; taken < count && tries < 1_000; tries++) {
            taken += queuePair.post(batch, taken);
        }
        if (taken < count) {
            // There is room by all accounts. What the device did not take, it does not end either.
            fail(new CommException(queuePair + " took " + taken + " of " + count + " operations", null));
        }
    }

    /// A send-side completion: everything before it has succeeded silently. On the polling thread.
    void completed(Completions completions, int index, long workId) {
        long sequence = WorkId.sequence(workId, ring.oldest());
        if (sequence >= ring.next()) {
            // Of an operation that has ended: siw sometimes flushes a READ twice.
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

    /// Ends the oldest operation.
    private void finish(WorkStatus status) {
        InFlightOperation operation = ring.get(ring.oldest());
        int kind = operation.kind;
        CompletionHandler handler = operation.handler;
        operation.handler = null;
        if (kind == Operation.CREDIT) {
            ring.creditInFlight(false);
            ring.advance();
            if (status == WorkStatus.SUCCESS) {
                announceReceives();
            }
            return;
        }
        if (kind == Operation.QUESTION) {
            arrived = status == WorkStatus.SUCCESS ? ring.oldest() + 1 : Long.MAX_VALUE;
            ring.questionInFlight(false);
            ring.advance();
            return;
        }
        long context = operation.context;
        long result = 0;
        if (status == WorkStatus.SUCCESS) {
            result = Operation.isAtomic(kind) ? memory.result(ring.slot(ring.oldest())) : operation.length;
            counters.completed++;
        } else {
            counters.failed++;
        }
        if (operation.startNanos != 0) {
            SlowOperations.report(operation.startNanos, this, kind, operation.length);
        }
        ring.advance();
        if (handler != null) {
            events.onOperation(handler, context, status, result);
        }
    }

    /// A receive-side completion. On the polling thread.
    void received(Completions completions, int index, int receive) {
        if (!completions.isSuccess(index)) {
            events.onWorkFailed("receive", completions.status(index), completions.vendorError(index));
            return;
        }
        Message message = receives.arrived(completions, index, receive);
        counters.arrived(message);
        receives.deliver(message);
    }

    /// Tells the peer how many receives were posted so far, at once or when the update in flight has ended.
    void announceReceives(long posted) {
        sendLock.lock();
        try {
            receivesPosted = Math.max(receivesPosted, posted);
            announceUnderLock();
        } finally {
            sendLock.unlock();
        }
    }

    private void announceReceives() {
        sendLock.lock();
        try {
            announceUnderLock();
        } finally {
            sendLock.unlock();
        }
    }

    private void announceUnderLock() {
        Operation update = creditUpdate;
        if (receivesAnnounced == receivesPosted
                || ring.isCreditInFlight()
                || update == null
                || queuePair.state() != QueuePairState.READY_TO_SEND) {
            return;
        }
        memory.source(receivesPosted);
        ring.creditInFlight(true);
        update.credit(memory.sourceAddress(), memory.cells().localKey(), creditCell, creditKey);
        try {
            if (post(update, null, 0)) {
                receivesAnnounced = receivesPosted;
                counters.creditUpdates++;
                return;
            }
        } catch (VerbException | IllegalStateException e) {
            // The queue pair has just failed or was closed: nobody will send.
        }
        ring.creditInFlight(false);
    }

    /// Tells the peer of no more receives: one of the two sides is done.
    void endCredits() {
        sendLock.lock();
        try {
            creditUpdate = null;
        } finally {
            sendLock.unlock();
        }
    }

    /// The library starts nothing by itself any more.
    private void endOwn() {
        sendLock.lock();
        try {
            creditUpdate = null;
            question = null;
        } finally {
            sendLock.unlock();
        }
    }

    /// The number of the next operation.
    long next() {
        sendLock.lock();
        try {
            return ring.next();
        } finally {
            sendLock.unlock();
        }
    }

    /// Whether the operations before number `sequence` have ended, and have arrived at the peer if they did not
    /// fail. To be called until that is so: where an end does not say so, this asks the peer. It answers a READ
    /// when everything before it was delivered (RFC 5040, section 5.5).
    boolean hasArrived(long sequence) {
        if (arrived < sequence) {
            ask();
        }
        return arrived >= sequence && ring.hasEnded(sequence);
    }

    private void ask() {
        sendLock.lock();
        try {
            Operation read = question;
            if (ring.isQuestionInFlight()) {
                return;
            }
            if (read == null || queuePair.state() != QueuePairState.READY_TO_SEND) {
                arrived = Long.MAX_VALUE;
                return;
            }
            ring.questionInFlight(true);
            if (!post(read, null, 0)) {
                ring.questionInFlight(false);
            }
        } catch (VerbException | IllegalStateException e) {
            // The queue pair has just failed or was closed: nobody will answer.
            ring.questionInFlight(false);
            arrived = Long.MAX_VALUE;
        } finally {
            sendLock.unlock();
        }
    }

    /// Operations in flight.
    int inFlight() {
        return Math.max(0, ring.size() - ring.own());
    }

    boolean isIdle() {
        return ring.isEmpty();
    }

    void fail(CommException why) {
        events.onFailed(why);
    }

    /// Has [Events#onAttention()] called, once, on the polling thread.
    void attention() {
        group.submit(events::onAttention);
    }

    /// Stops the queue pair: what is in flight is flushed.
    void stop() {
        try {
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
        } catch (VerbException | IllegalStateException e) {
            // It was never brought up, or is closed already: nothing is in flight.
        }
    }

    /// Why the connection ended, in words; null if nobody says so, or not yet.
    @Nullable
    String disconnectReason() {
        Connection made = connection;
        return made == null ? null : made.disconnectReason();
    }

    /// Frees everything. What has not ended by now is flushed. Operations are refused by now.
    void close() {
        receives.close();
        endOwn();
        group.runExclusively(() -> {
            group.part(workIdBase);
            while (!ring.isEmpty()) {
                finish(WorkStatus.FLUSHED);
            }
        });
        Connection made = connection;
        if (made != null) {
            made.close();
        }
        queuePair.close();
        group.unreserve(entries);
    }
}
