package io.rdmacomm.soft;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.OperationLock;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SendRequestLayout;
import io.rdmacomm.verbs.WorkStatus;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The send queue of a queue pair. What can be carried out at once never waits here: the posting thread does it.
/// What must wait for the peer is kept in a ring, and the engine or the stager goes on with it. Everything is
/// under the queue pair's send lock, except where it says otherwise.
final class SendQueue implements AutoCloseable {
    private static final System.Logger LOGGER = System.getLogger(SendQueue.class.getName());
    private static final int FLUSHED = WorkStatus.FLUSHED.code();
    private static final int GENERAL_ERROR = WorkStatus.GENERAL_ERROR.code();

    /// What the send queue needs of its queue pair.
    interface Owner {
        /// Whether requests may be carried out now.
        boolean maySend();

        /// A request has failed; the queue pair goes to the error state, which calls [SendQueue#flush(int)].
        ///
        /// @param status what the oldest request that waits fails with
        void onFailed(int status);

        /// The peer, or the TCP connection to it, has failed.
        ///
        /// @param status what the oldest request that waits fails with
        /// @param event to be raised
        void onLinkFailed(int status, AsyncEventType event);

        /// The first message has come over the link.
        void onLinkEstablished();

        /// A request that never waited has failed; requests `next` and later of `batch` are still to be completed.
        void onFailed(SendBatch batch, int next, int end, int status);
    }

    private final SoftQueuePair queuePair;
    private final Owner owner;
    private final SoftContext context;
    private final OperationLock lock;
    private final OwnBlock own;
    private final Destination destination;
    private final PeerQueuePair peer;
    private final RequestExecutor executor;
    private final SendRing waiting;
    private final WaitPolicy policy = new WaitPolicy();
    private boolean staging;
    // The life in which the stager was asked; it reads this without the lock.
    private volatile long stagedLife;
    private @Nullable Link link;
    private int vendorError;
    private boolean receiveAbandoned;
    private long abandonedReceive;
    private boolean drainWanted;
    private @Nullable Consumer<String> onLinkEnd;
    private String linkEnd = "";

    /// What a link shares with its queue pair.
    ///
    /// @param ring of the requests
    /// @param executor completes them
    /// @param block shows the queue pair's rights
    /// @param domain number of the protection domain
    /// @param receiveRing where the receives are in the control file
    /// @param receiveCompletions where they complete
    record Parts(
            SendRing ring,
            RequestExecutor executor,
            OwnBlock block,
            int domain,
            long receiveRing,
            SoftCompletionQueue receiveCompletions) {}

    SendQueue(
            SoftQueuePair queuePair,
            Owner owner,
            OperationLock lock,
            OwnBlock own,
            Destination destination,
            PeerQueuePair peer,
            RequestExecutor executor,
            QueueSizes sizes) {
        this.queuePair = queuePair;
        this.owner = owner;
        this.context = queuePair.context();
        this.lock = lock;
        this.own = own;
        this.destination = destination;
        this.peer = peer;
        this.executor = executor;
        this.waiting = new SendRing(sizes);
    }

    /// The requests that wait.
    SendRing ring() {
        return waiting;
    }

    WaitPolicy policy() {
        return policy;
    }

    /// Carries the requests `first` to `end` out, or keeps them.
    ///
    /// @return how many were taken
    int post(SendBatch batch, int first, int end) {
        Link remote = link;
        if (remote != null) {
            int kept = keep(batch, first, end) - first;
            remote.transmit();
            return kept;
        }
        if (!owner.maySend() || !waiting.isEmpty()) {
            return keep(batch, first, end) - first;
        }
        destination.bindIfNeeded();
        MemorySegment requests = batch.segment();
        int next = first;
        int result = RequestExecutor.DONE;
        own.beginExecuting();
        try {
            while (next < end) {
                result = executor.execute(requests, batch.at(next), false);
                if (result != RequestExecutor.DONE) {
                    break;
                }
                next++;
            }
        } catch (IllegalStateException | IndexOutOfBoundsException e) {
            result = GENERAL_ERROR;
        } finally {
            own.endExecuting();
        }
        if (result == RequestExecutor.DONE) {
            return end - first;
        }
        if (result > 0) {
            owner.onFailed(batch, next, end, result);
            return end - first;
        }
        int kept = keep(batch, next, end);
        settle(result);
        return kept - first;
    }

    /// Keeps requests for later.
    ///
    /// @return the first that did not fit
    private int keep(SendBatch batch, int first, int end) {
        MemorySegment requests = batch.segment();
        for (int i = first; i < end; i++) {
            long at = batch.at(i);
            if (!waiting.add(requests, at)) {
                return i;
            }
            if ((requests.get(JAVA_INT, at + SendRequestLayout.FLAGS) & SendRequestLayout.FLAG_INLINE) != 0) {
                waiting.setInline(executor.copyInline(requests, at, waiting.inlineRoom()));
            }
        }
        return end;
    }

