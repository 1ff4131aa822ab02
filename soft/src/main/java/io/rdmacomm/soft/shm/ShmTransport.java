package io.rdmacomm.soft.shm;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.mapped.ControlLayout;
import io.rdmacomm.soft.mapped.QueuePairBlock;
import io.rdmacomm.soft.mapped.SharedWords;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.memory.LocalRegion;
import io.rdmacomm.soft.memory.RequestOpcode;
import io.rdmacomm.soft.transport.Destination;
import io.rdmacomm.soft.transport.PeerOperation;
import io.rdmacomm.soft.transport.QueuePairResources;
import io.rdmacomm.soft.transport.ReceiveQueue;
import io.rdmacomm.soft.transport.RequestQueue;
import io.rdmacomm.soft.transport.RetryTimer;
import io.rdmacomm.soft.transport.SendCompleter;
import io.rdmacomm.soft.transport.SendLock;
import io.rdmacomm.soft.transport.Transport;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PlainRequest;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.spi.SendRequest;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Transport to a queue pair of this host. The posting thread executes requests. Those that must wait for the peer
/// stay in the [RequestQueue], and the engine executes them later.
final class ShmTransport implements Transport, Stager.Client {
    private static final int FLUSHED = WorkStatus.FLUSHED.code();
    private static final int LOCAL_WRITE = AccessFlag.LOCAL_WRITE.bit();
    private static final int GENERAL_ERROR = WorkStatus.GENERAL_ERROR.code();
    private static final long LOCKED_NANOS = 50_000;
    private static final long ABSENCE_CHECK_NANOS = 1_000_000;
    private static final long HELD_CHECK_NANOS = 10_000_000;
    /// An odd value that no counter reaches.
    private static final long UNKNOWN = -1;
    private static final long NEVER = 0;
    private static final SafeLogger LOGGER = SafeLogger.of(ShmTransport.class);

    private final ShmPeer context;
    private final int lid;
    private final Gid gid;
    private final StagingServer stagingServer;
    private final QueuePairResources resources;
    private final QueuePairBlock block;
    private final RequestQueue sends;
    private final SendCompleter completer;
    private final ReceiveQueue receives;
    private final Destination destination;
    private final RetryTimer retries;
    private final SendLock lock;
    private final Events events;
    private final Consumer<ShmTransport> onClose;
    private final int number;
    private final long peerBlock;
    private final PeerQueuePair peer;
    private final RequestExecutor executor;
    // The oldest request in the queue, while it is executed.
    private final SendRequest oldest = new SendRequest(MemorySegment.NULL, 0, 0);
    private final StagedRequest staged;
    private final Stager.Lane lane;
    private boolean staging;
    private boolean agreed;
    private long stagingSince;
    /// Whether the payload of the oldest request is being staged; then the request must be finished.
    private boolean payloadStaged;
    private volatile boolean stopped;
    // The peer's counter, when it has not finished an operation in time.
    private volatile long unfinished;
    // The peer's counter when a wait for it has timed out.
    private volatile long waitedFor = NEVER;
    private boolean closed;

    /// A transport to a context whose queue pair may not be ready yet.
    ///
    /// @param lid of this side's context
    /// @param gid of this side's context
    /// @param memory of this side's context
    ShmTransport(
            ShmPeer context,
            int lid,
            Gid gid,
            LocalMemory memory,
            Stager stager,
            StagingServer stagingServer,
            QueuePairResources resources,
            Consumer<ShmTransport> onClose) {
        this.context = context;
        this.lid = lid;
        this.gid = gid;
        this.lane = stager.lane(context);
        this.stagingServer = stagingServer;
        this.resources = resources;
        this.block = resources.block();
        this.sends = resources.sends();
        this.completer = sends.completer();
        this.receives = resources.receives();
        this.destination = resources.destination();
        this.retries = resources.retries();
        this.lock = resources.lock();
        this.events = resources.events();
        this.onClose = onClose;
        this.number = resources.number();
        this.peerBlock = ControlLayout.queuePair(destination.number());
        this.peer = new PeerQueuePair(number, memory, block);
        Transfer transfer = new Transfer(memory, peer);
        this.staged = new StagedRequest(stager, lid, peer, transfer);
        Delivery delivery = new Delivery(number, peer, transfer);
        this.executor =
                new RequestExecutor(sends.localElements(), resources.windowRequests(), peer, transfer, delivery);
    }

    /// Whether its peer belongs to that context; any thread.
    boolean isTo(ShmPeer candidate) {
        return candidate.equals(context);
    }

    /// The queue pair, null unless it is connected to a queue pair of that context; any thread.
    @Nullable
    QueuePairResources connectedTo(ShmPeer candidate) {
        return isTo(candidate) ? resources : null;
    }

