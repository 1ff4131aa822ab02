package io.rdmacomm.soft;

import io.rdmacomm.soft.mapped.ControlLayout;
import io.rdmacomm.soft.mapped.QueuePairBlock;
import io.rdmacomm.soft.mapped.ReceiveRing;
import io.rdmacomm.soft.memory.LocalElements;
import io.rdmacomm.soft.memory.LocalRegion;
import io.rdmacomm.soft.memory.WindowRequests;
import io.rdmacomm.soft.tcp.TcpEndpoint;
import io.rdmacomm.soft.transport.Destination;
import io.rdmacomm.soft.transport.PeerOperation;
import io.rdmacomm.soft.transport.QueuePairResources;
import io.rdmacomm.soft.transport.ReceiveQueue;
import io.rdmacomm.soft.transport.RetryTimer;
import io.rdmacomm.soft.transport.SendCompleter;
import io.rdmacomm.soft.transport.SendLock;
import io.rdmacomm.soft.transport.SendQueue;
import io.rdmacomm.soft.transport.Transport;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.MemoryWindow;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.SharedReceiveQueue;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A reliable connected queue pair: its state, its queues, and how it fails. A [Transport] carries its requests to
/// the peer; it is chosen once, when the peer is found. Until then requests wait in the [SendQueue].
///
/// A transport only takes notes of what happens to it ([#failed], [#peerGone]). The queue pair acts on them in
/// [#act()], when the call of the transport has returned, and always with the send lock held.
final class SoftQueuePair extends QueuePair implements ContextQueuePair, Transport.Events, SendLock, TcpEndpoint.Owner {
    private static final int LEAST_INLINE = 64;
    private static final int SUCCESS = 0;
    private static final int FLUSHED = WorkStatus.FLUSHED.code();
    private static final int GENERAL_ERROR = WorkStatus.GENERAL_ERROR.code();

    private final SoftContext context;
    private final int number;
    private final QueueSizes sizes;
    private final SoftCompletionQueue sendCompletions;
    private final SoftCompletionQueue receiveCompletions;
    private final QueuePairBlock block;
    private final ReceiveQueue receives;
    private final SendQueue sends;
    private final Destination destination = new Destination();
    private final RetryTimer retries;
    private final RequestsWithoutPeer withoutPeer;
    private final QueuePairResources resources;
    private final TcpEndpoint tcp;
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

    private SoftQueuePair(SoftProtectionDomain domain, QueuePairOptions options, int number) throws IOException {
        super(domain, options.withSingleThreaded(false)); // the engine also executes requests
        this.context = domain.softContext();
        this.number = number;
        QueueSizes asked = options.sizes();
        this.sizes = asked.withInline(Math.max(asked.inlineBytes(), LEAST_INLINE));
        this.sendCompletions = (SoftCompletionQueue) options.sendCompletions();
        this.receiveCompletions = (SoftCompletionQueue) options.receiveCompletions();
        SharedReceiveQueue shared = options.sharedReceives();
        ReceiveRing ring = shared instanceof SoftSharedReceiveQueue queue
                ? queue.ring()
                : ReceiveRing.create(context.control(), asked.receives(), asked.receiveElements(), 0, domain.number());
        this.receives = new ReceiveQueue(ring, shared != null, receiveCompletions.receives(), number);
        this.block = new QueuePairBlock(
                context.control(),
                number,
                domain.number(),
                ring.offset(),
                receiveCompletions.ring().offset());
        LocalElements elements = new LocalElements(context.memory(), domain.number());
        SendCompleter completer = new SendCompleter(sendCompletions.sends(), number, options.signalAll());
        this.sends = new SendQueue(sizes, elements, completer);
        this.retries = new RetryTimer(context.retries(), this, this::seekAgain);
        WindowRequests windowRequests = new WindowRequests(context.memory(), number, domain.number());
        this.withoutPeer = new RequestsWithoutPeer(sends, windowRequests);
        this.resources = new QueuePairResources(
                number, domain.number(), block, sends, receives, windowRequests, destination, retries, this, this);
        this.tcp = new TcpEndpoint(context.tcp(), resources, this, sendCompletions::links, receiveCompletions::links);
        context.objects().add(this);
    }

