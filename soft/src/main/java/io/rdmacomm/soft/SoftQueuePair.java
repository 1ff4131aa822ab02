package io.rdmacomm.soft;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.shm.CompletionRing;
import io.rdmacomm.soft.shm.ControlLayout;
import io.rdmacomm.soft.shm.Peer;
import io.rdmacomm.soft.shm.ReceiveRing;
import io.rdmacomm.soft.shm.SharedWords;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.MemoryWindow;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttribute;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SendRequestLayout;
import io.rdmacomm.verbs.SharedReceiveQueue;
import io.rdmacomm.verbs.WorkStatus;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// A reliable connected queue pair: posts are carried out at once by the posting thread; what must wait for the
/// peer goes into a ring that the engine works off.
final class SoftQueuePair extends QueuePair {
    private static final int FLUSHED = WorkStatus.FLUSHED.code();
    private static final int GENERAL_ERROR = WorkStatus.GENERAL_ERROR.code();

    private final SoftContext context;
    private final SoftProtectionDomain domain;
    private final MemorySegment memory;
    private final int number;
    private final long block;
    private final QueueSizes sizes;
    private final SoftCompletionQueue sendCompletions;
    private final SoftCompletionQueue receiveCompletions;
    private final @Nullable SoftSharedReceiveQueue shared;
    private final ReceiveRing receives;
    private final SendRing waiting;
    private final PeerQueuePair peer;
    private final RequestExecutor executor;
    private final WaitPolicy policy = new WaitPolicy();
    private Gid peerGid = Gid.NONE;
    private int peerLid;
    private int peerNumber;
    private int sendPsn;
    private boolean staging;
    private volatile @Nullable Peer target;

    private SoftQueuePair(SoftProtectionDomain domain, QueuePairOptions options, int number) throws IOException {
        super(domain, options);
        this.domain = domain;
        this.context = domain.softContext();
        this.memory = context.memory();
        this.number = number;
        this.block = ControlLayout.queuePair(number);
        QueueSizes asked = options.sizes();
        this.sizes = asked.withInline(Math.max(asked.inlineBytes(), 64));
        this.sendCompletions = (SoftCompletionQueue) options.sendCompletions();
        this.receiveCompletions = (SoftCompletionQueue) options.receiveCompletions();
        SharedReceiveQueue sharedQueue = options.sharedReceives();
        this.shared = (SoftSharedReceiveQueue) sharedQueue;
        context.control().reserve(block, ControlLayout.QUEUE_PAIR_BYTES);
        this.receives = shared != null
                ? shared.ring()
                : ReceiveRing.create(context.control(), asked.receives(), asked.receiveElements(), 0, domain.number());
        this.waiting = new SendRing(sizes);
        this.peer = new PeerQueuePair(number);
        this.executor = new RequestExecutor(this, peer, options.signalAll());
        memory.asSlice(block, ControlLayout.QUEUE_PAIR_BYTES).fill((byte) 0);
        memory.set(JAVA_INT, block + ControlLayout.QP_DOMAIN, domain.number());
        memory.set(JAVA_LONG, block + ControlLayout.QP_RECEIVE_RING, receives.offset());
        memory.set(
                JAVA_LONG,
                block + ControlLayout.QP_RECEIVE_COMPLETIONS,
                receiveCompletions.ring().offset());
        publish(QueuePairState.RESET);
        context.softQueuePairs().add(this);
    }

    static SoftQueuePair create(SoftProtectionDomain domain, QueuePairOptions options) {
        SoftContext context = domain.softContext();
        String operation = "create queue pair (ibv_create_qp)";
        if (options.sizes().inlineBytes() > SoftLimits.MAX_INLINE) {
            throw new RdmaException(
                    operation,
                    Errno.EINVAL,
                    options.sizes().inlineBytes() + " inline bytes, this device allows " + SoftLimits.MAX_INLINE);
        }
        int number = context.queuePairNumbers().allocate();
        if (number == 0) {
            throw new RdmaException(
                    operation, Errno.ENOMEM, "all " + ControlLayout.QUEUE_PAIR_COUNT + " queue pairs are in use");
        }
        try {
            return new SoftQueuePair(domain, options, number);
        } catch (IOException e) {
            context.queuePairNumbers().free(number);
            throw context.noSpace(operation, "a queue pair of " + options.sizes(), e);
        }
    }

    SoftContext context() {
        return context;
    }

    long block() {
        return block;
    }

    int domainNumber() {
        return domain.number();
    }

    SoftCompletionQueue sendCompletions() {
        return sendCompletions;
    }

