package io.rdmacomm.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.iwarp.MpaFrame;
import io.rdmacomm.soft.iwarp.MpaNegotiation;
import io.rdmacomm.soft.iwarp.PeerHandshake;
import io.rdmacomm.soft.shm.ControlLayout;
import io.rdmacomm.soft.shm.Peer;
import io.rdmacomm.soft.shm.ReceiveRing;
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
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.SharedReceiveQueue;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A reliable connected queue pair: its state, its receives, and how it fails. Its sends are in [SendQueue].
final class SoftQueuePair extends QueuePair implements SendQueue.Owner {
    private static final int LEAST_INLINE = 64;
    private static final long DRAIN_NAP_NANOS = 100_000;

    private final SoftContext context;
    private final int number;
    private final QueueSizes sizes;
    private final SoftCompletionQueue sendCompletions;
    private final SoftCompletionQueue receiveCompletions;
    private final @Nullable SoftSharedReceiveQueue shared;
    private final ReceiveRing receives;
    private final OwnBlock block;
    private final Destination destination;
    private final RequestExecutor executor;
    private final SendQueue sends;
    private final SendQueue.Parts parts;
    private int inboundReads = 1;
    private int expectedPsn = -1;
    private boolean established;

    private SoftQueuePair(SoftProtectionDomain domain, QueuePairOptions options, int number) throws IOException {
        super(domain, options.withSingleThreaded(false)); // the engine posts what had to wait
        this.context = domain.softContext();
        this.number = number;
        QueueSizes asked = options.sizes();
        this.sizes = asked.withInline(Math.max(asked.inlineBytes(), LEAST_INLINE));
        this.sendCompletions = (SoftCompletionQueue) options.sendCompletions();
        this.receiveCompletions = (SoftCompletionQueue) options.receiveCompletions();
        SharedReceiveQueue sharedQueue = options.sharedReceives();
        this.shared = (SoftSharedReceiveQueue) sharedQueue;
        this.receives = shared != null
                ? shared.ring()
                : ReceiveRing.create(context.control(), asked.receives(), asked.receiveElements(), 0, domain.number());
        this.block = new OwnBlock(
                context.control(),
                number,
                domain.number(),
                receives.offset(),
                receiveCompletions.ring().offset());
        PeerQueuePair peer = new PeerQueuePair(number, context.regions());
        this.destination = new Destination(context, this, block, peer);
        this.executor = new RequestExecutor(
                context, block, number, domain.number(), peer, sendCompletions, options.signalAll());
        this.sends = new SendQueue(this, this, sendLock(), block, destination, peer, executor, sizes);
        this.parts = new SendQueue.Parts(
                sends.ring(), executor, block, domain.number(), receives.offset(), receiveCompletions);
        context.softQueuePairs().add(this);
    }