    /// Creates a queue pair of the type that `options` name.
    static QueuePair create(SoftProtectionDomain domain, QueuePairOptions options) {
        SoftContext context = domain.softContext();
        String operation = "create queue pair (ibv_create_qp)";
        context.checkWorks(operation);
        if (options.sizes().inlineBytes() > SoftLimits.MAX_INLINE) {
            throw new VerbException(
                    operation,
                    Errno.EINVAL,
                    options.sizes().inlineBytes() + " inline bytes, this device allows " + SoftLimits.MAX_INLINE);
        }
        int number = context.objects().numbers().allocate();
        if (number == 0) {
            throw new VerbException(
                    operation, Errno.ENOMEM, "all " + ControlLayout.QUEUE_PAIR_COUNT + " queue pairs are in use");
        }
        try {
            return options.type() == QueuePairType.UNRELIABLE_DATAGRAM
                    ? new SoftDatagramQueuePair(domain, options, number)
                    : new SoftQueuePair(domain, options, number);
        } catch (IOException e) {
            context.objects().numbers().free(number);
            throw context.noSpace(operation, "a queue pair of " + options.sizes(), e);
        }
    }

    /// The objects that its transport works with.
    QueuePairResources resources() {
        return resources;
    }

    /// How it gets a TCP connection.
    TcpEndpoint tcp() {
        return tcp;
    }

    @Override
    public boolean completesIn(SoftCompletionQueue queue) {
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
        if (state() == QueuePairState.ERROR) {
            sends.flush(batch, first, first + count);
            return count;
        }
        Transport to = transport;
        int taken;
        if (to != null) {
            taken = to.post(batch, first, first + count);
        } else {
            taken = sends.add(batch, first, first + count) - first;
            seekAgain();
        }
        act();
        return taken;
    }

    @Override
    protected int doPost(ReceiveBatch batch, int first, int count) {
        if (state() == QueuePairState.ERROR) {
            receives.flush(batch, first, count);
            return count;
        }
        return receives.post(batch, first, count);
    }

    @Override
    protected void doBind(
            long workId, MemoryWindow window, MemoryRegion region, long offset, long length, int access, int flags) {
        int next = MemoryWindow.nextKey(window.remoteKey());
        try (Arena arena = Arena.ofConfined()) {
            doPost(BindRequest.create(arena, workId, window, next, region, offset, length, access, flags), 0, 1);
        }
    }

    // ---- The peer ----

    /// Continues with the waiting requests; looks for the peer if it has not been found.
    private void seek() {
        Transport to = transport;
        if (to == null && !tcp.isExpecting()) {
            to = context.connectOnHost(resources);
            transport = to;
            if (to != null) {
                block.onHost(true);
            }
        }
        if (to != null) {
            to.resume();
            return;
        }
        if (sends.isOpen()) {
            int failure = withoutPeer.execute();
            if (failure == SUCCESS && !sends.isEmpty()) {
                failure = retries.peerMissing(tcp.isReached());
            }
            if (failure != SUCCESS) {
                failed(failure, 0, AsyncEventType.UNKNOWN);
                return;
            }
        }
        tcp.call();
    }