    /// Completes requests as flushed that are posted in the error state.
    void flush(SendBatch batch, int first, int end) {
        for (int i = first; i < end; i++) {
            fail(batch, i, FLUSHED);
        }
    }

    /// Completes one request of a batch with a failure.
    void fail(SendBatch batch, int index, int status) {
        executor.completeFailed(batch.segment().get(JAVA_LONG, batch.at(index)), status);
    }

    /// Fails the oldest request that waits with `status` and flushes the others.
    void flush(int status) {
        int next = status;
        while (!waiting.isEmpty()) {
            executor.completeFailed(waiting.headWorkId(), next, vendorError);
            vendorError = 0;
            waiting.removeHead();
            next = FLUSHED;
        }
    }

    /// Discards what waits, silently.
    void clear() {
        waiting.clear();
        receiveAbandoned = false;
    }

    /// What waits is not tried any more; whoever works for it without the lock gives up.
    void stop() {
        drainWanted = false;
        staging = false;
        dropLink(true);
        policy.newLife();
        context.waiting().remove(queuePair);
    }

    /// Goes on after it was drained.
    void resume() {
        Link remote = link;
        if (remote != null) {
            remote.drive(true);
        } else if (!waiting.isEmpty() && !staging) {
            workOff();
        }
    }

    /// Decides what becomes of the oldest request after `result`.
    private void settle(int result) {
        int failure = result < 0 ? holdBack(result) : result;
        if (failure != RequestExecutor.DONE) {
            owner.onFailed(failure);
        }
    }

    /// Decides how long the oldest request waits.
    ///
    /// @return [RequestExecutor#DONE] if it does, or the status it fails with
    private int holdBack(int reason) {
        if (reason == RequestExecutor.NEEDS_STAGING) {
            staging = true;
            stagedLife = policy.life();
            context.stager().submit(queuePair);
            return RequestExecutor.DONE;
        }
        long now = System.nanoTime();
        int failure;
        if (reason == RequestExecutor.NO_PEER) {
            failure = policy.peerMissing(now, destination.isReached());
            destination.bind();
        } else {
            failure = policy.receiverNotReady(now, peer.rnrTimer());
        }
        if (failure == RequestExecutor.DONE) {
            context.waiting().add(queuePair);
            context.engine().wakeup();
        }
        return failure;
    }

    /// Tries the oldest request again if its time has come; the engine, without the lock.
    ///
    /// @return nanoseconds until this is wanted again
    long retryIfDue() {
        long left = policy.due() - System.nanoTime();
        if (left > 0) {
            return left;
        }
        if (!lock.tryLock()) {
            return WaitPolicy.LOCKED_NANOS;
        }
        try {
            context.waiting().remove(queuePair);
            Link remote = link;
            if (remote != null) {
                remote.release();
            } else if (owner.maySend() && !staging) {
                workOff();
            }
        } finally {
            lock.unlock();
        }
        return context.waiting().contains(queuePair) ? Math.max(0, policy.due() - System.nanoTime()) : Long.MAX_VALUE;
    }

    /// Carries out what waits, until there is nothing left or it must wait again.
    private void workOff() {
        if (!peer.isReady()) {
            destination.bind();
        }
        int result = RequestExecutor.DONE;
        own.beginExecuting();
        try {
            while (!waiting.isEmpty()) {
                result = executor.execute(waiting.segment(), waiting.headAt(), false);
                if (result != RequestExecutor.DONE) {
                    break;
                }
                waiting.removeHead();
                policy.progressed();
            }
        } catch (IllegalStateException | IndexOutOfBoundsException e) {
            result = GENERAL_ERROR;
        } finally {
            own.endExecuting();
        }
        settle(result);
    }

    // ---- The link ----

    /// The TCP connection to the peer, or null.
    @Nullable
    Link link() {
        return link;
    }

    /// Goes on over a TCP connection.
    void attach(Link remote, LinkAttention attention) throws IOException {
        link = remote;
        context.waiting().remove(queuePair);
        policy.progressed();
        try {
            attention.open();
        } catch (IOException | RuntimeException e) {
            link = null;
            remote.close(false);
            throw e;
        }
        remote.drive(true);
    }

    /// Has the end of the link told to the connection manager that made it. There is no other link after it.
    void tellLinkEnd(Consumer<String> onEnd) {
        onLinkEnd = onEnd;
        linkEnd = "this side ended it";
    }

    /// Whether everything that was posted has been sent and, if the peer does that, acknowledged.
    boolean isDrained() {
        Link remote = link;
        return waiting.isEmpty() && (remote == null || remote.isQuiet());
    }

    private void dropLink(boolean orderly) {
        Link remote = link;
        link = null;
        if (remote != null) {
            receiveAbandoned |= remote.abandonReceive();
            abandonedReceive = remote.receiveId();
            remote.close(orderly && context.isOpen());
        }
        Consumer<String> listener = onLinkEnd;
        if (listener != null) {
            onLinkEnd = null;
            listener.accept(linkEnd);
        }
    }