    @Override
    public int post(SendRequest[] requests, int first, int end) {
        if (!sends.isOpen() || !sends.isEmpty()) {
            return sends.add(requests, first, end) - first;
        }
        if (!peer.isBound()) {
            bind();
        }
        int next = first;
        int result = Outcome.DONE;
        block.beginExecuting();
        try {
            while (next < end) {
                SendRequest request = requests[next];
                result = executor.execute(request, false);
                if (result != Outcome.DONE) {
                    break;
                }
                completer.succeed(request);
                next++;
            }
            block.endExecuting();
        } catch (RuntimeException | Error e) {
            result = failExecuting();
        }
        if (result == Outcome.DONE) {
            return end - first;
        }
        int kept = sends.add(requests, next, end);
        finishOldest(result);
        return kept - first;
    }

    @Override
    public int executeAtOnce(PlainRequest[] requests, int count) {
        if (!sends.isOpen() || !sends.isEmpty()) {
            return 0;
        }
        int done = 0;
        int result = Outcome.DONE;
        block.beginExecuting();
        try {
            while (done < count && result == Outcome.DONE) {
                result = executor.executeAtOnce(requests[done]);
                done += result == Outcome.DONE ? 1 : 0;
            }
            block.endExecuting();
        } catch (RuntimeException | Error e) {
            result = failExecuting();
        }
        if (result != Outcome.DONE && result != Outcome.NOT_DIRECT && !canRepeat(requests, done)) {
            events.failed(result, 0, AsyncEventType.UNKNOWN);
        }
        return done;
    }

    /// Whether a request whose memory could not be accessed fails in the same way when it is posted. Not if Java
    /// has told of the fault late: then it was one of those before, and they have ended.
    private static boolean canRepeat(PlainRequest[] requests, int next) {
        return next == 0
                && (requests[next].opcode == RequestOpcode.WRITE || requests[next].opcode == RequestOpcode.READ);
    }

    @Override
    public @Nullable MemorySegment directView(long address, long length, int key, Arena arena) throws IOException {
        if (!peer.isBound()) {
            bind();
        }
        try {
            MemorySegment view = peer.isReady() ? peer.directView(address, length, key, arena) : null;
            SharedWords.throwFault();
            return view;
        } catch (InternalError e) {
            // The peer's control file was truncated.
            return null;
        }
    }

    @Override
    public void resume() {
        if (stopped) {
            endHeldBack();
            return;
        }
        if (!peer.isBound()) {
            bind();
        }
        if (staging) {
            stage();
        } else if (sends.isOpen() && !sends.isEmpty()) {
            executeWaiting();
        }
    }

    private void awaitHeldBack() {
        if (!closed && receives.messages().isHeldBack()) {
            retries.again(HELD_CHECK_NANOS);
        }
    }

    /// Ends the receive that a stopped peer holds, once that has continued or died.
    private void endHeldBack() {
        if (closed || !receives.messages().isHeldBack()) {
            return;
        }
        if (!isPeerIdle()) {
            retries.again(HELD_CHECK_NANOS);
            return;
        }
        receives.completions().whileNotPolled(receives::takeBackHeld);
        events.failed(FLUSHED, 0, AsyncEventType.UNKNOWN);
    }

    /// Looks for the peer's queue pair, which may have appeared or become ready.
    private void bind() {
        boolean bound;
        try {
            // The engine is about to handle the end of a dead peer: see peerDied.
            bound = context.isConnected() && peer.bind(context, destination, lid, gid);
        } catch (RuntimeException | Error e) {
            // The peer's control file cannot be read, so the peer counts as absent.
            bound = false;
        }
        if (bound) {
            agreed = true;
        }
        if (!bound || !destination.isSending()) {
            // Before READY_TO_SEND the number of the first packet was not checked.
            peer.unbind();
        }
    }

    @Override
    public boolean isOnHost() {
        return true;
    }

    @Override
    public boolean isAgreed() {
        if (!agreed && !stopped) {
            bind();
        }
        return agreed;
    }

    /// Calls [QueuePairBlock#endExecuting] after an exception. For example, memory was freed without closing its
    /// region, or a file of the peer was truncated. Java may throw such an [InternalError] as late as in the first
    /// call of `endExecuting` ([SharedWords#throwFault]).
    private int failExecuting() {
        block.endExecuting();
        return GENERAL_ERROR;
    }

    /// Executes the waiting requests, until none is left or one must wait again.
    private void executeWaiting() {
        int result = Outcome.DONE;
        block.beginExecuting();
        try {
            if (!peer.isReady()) {
                bind();
            }
            while (!sends.isEmpty()) {
                oldest.read(sends.segment(), sends.headAt());
                result = executor.execute(oldest, false);
                if (result != Outcome.DONE) {
                    break;
                }
                completeHead();
            }
            block.endExecuting();
        } catch (RuntimeException | Error e) {
            result = failExecuting();
        }
        finishOldest(result);
    }

