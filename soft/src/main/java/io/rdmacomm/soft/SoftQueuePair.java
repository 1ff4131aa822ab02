package io.rdmacomm.soft;

import io.rdmacomm.soft.mapped.QueuePairBlock;
import io.rdmacomm.soft.memory.LocalRegion;
import io.rdmacomm.soft.memory.WindowRequests;
import io.rdmacomm.soft.transport.ConnectionSetup;
import io.rdmacomm.soft.transport.Destination;
import io.rdmacomm.soft.transport.PeerOperation;
import io.rdmacomm.soft.transport.QueuePairResources;
import io.rdmacomm.soft.transport.ReceiveQueue;
import io.rdmacomm.soft.transport.RequestQueue;
import io.rdmacomm.soft.transport.RetryTimer;
import io.rdmacomm.soft.transport.SendLock;
import io.rdmacomm.soft.transport.Transport;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PlainRequest;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.MemoryRegionDriver;
import io.rdmacomm.verbs.spi.MemoryWindowDriver;
import io.rdmacomm.verbs.spi.QueuePairDriver;
import io.rdmacomm.verbs.spi.QueuePairOwner;
import io.rdmacomm.verbs.spi.QueuePairRequest;
import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.SendRequest;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A connected queue pair: its state, its queues, and how it fails. A [Transport] carries its requests to the peer.
/// It is chosen once, when the peer is found; until then requests wait in the [RequestQueue].
///
/// A transport only notes its events ([#failed], [#peerGone]). The queue pair acts on them in [#act()], when the
/// transport's call has returned, and always under the send lock.
final class SoftQueuePair
        implements QueuePairDriver, ContextQueuePair, Transport.Events, SendLock, ConnectionSetup.Owner {
    private static final int SUCCESS = 0;
    private static final int FLUSHED = WorkStatus.FLUSHED.code();
    private static final int GENERAL_ERROR = WorkStatus.GENERAL_ERROR.code();

    private final SoftContext context;
    private final QueuePairOwner owner;
    private final int number;
    private final WorkQueues queues;
    private final QueuePairBlock block;
    private final ReceiveQueue receives;
    private final RequestQueue sends;
    private final Destination destination = new Destination();
    private final RetryTimer retries;
    private final RequestsWithoutPeer withoutPeer;
    private final QueuePairResources resources;
    private final ConnectionSetup setup;
    private volatile @Nullable Transport transport;
    private boolean established;
    private boolean drainWanted;
    // The events of the transport.
    private boolean noted;
    private boolean gone;
    private boolean failed;
    private int failedStatus;
    private int failedVendorError;
    private AsyncEventType failedEvent = AsyncEventType.UNKNOWN;
    private int sendingStatus;

    /// @param domain number of its protection domain
    SoftQueuePair(SoftContext context, int domain, QueuePairRequest request, WorkQueues queues) throws IOException {
        this.context = context;
        this.owner = request.owner();
        this.queues = queues;
        this.number = queues.number;
        this.receives = queues.receives;
        this.sends = queues.sends;
        this.block = new QueuePairBlock(
                context.control(),
                number,
                domain,
                receives.ring().offset(),
                queues.receiveCompletions.ring().offset());
        this.retries = new RetryTimer(context.retries(), this, this::seekAgain);
        WindowRequests windowRequests = new WindowRequests(context.memory(), number, domain);
        this.withoutPeer = new RequestsWithoutPeer(sends, windowRequests);
        this.resources = new QueuePairResources(
                number,
                domain,
                request.type(),
                block,
                sends,
                receives,
                windowRequests,
                destination,
                retries,
                this,
                this);
        this.setup = context.network()
                .setup(resources, this, queues.sendCompletions.arrivals(), queues.receiveCompletions.arrivals());
        receives.messages().onFailure(this::failLater);
        context.objects().add(this);
    }

    /// Fails the present connection; any thread.
    private void failLater() {
        Transport of = transport;
        context.engine().execute(() -> {
            if (of != null && of.equals(transport)) {
                failLocally(AsyncEventType.UNKNOWN);
            }
        });
    }

    /// The objects that its transport uses.
    QueuePairResources resources() {
        return resources;
    }

    @Override
    public ConnectionSetup setup() {
        return setup;
    }

    @Override
    public boolean completesIn(int completionQueue) {
        return queues.completeIn(completionQueue);
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public QueueSizes sizes() {
        return queues.sizes;
    }

    /// True: the engine executes requests, too.
    @Override
    public boolean hasThreads() {
        return true;
    }

    // ---- Posting ----

    @Override
    public int postSends(SendRequest[] requests, int first, int count) {
        int end = first + count;
        if (!sends.isOpen() && queues.haveSendsFailed()) {
            sends.flush(requests, first, end);
            return count;
        }
        Transport to = transport;
        int taken;
        if (to != null) {
            taken = to.post(requests, first, end);
        } else {
            taken = sends.add(requests, first, end) - first;
            seekAgain();
        }
        act();
        return taken;
    }

    @Override
    public int postSends(RequestChain requests, int first, int count) {
        return queues.postSends(this, requests, first, count);
    }

    @Override
    public int executeAtOnce(PlainRequest[] requests, int count) {
        Transport to = transport;
        int done = to == null ? 0 : to.executeAtOnce(requests, count);
        act();
        return done;
    }

    @Override
    public @Nullable MemorySegment directView(long address, long length, int key, Arena arena) {
        if (transport == null) {
            seekAgain();
        }
        Transport to = transport;
        try {
            return to == null ? null : to.directView(address, length, key, arena);
        } catch (IOException e) {
            throw context.noSpace("map memory of the peer", "a view of " + length + " bytes", e);
        } finally {
            act();
        }
    }

    @Override
    public int postReceives(RequestChain batch, int first, int count) {
        return queues.postReceives(batch, first, count);
    }

    @Override
    public void bind(
            long workId,
            MemoryWindowDriver window,
            MemoryRegionDriver region,
            long address,
            long length,
            int access,
            int flags) {
        try (Arena arena = Arena.ofConfined()) {
            SendRequest request = BindRequest.create(arena, workId, window, region, address, length, access, flags);
            postSends(new SendRequest[] {request}, 0, 1);
        }
    }

    // ---- The peer ----

    /// Continues with the waiting requests. Looks for the peer if it has not been found.
    private void seek() {
        Transport to = transport;
        if (to == null && !isConnected()) {
            // A timer that was started before the queue pair was reset or closed.
            return;
        }
        if (to == null && !setup.isExpecting()) {
            to = context.network().connect(resources);
            transport = to;
            if (to != null) {
                if (to.isOnHost()) {
                    openLines();
                }
                block.onHost(to.isOnHost());
            }
        }
        if (to != null) {
            to.resume();
            return;
        }
        if (sends.isOpen()) {
            int failure = withoutPeer.execute();
            if (failure == SUCCESS && !sends.isEmpty()) {
                failure = retries.peerMissing(setup.isReached());
            }
            if (failure != SUCCESS) {
                failed(failure, 0, AsyncEventType.UNKNOWN);
                return;
            }
        }
        setup.call();
    }

    private void openLines() {
        owner.lockReceives();
        try {
            queues.openLines();
        } finally {
            owner.unlockReceives();
        }
    }

    /// The same, but any error fails this queue pair. Called on the engine's thread, which serves all queue pairs,
    /// or for requests that were taken and so must end.
    private void seekAgain() {
        try {
            seek();
            Transport to = transport;
            if (to != null && !failed && !to.isAgreed()) {
                // This side sees the peer's memory, but the peer does not see or use this side's.
                setup.call();
            }
        } catch (RuntimeException | Error e) {
            if (context.engine().isCurrentThread()) {
                context.engine().report(e);
            }
            failed(GENERAL_ERROR, 0, AsyncEventType.QUEUE_PAIR_FATAL);
        }
    }

    @Override
    public void peerAppeared(Gid gid, int lid) {
        enter();
        try {
            if (isConnected() && transport == null && destination.lid() == lid && gid.equals(destination.gid())) {
                seekAgain();
            }
        } finally {
            leave();
        }
    }

    @Override
    public boolean isConnected() {
        return queues.isReceiving();
    }

    @Override
    public @Nullable Transport transport() {
        return transport;
    }

    @Override
    public void begin(Transport made, Set<SendOpcode> missing, String why) {
        established = false;
        Transport before = transport;
        if (before != null) {
            dismiss(before, true);
        }
        transport = made;
        owner.peerDoesNotSupport(missing, why);
        retries.stop();
        made.resume();
    }

    private PendingFrees pendingFrees() {
        return context.objects().pendingFrees();
    }

    private void endTransport(boolean orderly) {
        Transport ending = transport;
        if (ending != null) {
            dismiss(ending, orderly);
            transport = null;
            setup.ended();
        }
    }

    private void dismiss(Transport ending, boolean orderly) {
        block.onHost(false);
        ending.stop(orderly);
        if (!ending.isPeerIdle()) {
            pendingFrees().hold(ending::isPeerIdle, block, receives.ring(), queues.receiveCompletions.ring());
        }
        ending.close();
    }

    @Override
    public void awaitExecutions() {
        block.awaitIdle();
        receives.messages().awaitPoll();
    }

    @Override
    public boolean mayPlaceInto(LocalRegion region) {
        return receives.messages().mayPlaceInto(region);
    }

    @Override
    public void endPlainReceives() {
        owner.lockReceives();
        try {
            if (owner.isOpen()) {
                receives.messages().endPlain();
            }
        } finally {
            owner.unlockReceives();
        }
    }

    @Override
    public void placeInto(LocalRegion region) {
        queues.placeInto(region);
    }

    @Override
    public @Nullable PeerOperation operationOfPeer(@Nullable LocalRegion region) {
        Transport to = transport;
        return to == null ? null : to.operationOfPeer(region);
    }

    // ---- Events of the transport ----

    @Override
    public void enter() {
        owner.lockSends();
    }

    @Override
    public boolean tryEnter() {
        return owner.tryLockSends();
    }

    @Override
    public void leave() {
        try {
            act();
        } finally {
            owner.unlockSends();
        }
    }

    @Override
    public void progressed() {
        if (!established) {
            established = true;
            if (owner.state() == QueuePairState.READY_TO_RECEIVE) {
                context.asyncEvents().raise(AsyncEventType.COMMUNICATION_ESTABLISHED, number);
            }
        }
    }

    @Override
    public void failed(int status, int vendorError, AsyncEventType event) {
        noted = true;
        failed = true;
        failedStatus = status;
        failedVendorError = vendorError;
        failedEvent = event;
    }

    @Override
    public void sendingFailed(int status) {
        noted = true;
        sendingStatus = status;
    }

    @Override
    public void peerGone() {
        noted = true;
        gone = true;
    }

    /// Acts on the events that the transport has reported.
    private void act() {
        if (noted) {
            noted = false;
            if (gone) {
                gone = false;
                endTransport(false);
                if (sends.isOpen() && !sends.isEmpty()) {
                    seek();
                }
            }
            if (sendingStatus != SUCCESS) {
                stopSending();
            }
            if (failed) {
                failed = false;
                failAsReported();
            }
        }
        if (drainWanted) {
            Transport to = transport;
            if (to == null || to.isDrained()) {
                drainWanted = false;
                context.asyncEvents().raise(AsyncEventType.SEND_QUEUE_DRAINED, number);
            }
        }
    }

    private void stopSending() {
        drainWanted = false;
        enter(QueuePairState.SEND_QUEUE_ERROR);
        sends.flush(sendingStatus, 0);
        sendingStatus = SUCCESS;
    }

    private void failAsReported() {
        owner.lockReceives();
        try {
            if (isConnected()) {
                fail(failedStatus, failedVendorError, failedEvent);
            } else if (owner.state() == QueuePairState.ERROR) {
                // The peer may have returned a receive that it held while the others were flushed.
                receives.flush();
            }
        } finally {
            owner.unlockReceives();
        }
    }

    @Override
    public void failLocally(AsyncEventType event) {
        enter();
        owner.lockReceives();
        try {
            if (isConnected()) {
                fail(FLUSHED, 0, event);
            }
        } finally {
            owner.unlockReceives();
            leave();
        }
    }

    /// Fails the queue pair; under both locks.
    private void fail(int firstStatus, int vendorError, AsyncEventType event) {
        enter(QueuePairState.ERROR);
        stop();
        queues.flush(firstStatus, vendorError);
        context.asyncEvents().raiseFailure(number, receives.isShared(), event);
    }

    private void stop() {
        drainWanted = false;
        retries.stop();
        Transport to = transport;
        if (to != null) {
            to.stop(context.isOpen());
        }
        setup.stopped(context.isOpen());
    }

    // ---- State ----

    @Override
    public void modify(
            QueuePairState from, QueuePairState to, QueuePairAttributes change, QueuePairAttributes effective) {
        context.checkChange(this, to, change);
        block.rights(effective.accessFlags(), effective.minRnrTimer().code());
        switch (to) {
            case RESET -> reset(from);
            case ERROR -> {
                if (from != QueuePairState.ERROR) {
                    fail(FLUSHED, 0, AsyncEventType.UNKNOWN);
                }
            }
            case READY_TO_RECEIVE -> {
                destination.name(effective);
                block.destination(destination.gid(), destination.lid(), destination.number(), destination.receivePsn());
                enter(to);
                seek();
            }
            case READY_TO_SEND -> {
                destination.beginSending(effective);
                setup.begin();
                retries.configure(effective);
                if (setup.isMistaken()) {
                    endTransport(true);
                }
                enter(to);
                seek();
            }
            case SEND_QUEUE_DRAIN -> {
                enter(to);
                drainWanted = from != to && change.drainNotification();
            }
            case INIT, SEND_QUEUE_ERROR -> enter(to);
        }
        act();
    }

    @Override
    public QueuePairAttributes query(QueuePairAttributes known) {
        Transport to = transport;
        return known.draining(owner.state() == QueuePairState.SEND_QUEUE_DRAIN && to != null && !to.isDrained());
    }

    private void enter(QueuePairState to) {
        block.publish(to);
        queues.entered(to);
    }

    private void reset(QueuePairState from) {
        enter(QueuePairState.RESET);
        stop();
        Transport ending = transport;
        if (ending != null && !ending.isPeerIdle()) {
            stayInError(from);
        }
        queues.clear();
        disconnect();
    }

    /// Throws, as a peer that resumes later would complete its work in the next connection.
    private void stayInError(QueuePairState from) {
        if (from == QueuePairState.ERROR) {
            enter(QueuePairState.ERROR);
        } else {
            fail(FLUSHED, 0, AsyncEventType.UNKNOWN);
        }
        throw new VerbException(
                "modify queue pair (ibv_modify_qp)",
                Errno.EBUSY,
                this + " is in state ERROR and not reset, because its peer was stopped in the middle of an operation;"
                        + " close it and create another");
    }

    private void disconnect() {
        endTransport(context.isOpen());
        setup.forget();
        destination.forget();
        noted = false;
        failed = false;
        sendingStatus = SUCCESS;
        gone = false;
        retries.stop();
    }

    @Override
    public void close() {
        block.withdraw();
        stop();
        disconnect();
        queues.leaveCompletions();
        // Removed only now, or a region that is closed meanwhile would see neither the queue pair nor the pending
        // frees.
        context.objects().remove(this);
        pendingFrees().free(receives.ring(), receives::free);
        sends.close();
        pendingFrees().free(block, () -> context.freeNumber(number));
    }

    @Override
    public String toString() {
        return owner.toString();
    }
}