    /// Flushes the receive that a message had taken which never became complete.
    void flushAbandonedReceive(Destination.Flush flush) {
        if (receiveAbandoned) {
            receiveAbandoned = false;
            flush.receive(abandonedReceive);
        }
    }

    /// The peer had no receive.
    ///
    /// @return [RequestExecutor#DONE] if the link holds back until it is released, or what the request fails with
    int linkNotReady(int timer) {
        int failure = policy.receiverNotReady(System.nanoTime(), timer);
        if (failure == RequestExecutor.DONE) {
            context.waiting().add(queuePair);
            context.engine().wakeup();
        }
        return failure;
    }

    /// Requests have ended.
    void linkProgressed() {
        policy.progressed();
    }

    /// Something has come.
    void linkEstablished() {
        owner.onLinkEstablished();
    }

    /// Whether requests may be sent.
    boolean maySend() {
        return owner.maySend();
    }

    /// The oldest request has failed.
    ///
    /// @param reason what the peer says about it, or null
    void linkFailed(int status, int vendor, @Nullable String reason) {
        context.links().counters().requestFailed();
        vendorError = vendor;
        linkEnd = reason != null ? reason : "a request failed: " + WorkStatus.of(status);
        owner.onFailed(status);
    }

    /// A request of the peer was refused: the responder goes to the error state with its answer.
    void linkRefused(Refusal why) {
        context.links().counters().requestRefused();
        linkEnd = "what the peer sent was refused: " + why.code();
        owner.onLinkFailed(FLUSHED, why.event());
    }

    /// The connection is lost.
    void linkLost(Link remote, WorkStatus status, int vendor, String reason) {
        context.links().counters().lost();
        LOGGER.log(System.Logger.Level.DEBUG, "{0}: {1}", remote, reason);
        vendorError = vendor;
        linkEnd = reason;
        // The end of a connection that was made by address is no failure: its connection manager tells of it.
        boolean expected = onLinkEnd != null && status == WorkStatus.FLUSHED;
        owner.onLinkFailed(status.code(), expected ? AsyncEventType.UNKNOWN : AsyncEventType.QUEUE_PAIR_FATAL);
    }

    /// The peer's queue pair is gone in an orderly way: what it has not carried out waits for the retries to end.
    void linkClosed(Link remote) {
        context.links().counters().closed();
        LOGGER.log(System.Logger.Level.DEBUG, "{0}: closed by the peer", remote);
        if (onLinkEnd != null) {
            linkEnd = "the peer has ended the connection";
            owner.onLinkFailed(FLUSHED, AsyncEventType.UNKNOWN);
            return;
        }
        dropLink(false);
        if (!waiting.isEmpty() && owner.maySend()) {
            settle(RequestExecutor.NO_PEER);
        }
    }

    /// Says once that the send queue is drained: as soon as what was sent has ended.
    void notifyDrained() {
        drainWanted = true;
        linkSettled();
    }

    /// The link has done what can be done now.
    void linkSettled() {
        if (drainWanted && (link == null || !link.isWaiting())) {
            drainWanted = false;
            context.asyncEvents().raise(AsyncEventType.SEND_QUEUE_DRAINED, queuePair);
        }
    }

    @Override
    public String toString() {
        return queuePair.toString();
    }

    /// Carries the oldest request out on the stager's thread, which may wait for the peer. The lock is not held
    /// meanwhile: posts go on into the ring, and a failure of the queue pair flushes the request under the stager.
    void runStaged() {
        long life = stagedLife;
        if (!lockUnlessGivenUp(life)) {
            return;
        }
        try {
            if (!staging || waiting.isEmpty() || !owner.maySend()) {
                staging = false;
                return;
            }
        } finally {
            lock.unlock();
        }
        int result;
        try {
            result = executor.execute(waiting.segment(), waiting.headAt(), true);
        } catch (IllegalStateException | IndexOutOfBoundsException e) {
            result = GENERAL_ERROR;
        }
        if (!lockUnlessGivenUp(life)) {
            return;
        }
        try {
            staging = false;
            if (result == RequestExecutor.DONE) {
                waiting.removeHead();
                policy.progressed();
                workOff();
            } else {
                settle(result);
            }
        } finally {
            lock.unlock();
        }
    }

    /// Takes the lock, unless what the stager works for has been given up: whoever did that may be waiting for
    /// the stager, with the lock held.
    private boolean lockUnlessGivenUp(long life) {
        while (!lock.tryLock()) {
            if (life != policy.life()) {
                return false;
            }
            LockSupport.parkNanos(WaitPolicy.LOCKED_NANOS);
        }
        if (life == policy.life()) {
            return true;
        }
        lock.unlock();
        return false;
    }

    /// Frees the ring; nobody posts or works for it any more.
    @Override
    public void close() {
        waiting.close();
    }
}