    private void completeHead() {
        completer.succeed(oldest);
        sends.removeHead();
        retries.progressed();
    }

    /// Decides what happens to the oldest waiting request.
    ///
    /// @param result its [Outcome]
    private void finishOldest(int result) {
        int failure;
        try {
            failure = failureOf(result);
        } catch (RuntimeException | Error e) {
            failure = GENERAL_ERROR;
        }
        if (failure != Outcome.DONE) {
            events.failed(failure, 0, AsyncEventType.UNKNOWN);
        }
    }

    /// @return why the oldest waiting request fails, [Outcome#DONE] if it waits
    private int failureOf(int result) {
        return switch (result) {
            case Outcome.NEEDS_STAGING -> {
                beginStaging();
                yield Outcome.DONE;
            }
            case Outcome.NO_PEER -> {
                bind();
                yield retries.peerMissing(false);
            }
            case Outcome.RECEIVER_NOT_READY -> retries.receiverNotReady(peer.rnrTimer());
            default -> result;
        };
    }

    /// Queues the oldest request for a staging block.
    private void beginStaging() {
        staging = true;
        stagingSince = System.nanoTime();
        lane.enter(this);
        stage();
    }

    /// Begins or continues to stage the oldest request, as far as possible without waiting.
    private void stage() {
        int result = Outcome.WAITS;
        if (lane.isTurnOf(this)) {
            block.beginExecuting();
            try {
                result = staged.isBegun() ? staged.advance() : beginPayload();
                block.endExecuting();
            } catch (RuntimeException | Error e) {
                result = failExecuting();
            }
        }
        if (result == Outcome.WAITS && staged.isAbsent()) {
            retries.again(ABSENCE_CHECK_NANOS);
            return;
        }
        if (result == Outcome.WAITS) {
            result = retries.peerSilent(Math.max(stagingSince, lane.lastAnswer()));
            if (result == Outcome.DONE) {
                return;
            }
        }
        result = endStaging(result);
        if (result == Outcome.DONE) {
            completeHead();
            executeWaiting();
        } else {
            finishOldest(result);
        }
    }

    private int beginPayload() {
        oldest.read(sends.segment(), sends.headAt());
        int result = executor.execute(oldest, true);
        payloadStaged = result == Outcome.NEEDS_STAGING;
        return payloadStaged ? staged.begin(lane, oldest) : result;
    }

    /// Releases what the staging of the oldest request used, and ends the receive that it may have taken.
    ///
    /// @param result the [Outcome] of the staging
    /// @return the [Outcome] of the request
    private int endStaging(int result) {
        staging = false;
        staged.end();
        lane.leave(this);
        if (!payloadStaged) {
            return result;
        }
        payloadStaged = false;
        block.beginExecuting();
        try {
            int finished = executor.finish(oldest, result);
            block.endExecuting();
            return finished;
        } catch (RuntimeException | Error e) {
            return failExecuting();
        }
    }

    @Override
    public void onTurn() {
        if (!lock.tryEnter()) {
            retries.again(LOCKED_NANOS);
            return;
        }
        try {
            if (staging) {
                stage();
            }
        } finally {
            lock.leave();
        }
    }

    @Override
    public boolean isDrained() {
        return !staging;
    }

    @Override
    public boolean isIdle() {
        return sends.isEmpty() && !staging;
    }

    /// The connection to the peer's context has ended; on the engine's thread, without the lock. Its process has most
    /// likely ended, but may also be stopped: the queue pair fails as if the application had let it fail.
    void peerParted() {
        lock.enter();
        try {
            peer.unbind();
            if (!stopped) {
                events.failed(WorkStatus.RETRY_EXCEEDED.code(), 0, AsyncEventType.QUEUE_PAIR_FATAL);
            }
        } finally {
            lock.leave();
        }
    }

    /// The peer's process has ended, after [#peerParted]; on the engine's thread, without the lock. It can no longer
    /// finish its operation.
    void peerDied() {
        lock.enter();
        try {
            if (unfinished != 0 && !closed) {
                endTakenReceive(true);
                receives.completions().whileNotPolled(receives::takeBackHeld);
                unfinished = 0;
                events.failed(FLUSHED, 0, AsyncEventType.UNKNOWN);
            }
        } finally {
            lock.leave();
        }
    }