    /// On the thread of the engine, which serves all queue pairs, or when requests were taken, which must end: whatever
    /// goes wrong fails this queue pair.
    private void seekAgain() {
        try {
            seek();
            Transport to = transport;
            if (to != null && !failed && !to.isAgreed()) {
                // This side sees the peer's memory, and the peer does not see this one's, or does not use it.
                tcp.call();
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
        return isOpen()
                && switch (state()) {
                    case READY_TO_RECEIVE, READY_TO_SEND, SEND_QUEUE_DRAIN -> true;
                    case RESET, INIT, SEND_QUEUE_ERROR, ERROR -> false;
                };
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
        peerLacks(missing, why);
        retries.stop();
        made.resume();
    }

    private Quarantine quarantine() {
        return context.objects().quarantine();
    }

    private void endTransport(boolean orderly) {
        Transport ending = transport;
        if (ending != null) {
            dismiss(ending, orderly);
            transport = null;
            tcp.ended();
        }
    }

    private void dismiss(Transport ending, boolean orderly) {
        block.onHost(false);
        ending.stop(orderly);
        if (!ending.isPeerIdle()) {
            quarantine().hold(ending::isPeerIdle, block, receives.ring(), receiveCompletions.ring());
        }
        ending.close();
    }

    @Override
    public void awaitExecutions() {
        block.awaitIdle();
    }

    @Override
    public @Nullable PeerOperation operationOfPeer(@Nullable LocalRegion region) {
        Transport to = transport;
        return to == null ? null : to.operationOfPeer(region);
    }

    // ---- What the transport tells ----

    @Override
    public void enter() {
        sendLock().lock();
    }

    @Override
    public boolean tryEnter() {
        return sendLock().tryLock();
    }

    @Override
    public void leave() {
        try {
            act();
        } finally {
            sendLock().unlock();
        }
    }

    @Override
    public void progressed() {
        if (!established) {
            established = true;
            if (state() == QueuePairState.READY_TO_RECEIVE) {
                context.asyncEvents().raise(AsyncEventType.COMMUNICATION_ESTABLISHED, this);
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
    public void peerGone() {
        noted = true;
        gone = true;
    }

    /// Acts on what the transport has told.
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
            if (failed) {
                failed = false;
                failAsTold();
            }
        }
        if (drainWanted) {
            Transport to = transport;
            if (to == null || to.isDrained()) {
                drainWanted = false;
                context.asyncEvents().raise(AsyncEventType.SEND_QUEUE_DRAINED, this);
            }
        }
    }

    private void failAsTold() {
        receiveLock().lock();
        try {
            if (isConnected()) {
                fail(failedStatus, failedVendorError, failedEvent);
            } else if (state() == QueuePairState.ERROR) {
                // A receive may have come back that the peer had when the others were flushed.
                receives.flush();
            }
        } finally {
            receiveLock().unlock();
        }
    }

    @Override
    public void failLocally(AsyncEventType event) {
        enter();
        receiveLock().lock();
        try {
            if (isConnected()) {
                fail(FLUSHED, 0, event);
            }
        } finally {
            receiveLock().unlock();
            leave();
        }
    }

    /// Under both locks. The sends end before the receives, each queue in posting order (IBTA 10.3.1).
    private void fail(int firstStatus, int vendorError, AsyncEventType event) {
        enter(QueuePairState.ERROR);
        stop();
        sends.flush(firstStatus, vendorError);
        receives.flush();
        context.asyncEvents().raiseFailure(this, receives.isShared(), event);
    }

    private void stop() {
        drainWanted = false;
        retries.stop();
        Transport to = transport;
        if (to != null) {
            to.stop(context.isOpen());
        }
    }

    // ---- State ----

    @Override
    protected void doModify(
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
                destination.beginSending(effective.sendPsn());
                tcp.begin();
                retries.configure(effective);
                if (tcp.isMistaken()) {
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
    protected QueuePairAttributes doQuery(QueuePairAttributes known) {
        Transport to = transport;
        return known.draining(state() == QueuePairState.SEND_QUEUE_DRAIN && to != null && !to.isDrained());
    }

    private void enter(QueuePairState to) {
        block.publish(to);
        entered(to);
        sends.setOpen(to == QueuePairState.READY_TO_SEND);
    }

    private void reset(QueuePairState from) {
        enter(QueuePairState.RESET);
        stop();
        Transport ending = transport;
        if (ending != null && !ending.isPeerIdle()) {
            stayInError(from);
        }
        sends.clear();
        receives.clear();
        disconnect();
    }

    /// A peer that goes on later would complete its work in the next connection.
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
        tcp.forget();
        destination.forget();
        noted = false;
        failed = false;
        gone = false;
    }

    @Override
    protected void doDestroy() {
        block.withdraw();
        stop();
        disconnect();
        // Not before, or a region that is closed meanwhile would see neither the queue pair nor the quarantine.
        context.objects().remove(this);
        quarantine().free(receives.ring(), receives::free);
        sends.close();
        quarantine().free(block, () -> context.objects().numbers().free(number));
    }
}