    boolean completesIn(SoftCompletionQueue queue) {
        return queue.equals(sendCompletions) || queue.equals(receiveCompletions);
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    protected QueueSizes doSizes() {
        return sizes;
    }

    // ---- Posting ----

    @Override
    protected int doPost(SendBatch batch, int first, int count) {
        MemorySegment requests = batch.segment();
        int end = first + count;
        QueuePairState now = state();
        if (now == QueuePairState.ERROR) {
            flush(batch, first, end);
            return count;
        }
        int next = first;
        if (now == QueuePairState.READY_TO_SEND && waiting.isEmpty()) {
            if (peer.peer() == null) {
                bindPeer();
            }
            int result = RequestExecutor.DONE;
            beginExecuting();
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
                endExecuting();
            }
            if (result != RequestExecutor.DONE) {
                return postRest(batch, next, end, result) + next - first;
            }
            return count;
        }
        return enqueue(batch, next, end) - first;
    }

    /// The request at `next` failed or must wait, and the others with it.
    private int postRest(SendBatch batch, int next, int end, int result) {
        int failure = result;
        if (result < 0) {
            int queued = enqueue(batch, next, end) - next;
            failure = holdBack(result);
            if (failure == RequestExecutor.DONE) {
                return queued;
            }
            failWaiting(failure);
            return queued;
        }
        receiveLock().lock();
        try {
            enterError();
            executor.completeFailed(batch.segment().get(JAVA_LONG, batch.at(next)), failure);
            flush(batch, next + 1, end);
            flushReceives();
        } finally {
            receiveLock().unlock();
        }
        return end - next;
    }

    /// Keeps requests for later; returns the first that did not fit.
    private int enqueue(SendBatch batch, int first, int end) {
        for (int i = first; i < end; i++) {
            if (!waiting.add(batch.segment(), batch.at(i))) {
                return i;
            }
            boolean inline = (batch.segment().get(JAVA_INT, batch.at(i) + SendRequestLayout.FLAGS)
                            & SendRequestLayout.FLAG_INLINE)
                    != 0;
            if (inline) {
                waiting.setInline(executor.copyInline(batch.segment(), batch.at(i), waiting.inlineRoom()));
            }
        }
        return end;
    }

    private void flush(SendBatch batch, int first, int end) {
        for (int i = first; i < end; i++) {
            executor.completeFailed(batch.segment().get(JAVA_LONG, batch.at(i)), FLUSHED);
        }
    }

    @Override
    protected int doPost(ReceiveBatch batch, int first, int count) {
        if (state() == QueuePairState.ERROR) {
            for (int i = first; i < first + count; i++) {
                completeReceive(batch.segment().get(JAVA_LONG, batch.at(i)));
            }
            return count;
        }
        int taken = 0;
        while (taken < count
                && receives.post(batch.segment(), batch.at(first + taken), batch.elementsAt(first + taken))) {
            taken++;
        }
        return taken;
    }

    @Override
    protected void doBind(
            long workId, MemoryWindow window, MemoryRegion region, long offset, long length, int access, int flags) {
        int next = MemoryWindow.nextKey(window.remoteKey());
        try (Arena arena = Arena.ofConfined()) {
            doPost(BindRequest.create(arena, workId, window, next, region, offset, length, access, flags), 0, 1);
        }
    }

    // ---- Requests that wait ----

    /// Decides how long the oldest request waits.
    ///
    /// @return [RequestExecutor#DONE] if it does, or the status it fails with
    private int holdBack(int reason) {
        if (reason == RequestExecutor.NEEDS_STAGING) {
            staging = true;
            context.stager().submit(this);
            return RequestExecutor.DONE;
        }
        long now = System.nanoTime();
        int failure = reason == RequestExecutor.NO_PEER
                ? policy.peerMissing(now)
                : policy.receiverNotReady(now, peer.rnrTimer());
        if (failure == RequestExecutor.DONE) {
            if (reason == RequestExecutor.NO_PEER) {
                bindPeer();
            }
            context.waiting().add(this);
            context.engine().wakeup();
        }
        return failure;
    }

    /// Tries the oldest request again if its time has come; the engine.
    ///
    /// @return nanoseconds until this is wanted again
    long retryIfDue() {
        long now = System.nanoTime();
        long left = policy.due() - now;
        if (left > 0) {
            return left;
        }
        if (!sendLock().tryLock()) {
            return WaitPolicy.LOCKED_NANOS;
        }
        try {
            context.waiting().remove(this);
            if (state() == QueuePairState.READY_TO_SEND && !staging) {
                workOff();
            }
        } finally {
            sendLock().unlock();
        }
        return context.waiting().contains(this) ? Math.max(0, policy.due() - System.nanoTime()) : Long.MAX_VALUE;
    }