    /// Ends, once, the receive that the peer has taken and will not complete. Either the peer has died, or it waits
    /// for this side to copy the payload; then it executes nothing, and must claim the receive before it completes
    /// it. The receive is flushed in order, unless the peer died while it filled the completion: then that
    /// completion is finished.
    ///
    /// @param dead whether the peer's process has ended, so that its claims no longer count
    private void endTakenReceive(boolean dead) {
        try {
            MemorySegment theirs = context.memory();
            long receive = takenReceive(theirs);
            if (receive < 0) {
                return;
            }
            long workId = theirs.get(JAVA_LONG, peerBlock + ControlLayout.QP_JOURNAL_WORK_ID);
            long slot = theirs.get(JAVA_LONG, peerBlock + ControlLayout.QP_JOURNAL_COMPLETION);
            if (!QueuePairBlock.takeBack(theirs, peerBlock, receive, dead)) {
                return;
            }
            if (slot == 0) {
                receives.giveBack(workId);
            } else {
                receives.completions().fillClaim(slot - 1, context.lid(), workId, FLUSHED, number);
            }
            SharedWords.throwFault();
        } catch (IllegalStateException e) {
            // The engine has just unmapped the memory of a peer that has ended. It ended the receive before that.
        } catch (InternalError e) {
            // The file was truncated.
            LOGGER.log(System.Logger.Level.DEBUG, () -> this + " cannot read the journal of its peer", e);
        }
    }

    /// The position of the receive that the peer has taken and not completed; -1 if its journal names none that the
    /// ring confirms.
    private long takenReceive(MemorySegment theirs) {
        if ((int) SharedWords.acquire(theirs, peerBlock + ControlLayout.QP_IDENTITY) != destination.number()) {
            return -1;
        }
        long receive = QueuePairBlock.taken(theirs, peerBlock);
        boolean confirmed = receive >= 0 && receives.ring().isTaken(receive, context.lid(), destination.number());
        return confirmed ? receive : -1;
    }

    @Override
    public void stop(boolean orderly) {
        if (stopped) {
            awaitHeldBack();
            return;
        }
        // First, so that a thread that closes a region meanwhile waits for the peer.
        unfinished = executingOfPeer();
        stopped = true;
        if (staging) {
            endStaging(FLUSHED);
        }
        stagingServer.awaitIdle();
        unfinished = executingOfPeer();
        if (unfinished != 0 && hasFinishedSoon(new Operation(unfinished))) {
            unfinished = 0;
        }
        receives.completions().whileNotPolled(() -> receives.messages().close(unfinished != 0));
        awaitHeldBack();
        if (unfinished == 0) {
            endTakenReceive(context.isGone());
        } else {
            receives.completions().passClaims(context.lid());
        }
    }

    /// Waits for the peer, but not for one that has parted: the engine reports when its process has ended.
    private boolean hasFinishedSoon(Operation operation) {
        return context.isConnected() ? PeerOperation.awaitAll(List.of(operation)) : operation.hasEnded();
    }

    @Override
    public @Nullable PeerOperation operationOfPeer(@Nullable LocalRegion region) {
        long seen = stopped ? unfinished : executingOfPeer();
        if (seen == 0 || (region != null && !mayUse(region))) {
            return null;
        }
        return new Operation(seen);
    }

    /// Whether the peer may be using a region, through its keys or because a receive names it.
    private boolean mayUse(LocalRegion region) {
        boolean remote = region.domain() == resources.domain() && region.isRemote();
        return remote
                || (region.domain() == receives.ring().domain()
                        && region.allows(LOCAL_WRITE)
                        && receives.ring().mayName(region.key()));
    }

    /// An operation that the peer is executing.
    private final class Operation extends PeerOperation {
        private final long seen;

        Operation(long seen) {
            this.seen = seen;
        }

        @Override
        protected boolean hasEnded() {
            return executingOfPeer() != seen;
        }

        @Override
        protected boolean wasWaitedFor() {
            return waitedFor == seen;
        }

        @Override
        protected void waitedFor() {
            waitedFor = seen;
        }
    }

    /// Only an operation that began before the stop counts. A later one, or one of another queue pair in the same
    /// block, finds that this side's queue pair is gone.
    @Override
    public boolean isPeerIdle() {
        return unfinished == 0 || executingOfPeer() != unfinished;
    }

    /// The peer's counter while it executes an operation, otherwise 0. A peer that has parted may be a stopped
    /// process that resumes.
    private long executingOfPeer() {
        if (context.isGone()) {
            return 0;
        }
        try {
            return QueuePairBlock.executing(context.memory(), peerBlock);
        } catch (IllegalStateException e) {
            // The engine has just unmapped the memory of a peer that has ended, or this context is closing.
            return unfinished;
        } catch (InternalError e) {
            // The file was truncated, so what the peer does is unknown until it has ended.
            return unfinished == 0 ? UNKNOWN : unfinished;
        }
    }

    @Override
    public void close() {
        stop(true);
        closed = true;
        peer.unbind();
        onClose.accept(this);
    }

    @Override
    public String toString() {
        return "shared memory transport of queue pair 0x" + Integer.toHexString(number);
    }
}