    static SoftQueuePair create(SoftProtectionDomain domain, QueuePairOptions options) {
        SoftContext context = domain.softContext();
        String operation = "create queue pair (ibv_create_qp)";
        if (options.sizes().inlineBytes() > SoftLimits.MAX_INLINE) {
            throw new VerbException(
                    operation,
                    Errno.EINVAL,
                    options.sizes().inlineBytes() + " inline bytes, this device allows " + SoftLimits.MAX_INLINE);
        }
        int number = context.queuePairNumbers().allocate();
        if (number == 0) {
            throw new VerbException(
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

    SendQueue sends() {
        return sends;
    }

    SoftCompletionQueue sendCompletions() {
        return sendCompletions;
    }

    SoftCompletionQueue receiveCompletions() {
        return receiveCompletions;
    }

    /// Takes the send lock if nobody has it.
    boolean tryLockSends() {
        return sendLock().tryLock();
    }

    /// Gives the send lock back.
    void unlockSends() {
        sendLock().unlock();
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

    @Override
    protected int doPost(SendBatch batch, int first, int count) {
        if (state() == QueuePairState.ERROR) {
            sends.flush(batch, first, first + count);
            return count;
        }
        return sends.post(batch, first, first + count);
    }

    @Override
    protected int doPost(ReceiveBatch batch, int first, int count) {
        if (state() == QueuePairState.ERROR) {
            for (int i = first; i < first + count; i++) {
                flushReceive(batch.segment().get(JAVA_LONG, batch.at(i)));
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

    // ---- Failing ----

    @Override
    public boolean maySend() {
        return state() == QueuePairState.READY_TO_SEND;
    }

    @Override
    public void onFailed(int status) {
        receiveLock().lock();
        try {
            fail(status);
        } finally {
            receiveLock().unlock();
        }
    }

    @Override
    public void onFailed(SendBatch batch, int next, int end, int status) {
        receiveLock().lock();
        try {
            enterError();
            sends.fail(batch, next, status);
            sends.flush(batch, next + 1, end);
            flushReceives();
        } finally {
            receiveLock().unlock();
        }
    }

    /// Fails the queue pair for a reason of its own process or because its peer says so; the engine.
    ///
    /// @param event the event to raise, [AsyncEventType#UNKNOWN] for none
    void failLocally(AsyncEventType event) {
        sendLock().lock();
        receiveLock().lock();
        try {
            if (isConnected()) {
                fail(WorkStatus.FLUSHED.code());
                if (event != AsyncEventType.UNKNOWN) {
                    context.asyncEvents().raise(event, this);
                }
            }
        } finally {
            receiveLock().unlock();
            sendLock().unlock();
        }
    }

    /// The process of `gone` has ended; the engine.
    void peerGone(Peer gone) {
        sendLock().lock();
        receiveLock().lock();
        try {
            if (!destination.isTo(gone)) {
                return;
            }
            destination.forget();
            if (isConnected()) {
                block.publish(QueuePairState.ERROR);
                destination.settleJournal(gone, receives, receiveCompletions.ring(), this::flushReceive, number);
                fail(WorkStatus.RETRY_EXCEEDED.code());
                context.asyncEvents().raise(AsyncEventType.QUEUE_PAIR_FATAL, this);
            }
        } finally {
            receiveLock().unlock();
            sendLock().unlock();
        }
    }

    private boolean isConnected() {
        return isOpen()
                && switch (state()) {
                    case READY_TO_RECEIVE, READY_TO_SEND, SEND_QUEUE_DRAIN -> true;
                    case RESET, INIT, SEND_QUEUE_ERROR, ERROR -> false;
                };
    }

    /// Under both locks. The sends end before the receives, each queue in posting order (IBTA 10.3.1).
    private void fail(int firstStatus) {
        enterError();
        sends.flush(firstStatus);
        flushReceives();
    }

    private void enterError() {
        enter(QueuePairState.ERROR);
        sends.stop();
        destination.awaitPeer();
    }

    private void flushReceives() {
        sends.flushAbandonedReceive(this::flushReceive);
        if (shared != null) {
            context.asyncEvents().raise(AsyncEventType.QUEUE_PAIR_LAST_WORK_REACHED, this);
            return;
        }
        long[] taken = new long[1];
        while (receives.take(taken)) {
            flushReceive(taken[0]);
        }
    }

    private void flushReceive(long workId) {
        executor.completeFlushed(receiveCompletions, workId);
    }

    @Override
    public void onLinkFailed(int status, AsyncEventType event) {
        receiveLock().lock();
        try {
            if (isConnected()) {
                fail(status);
                if (event != AsyncEventType.UNKNOWN) {
                    context.asyncEvents().raise(event, this);
                }
            }
        } finally {
            receiveLock().unlock();
        }
    }

    @Override
    public void onLinkEstablished() {
        if (!established) {
            established = true;
            if (state() == QueuePairState.READY_TO_RECEIVE) {
                context.asyncEvents().raise(AsyncEventType.COMMUNICATION_ESTABLISHED, this);
            }
        }
    }

    // ---- TCP ----

    /// What this side wants of a link.
    MpaNegotiation wishes() {
        // A device at the loopback address is called by queue pairs of its own host only.
        boolean checksum = context.settings()
                .checksumBetween(
                        InetAddress.getLoopbackAddress(), context.settings().address());
        return new MpaNegotiation(checksum, inboundReads, SoftLimits.MAX_READ_ATOMIC);
    }

    /// The engine has begun to call the peer.
    ///
    /// @return false if that is not wanted any more
    boolean calling(OutgoingCall call) {
        sendLock().lock();
        try {
            return destination.calling(call);
        } finally {
            sendLock().unlock();
        }
    }

    /// The engine has called the peer in vain.
    void callEnded(OutgoingCall call) {
        sendLock().lock();
        try {
            destination.called(call);
        } finally {
            sendLock().unlock();
        }
    }

    /// The peer has accepted the call; the engine.
    ///
    /// @throws IOException if the connection is not good any more
    void connected(OutgoingCall call, SocketChannel channel, LinkTerms terms) throws IOException {
        sendLock().lock();
        try {
            if (destination.called(call) && isConnected() && sends.link() == null) {
                attach(channel, terms);
            } else {
                new Link(this, sends, parts, channel, terms).close(true);
            }
        } finally {
            sendLock().unlock();
        }
    }

    /// Decides about a call of a peer, and accepts it if it is the right one; the engine.
    ///
    /// @throws IOException if the caller cannot be answered
    PeerHandshake.Verdict answer(IncomingCall call, MpaFrame request, PeerHandshake peer) throws IOException {
        sendLock().lock();
        try {
            if (!isConnected()) {
                return PeerHandshake.Verdict.NOT_THERE;
            }
            PeerHandshake.Verdict verdict = destination.consider(peer);
            if (verdict == PeerHandshake.Verdict.ACCEPTED) {
                MpaNegotiation wishes = wishes();
                MpaFrame reply = wishes.acceptance(
                        request, LinkTerms.reply(peer, verdict).appendTo(new byte[0]));
                call.accept(reply);
                expectedPsn = peer.expectedPsn();
                attach(
                        call.channel(),
                        new LinkTerms(
                                wishes.responderTerms(request, reply),
                                LinkTerms.FEATURES & peer.features(),
                                LinkTerms.segmentLimit(peer, context.settings()),
                                false,
                                peer.source().number()));
            }
            return verdict;
        } finally {
            sendLock().unlock();
        }
    }

    private void attach(SocketChannel channel, LinkTerms terms) throws IOException {
        established = false;
        Set<SendOpcode> missing = terms.missing();
        peerLacks(
                missing,
                missing.isEmpty()
                        ? ""
                        : channel.getRemoteAddress()
                                + " has the requests of iWARP alone (RFC 5040); use SEND, WRITE or READ");
        Link link = new Link(this, sends, parts, channel, terms);
        context.links().counters().established();
        sends.attach(link, link.attention());
    }

    /// A connection manager is about to bring this queue pair up, and to make its TCP connection.
    void expectLink() {
        sendLock().lock();
        try {
            destination.expectLink();
        } finally {
            sendLock().unlock();
        }
    }

    /// Takes over the TCP connection that a connection manager has made.
    ///
    /// @param onEnd is told once why the connection has ended, under this queue pair's locks
    /// @throws IOException if the connection is not good any more, or this queue pair is not up any more
    void adopt(SocketChannel channel, LinkTerms terms, Consumer<String> onEnd) throws IOException {
        sendLock().lock();
        try {
            if (!isConnected()) {
                throw new IOException(this + " was closed or reset meanwhile");
            }
            Links.prepare(channel);
            sends.tellLinkEnd(onEnd);
            attach(channel, terms);
        } finally {
            sendLock().unlock();
        }
    }

    /// Waits until everything that was posted has been sent and, if the peer does that, acknowledged.
    ///
    /// @return false if it was not in time, or cannot be
    boolean awaitDrained(long timeoutNanos) {
        long deadline = System.nanoTime() + timeoutNanos;
        while (true) {
            sendLock().lock();
            try {
                if (!isOpen() || state() != QueuePairState.READY_TO_SEND) {
                    return false;
                }
                sends.resume();
                if (sends.isDrained()) {
                    return true;
                }
            } finally {
                sendLock().unlock();
            }
            if (System.nanoTime() - deadline >= 0 || Thread.currentThread().isInterrupted()) {
                return false;
            }
            LockSupport.parkNanos(DRAIN_NAP_NANOS);
        }
    }

    /// A context has said hello: it may be that of the peer; the engine.
    void peerAppeared(Gid gid, int lid) {
        sendLock().lock();
        try {
            if (isConnected() && destination.isAwaiting(gid, lid)) {
                destination.bind();
            }
        } finally {
            sendLock().unlock();
        }
    }

    /// Waits until neither this queue pair nor its peer is in the middle of an operation that began before.
    boolean awaitExecutions() {
        boolean here = Executions.await(block.memory(), block.offset(), null);
        return destination.awaitPeer() && here;
    }

    // ---- State ----

    @Override
    protected void doModify(
            QueuePairState from, QueuePairState to, QueuePairAttributes change, QueuePairAttributes effective) {
        if (change.has(QueuePairAttribute.PORT) && change.port() != 1) {
            throw new VerbException(
                    "modify queue pair (ibv_modify_qp)",
                    Errno.EINVAL,
                    this + ": there is only port 1, not " + change.port());
        }
        block.rights(effective.accessFlags(), effective.minRnrTimer().code());
        switch (to) {
            case RESET -> reset();
            case ERROR -> {
                if (from != QueuePairState.ERROR) {
                    fail(WorkStatus.FLUSHED.code());
                }
            }
            case READY_TO_RECEIVE -> {
                destination.name(effective);
                inboundReads = Math.max(1, effective.maxDestinationReadAtomic());
                expectedPsn = -1;
                enter(to);
                destination.bind();
            }
            case READY_TO_SEND -> {
                destination.sendPsn(effective.sendPsn());
                sends.policy().configure(effective);
                if (sends.link() != null && expectedPsn != -1 && !destination.isExpected(expectedPsn)) {
                    sends.stop();
                }
                enter(to);
                destination.bind();
                sends.resume();
            }
            case SEND_QUEUE_DRAIN -> {
                enter(to);
                if (from != to && change.drainNotification()) {
                    sends.notifyDrained();
                }
            }
            case INIT, SEND_QUEUE_ERROR -> enter(to);
        }
    }

    private void enter(QueuePairState to) {
        block.publish(to);
        entered(to);
    }

    private void reset() {
        enter(QueuePairState.RESET);
        sends.stop();
        destination.awaitPeer();
        sends.clear();
        if (shared == null) {
            receives.clear();
        }
        destination.forget();
    }

    @Override
    protected void doDestroy() {
        context.softQueuePairs().remove(this);
        block.withdraw();
        sends.stop();
        destination.awaitPeer();
        destination.forget();
        if (shared == null) {
            receives.free();
        }
        context.stager().abandon(this);
        sends.close();
        context.queuePairNumbers().free(number);
    }
}