    /// Carries out what waits, until it is empty or must wait again. Under the send lock.
    private void workOff() {
        if (target == null || peer.peer() == null || !peer.isReady()) {
            bindPeer();
        }
        int result = RequestExecutor.DONE;
        beginExecuting();
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
            endExecuting();
        }
        settle(result);
    }

    private void settle(int result) {
        int failure = result < 0 ? holdBack(result) : result;
        if (failure != RequestExecutor.DONE) {
            failWaiting(failure);
        }
    }

    /// Carries the oldest request out on the stager's thread, which may wait for the peer. The lock is not held
    /// meanwhile: posts go on into the ring, and a failure of the queue pair flushes the request under the stager.
    void runStaged() {
        long life;
        sendLock().lock();
        try {
            life = policy.life();
            if (!staging || waiting.isEmpty() || state() != QueuePairState.READY_TO_SEND) {
                staging = false;
                return;
            }
        } finally {
            sendLock().unlock();
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
            sendLock().unlock();
        }
    }

    /// Takes the send lock, unless what the stager works for has been given up: whoever did that may be waiting
    /// for the stager, with the lock held.
    private boolean lockUnlessGivenUp(long life) {
        while (!sendLock().tryLock()) {
            if (life != policy.life()) {
                return false;
            }
            LockSupport.parkNanos(WaitPolicy.LOCKED_NANOS);
        }
        if (life == policy.life()) {
            return true;
        }
        sendLock().unlock();
        return false;
    }

    /// Fails the oldest request that waits with `status`, flushes the others. Under the send lock.
    private void failWaiting(int status) {
        receiveLock().lock();
        try {
            enterError();
            flushWaiting(status);
            flushReceives();
        } finally {
            receiveLock().unlock();
        }
    }

    private void flushWaiting(int firstStatus) {
        int status = firstStatus;
        while (!waiting.isEmpty()) {
            executor.completeFailed(waiting.headWorkId(), status);
            waiting.removeHead();
            status = FLUSHED;
        }
    }

    // ---- Failure ----

    /// Fails the queue pair for a reason of its own process or because its peer says so; the engine.
    void failLocally(AsyncEventType event) {
        sendLock().lock();
        receiveLock().lock();
        try {
            if (isConnected()) {
                fail(FLUSHED);
                if (event != AsyncEventType.UNKNOWN) {
                    context.asyncEvents().raise(event, this);
                }
            }
        } finally {
            receiveLock().unlock();
            sendLock().unlock();
        }
    }

    private boolean isConnected() {
        QueuePairState now = state();
        return isOpen()
                && (now == QueuePairState.READY_TO_RECEIVE
                        || now == QueuePairState.READY_TO_SEND
                        || now == QueuePairState.SEND_QUEUE_DRAIN);
    }

    private void fail(int firstStatus) {
        enterError();
        flushWaiting(firstStatus);
        flushReceives();
    }

    private void enterError() {
        publish(QueuePairState.ERROR);
        entered(QueuePairState.ERROR);
        stopWaiting();
        awaitPeer();
    }

    private void stopWaiting() {
        staging = false;
        policy.newLife();
        context.waiting().remove(this);
    }

    private void flushReceives() {
        if (shared != null) {
            context.asyncEvents().raise(AsyncEventType.QUEUE_PAIR_LAST_WORK_REACHED, this);
            return;
        }
        long[] taken = new long[1];
        while (receives.take(taken)) {
            completeReceive(taken[0]);
        }
    }

    private void completeReceive(long workId) {
        executor.completeFlushed(receiveCompletions, workId);
    }

    /// The peer's process has ended; the engine.
    void peerGone(Peer gone) {
        sendLock().lock();
        receiveLock().lock();
        try {
            if (!gone.equals(target)) {
                return;
            }
            target = null;
            if (isConnected()) {
                publish(QueuePairState.ERROR);
                flushJournal(gone);
                fail(WorkStatus.RETRY_EXCEEDED.code());
                context.asyncEvents().raise(AsyncEventType.QUEUE_PAIR_FATAL, this);
            }
            peer.unbind();
        } finally {
            receiveLock().unlock();
            sendLock().unlock();
        }
    }

    /// Completes the receive that the peer had taken when it died, and not completed yet.
    private void flushJournal(Peer gone) {
        MemorySegment theirs = gone.memory();
        long theirBlock = ControlLayout.queuePair(peerNumber);
        if ((int) SharedWords.acquire(theirs, theirBlock + ControlLayout.QP_IDENTITY) != peerNumber) {
            return;
        }
        long receive = SharedWords.acquire(theirs, theirBlock + ControlLayout.QP_JOURNAL_RECEIVE);
        if (receive == 0 || !receives.isTaken(receive - 1)) {
            return;
        }
        long workId = theirs.get(JAVA_LONG, theirBlock + ControlLayout.QP_JOURNAL_WORK_ID);
        long slot = theirs.get(JAVA_LONG, theirBlock + ControlLayout.QP_JOURNAL_COMPLETION);
        CompletionRing ring = receiveCompletions.ring();
        if (slot == 0) {
            completeReceive(workId);
        } else {
            ring.fillClaim(slot - 1, gone.lid(), workId, FLUSHED, number);
        }
    }

    // ---- The peer ----

    /// A context has said hello: it may be that of the peer.
    void peerAppeared(Gid gid, int lid) {
        if (target == null && lid == peerLid && gid.equals(peerGid)) {
            sendLock().lock();
            try {
                if (isConnected()) {
                    bindPeer();
                }
            } finally {
                sendLock().unlock();
            }
        }
    }

    /// Under the send lock.
    private void bindPeer() {
        Peer found = context.peers().find(peerGid, peerLid);
        target = found;
        if (found != null && !peer.bind(found, peerNumber, context.lid(), context.gid(), sendPsn)) {
            peer.unbind();
        }
    }

    private void beginExecuting() {
        SharedWords.publish(
                memory,
                block + ControlLayout.QP_EXECUTING,
                SharedWords.opaque(memory, block + ControlLayout.QP_EXECUTING) + 1);
    }

    private void endExecuting() {
        SharedWords.release(
                memory,
                block + ControlLayout.QP_EXECUTING,
                SharedWords.opaque(memory, block + ControlLayout.QP_EXECUTING) + 1);
    }

    /// Waits until neither this queue pair nor its peer is in the middle of an operation that began before.
    void awaitExecutions() {
        Executions.await(memory, block, null);
        awaitPeer();
    }

    private void awaitPeer() {
        Peer now = target;
        if (now != null) {
            Executions.await(now.memory(), ControlLayout.queuePair(peerNumber), now);
        }
    }

    // ---- State ----

    private void publish(QueuePairState to) {
        SharedWords.publish(
                memory, block + ControlLayout.QP_IDENTITY, ((long) to.code() << 32) | Integer.toUnsignedLong(number));
    }

    @Override
    protected void doModify(
            QueuePairState from, QueuePairState to, QueuePairAttributes change, QueuePairAttributes effective) {
        memory.set(JAVA_INT, block + ControlLayout.QP_ACCESS, effective.accessFlags());
        memory.set(JAVA_INT, block + ControlLayout.QP_RNR_TIMER, effective.minRnrTimer());
        if (change.has(QueuePairAttribute.PORT) && change.port() != 1) {
            throw new RdmaException(
                    "modify queue pair (ibv_modify_qp)",
                    Errno.EINVAL,
                    this + ": there is only port 1, not " + change.port());
        }
        switch (to) {
            case RESET -> reset();
            case ERROR -> {
                if (from != QueuePairState.ERROR) {
                    fail(FLUSHED);
                }
            }
            case READY_TO_RECEIVE -> {
                connect(effective);
                enter(to);
                bindPeer();
            }
            case READY_TO_SEND -> {
                sendPsn = effective.sendPsn();
                policy.configure(effective);
                enter(to);
                bindPeer();
                if (from == QueuePairState.SEND_QUEUE_DRAIN && !waiting.isEmpty()) {
                    workOff();
                }
            }
            case SEND_QUEUE_DRAIN -> {
                enter(to);
                if (from != to && change.drainNotification()) {
                    context.asyncEvents().raise(AsyncEventType.SEND_QUEUE_DRAINED, this);
                }
            }
            case INIT, SEND_QUEUE_ERROR -> enter(to);
        }
    }

    private void enter(QueuePairState to) {
        publish(to);
        entered(to);
    }

    private void connect(QueuePairAttributes attributes) {
        AddressVector way = attributes.addressVector();
        peerGid = way == null ? Gid.NONE : way.destinationGid();
        peerLid = way == null ? 0 : way.destinationLid();
        peerNumber = attributes.destinationNumber();
        memory.set(JAVA_INT, block + ControlLayout.QP_DESTINATION, peerNumber);
        memory.set(JAVA_INT, block + ControlLayout.QP_RECEIVE_PSN, attributes.receivePsn());
        memory.set(JAVA_LONG, block + ControlLayout.QP_GID_HIGH, peerGid.high());
        memory.set(JAVA_LONG, block + ControlLayout.QP_GID_LOW, peerGid.low());
        memory.set(JAVA_INT, block + ControlLayout.QP_LID, peerLid);
    }

    private void reset() {
        publish(QueuePairState.RESET);
        entered(QueuePairState.RESET);
        stopWaiting();
        awaitPeer();
        waiting.clear();
        if (shared == null) {
            receives.clear();
        }
        peer.unbind();
        target = null;
    }

    @Override
    protected void doDestroy() {
        context.softQueuePairs().remove(this);
        SharedWords.publish(memory, block + ControlLayout.QP_IDENTITY, 0);
        stopWaiting();
        awaitPeer();
        peer.unbind();
        target = null;
        if (shared == null) {
            receives.free();
        }
        context.stager().awaitIdle(this);
        waiting.close();
        context.queuePairNumbers().free(number);
    }
}
