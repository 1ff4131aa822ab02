package io.rdmacomm.verbs;

import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/// A send queue and a receive queue (`struct ibv_qp`, ibv_create_qp(3)). Usable from any thread.
///
/// Every posted request ends exactly once: with a completion, silently if it succeeded and was not signalled, or
/// flushed when the queue pair fails. `post` never blocks and never allocates.
public abstract class QueuePair extends Resource {
    private static final String POST_SEND = "post send (ibv_post_send)";
    private static final String POST_RECEIVE = "post receive (ibv_post_recv)";

    private final ProtectionDomain protectionDomain;
    private final QueuePairOptions options;
    private final int initialPsn = ThreadLocalRandom.current().nextInt(1 << 24);
    private final QueuePairAttributes attributes = new QueuePairAttributes();
    private final OperationLock sendLock = new OperationLock();
    private final OperationLock receiveLock = new OperationLock();
    private final boolean singleThreaded;
    private final boolean signalAll;
    private volatile QueuePairState state = QueuePairState.RESET;
    // Set by begin(), when the provider has said what sizes it really gave.
    private QueueSizes sizes = QueueSizes.defaults();
    private SendDepth sendDepth = new SendDepth(0);
    private ReceiveDepth receiveDepth = new ReceiveDepth(0);
    private SendChecks sendChecks = SendChecks.NONE;

    /// For providers.
    protected QueuePair(ProtectionDomain protectionDomain, QueuePairOptions options) {
        super(protectionDomain);
        this.protectionDomain = protectionDomain;
        this.options = options;
        this.singleThreaded = options.singleThreaded();
        this.signalAll = options.signalAll();
    }

    /// Ties the complete object into its context.
    final void begin() {
        sizes = doSizes();
        sendDepth = new SendDepth(sizes.sends());
        receiveDepth = new ReceiveDepth(sizes.receives());
        Context context = protectionDomain.context();
        sendChecks = SendChecks.of(options.type(), context::supports, context.toString(), sizes, doReadElements());
        dependOn(options.sendCompletions());
        if (!options.receiveCompletions().equals(options.sendCompletions())) {
            dependOn(options.receiveCompletions());
        }
        SharedReceiveQueue shared = options.sharedReceives();
        if (shared != null) {
            dependOn(shared);
        }
        context.queuePairs().put(number(), this);
    }

    /// The protection domain it belongs to.
    public final ProtectionDomain protectionDomain() {
        return protectionDomain;
    }

    /// What it was created with.
    public final QueuePairOptions options() {
        return options;
    }

    /// The sizes it really has, at least those asked for.
    public final QueueSizes sizes() {
        return sizes;
    }

    /// Its number, 24 bits.
    public abstract int number();

    /// The state that this side knows it to be in.
    public final QueuePairState state() {
        return state;
    }

    /// What a peer needs to connect: send it over whatever connection there is. The packet sequence number is
    /// random.
    ///
    /// @param port the local port, counted from 1
    /// @param gidIndex the position in the port's GID table, or [PathOptions#AUTOMATIC_GID]
    public final QueuePairInfo info(int port, int gidIndex) {
        checkOpen();
        Context context = protectionDomain.context();
        PortAttributes attributesOfPort = context.port(port);
        return new QueuePairInfo(
                number(),
                initialPsn,
                attributesOfPort.lid(),
                context.gid(port, resolve(port, gidIndex)),
                attributesOfPort.activeMtu());
    }

    /// What a peer needs to connect through port 1 and the GID that it prefers.
    public final QueuePairInfo info() {
        return info(1, PathOptions.AUTOMATIC_GID);
    }

    private int resolve(int port, int gidIndex) {
        return gidIndex == PathOptions.AUTOMATIC_GID
                ? protectionDomain.context().preferredGidIndex(port)
                : gidIndex;
    }

    /// Goes from RESET to READY_TO_SEND with the numbers of the peer. Both sides do this, in any order; requests
    /// wait for the peer as long as the retry counts say.
    ///
    /// @throws QueuePairStateException if it is not in RESET
    public final void connect(QueuePairInfo remote, ConnectionOptions how) {
        Context context = protectionDomain.context();
        if (!context.supports(Capability.CONNECT_BY_NUMBERS)) {
            throw new UnsupportedVerbException(
                    "connect queue pair",
                    Capability.CONNECT_BY_NUMBERS,
                    context.device().name(),
                    "connect it by address, with a ConnectionManager");
        }
        PathOptions path = how.path();
        RetryOptions retries = how.retries();
        modify(new QueuePairAttributes()
                .state(QueuePairState.INIT)
                .partitionKeyIndex(0)
                .port(path.port())
                .accessFlags(how.accessFlags()));
        PathMtu local = context.port(path.port()).activeMtu();
        modify(new QueuePairAttributes()
                .state(QueuePairState.READY_TO_RECEIVE)
                .addressVector(new AddressVector(
                        remote.gid(),
                        remote.lid(),
                        resolve(path.port(), path.gidIndex()),
                        path.port(),
                        path.serviceLevel(),
                        path.trafficClass(),
                        path.hopLimit(),
                        0))
                .pathMtu(smallest(path.mtu(), smallest(local, remote.mtu())))
                .destinationNumber(remote.number())
                .receivePsn(remote.packetSequenceNumber())
                .maxDestinationReadAtomic(how.maxDestinationReadAtomic())
                .minRnrTimer(retries.rnrTimer()));
        modify(new QueuePairAttributes()
                .state(QueuePairState.READY_TO_SEND)
                .sendPsn(initialPsn)
                .timeout(retries.timeout())
                .retryCount(retries.retryCount())
                .rnrRetry(retries.rnrRetry())
                .maxReadAtomic(how.maxReadAtomic()));
    }

    /// Goes from RESET to READY_TO_SEND with default options; see [#connect(QueuePairInfo, ConnectionOptions)].
    public final void connect(QueuePairInfo remote) {
        connect(remote, ConnectionOptions.defaults());
    }

    /// Changes the state or attributes (ibv_modify_qp(3)). Going to RESET discards what is queued, going to ERROR
    /// flushes it.
    ///
    /// @throws QueuePairStateException if the state table does not allow it; the message names what is missing or
    ///         forbidden, and nothing has changed
    /// @throws UnsupportedVerbException if the device does not know the state, or the way back to it; nothing has
    ///         changed
    /// @throws VerbException the errno of the device
    public final void modify(QueuePairAttributes change) {
        sendLock.lock();
        receiveLock.lock();
        try {
            checkOpen();
            QueuePairStateTable.check(toString(), options.type(), state, change);
            QueuePairState from = state;
            QueuePairState to = change.has(QueuePairAttribute.STATE) ? change.state() : from;
            checkPossible(from, to);
            QueuePairAttributes effective = new QueuePairAttributes();
            effective.apply(attributes);
            effective.apply(change);
            doModify(from, to, change, effective);
            attributes.apply(change);
            if (to == QueuePairState.RESET) {
                peerLacks(Set.of(), "");
                sendDepth.clear();
                receiveDepth.clear();
            }
            // A provider that failed the queue pair meanwhile has the last word.
            if (state == from) {
                state = to;
            }
        } finally {
            receiveLock.unlock();
            sendLock.unlock();
        }
    }

    /// A device that lacks a state would take the change for another one, or for none.
    private void checkPossible(QueuePairState from, QueuePairState to) {
        if (to == QueuePairState.SEND_QUEUE_DRAIN) {
            require(Capability.SEND_QUEUE_DRAIN, to, "wait for the completions instead");
        } else if (to == QueuePairState.RESET && from.code() > QueuePairState.INIT.code()) {
            require(Capability.RESET, to, "close it and create another");
        }
    }

    private void require(Capability needed, QueuePairState to, String hint) {
        Context context = protectionDomain.context();
        if (!context.supports(needed)) {
            throw new UnsupportedVerbException(
                    "modify queue pair to " + to, needed, context.device().name(), hint);
        }
    }

    /// The attributes that were set so far, with the present state (ibv_query_qp(3)).
    public final QueuePairAttributes query() {
        sendLock.lock();
        try {
            checkOpen();
            QueuePairAttributes copy = new QueuePairAttributes();
            copy.apply(attributes);
            return copy.state(doQueryState(state));
        } finally {
            sendLock.unlock();
        }
    }

    /// Posts the requests of `batch` (ibv_post_send(3)). Never blocks, never allocates.
    ///
    /// The batch can be reused at once. The memory that its requests name can be reused after their completion,
    /// that of inline requests at once.
    ///
    /// @return how many were taken; fewer than the batch holds means that the queue is full until completions are
    ///         polled
    /// @throws QueuePairStateException if the state is RESET, INIT or READY_TO_RECEIVE
    /// @throws WorkRequestException if a request does not fit this queue pair, the device refuses it, or the peer
    ///         of a connection by address is known to lack it; those before it were posted
    public final int post(SendBatch batch) {
        return post(batch, 0);
    }

    /// Posts the requests of `batch` from `first` on; see [#post(SendBatch)].
    ///
    /// @return how many were taken
    public final int post(SendBatch batch, int first) {
        if (singleThreaded) {
            return postExclusively(batch, first);
        }
        sendLock.lock();
        try {
            return postExclusively(batch, first);
        } finally {
            sendLock.unlock();
        }
    }

    private int postExclusively(SendBatch batch, int first) {
        checkOpen();
        QueuePairState now = state;
        if (now.code() < QueuePairState.READY_TO_SEND.code()) {
            throw notReady(POST_SEND, now, "connect it first");
        }
        int count = batch.size() - first;
        return batch.fits(sendChecks) ? postGood(batch, first, count, now) : postUntilBad(batch, first, count, now);
    }

    private int postGood(SendBatch batch, int first, int wanted, QueuePairState now) {
        SendDepth depth = sendDepth;
        // What is posted in an error state completes at once, without a slot.
        boolean accounted = now == QueuePairState.READY_TO_SEND || now == QueuePairState.SEND_QUEUE_DRAIN;
        int count = accounted ? Math.min(wanted, depth.room()) : wanted;
        if (count <= 0) {
            return 0;
        }
        if (accounted) {
            for (int i = first; i < first + count; i++) {
                depth.take(isSignaled(batch, i));
            }
        }
        int taken = 0;
        try {
            batch.endAfter(first + count - 1);
            taken = doPost(batch, first, count);
        } catch (WorkRequestException e) {
            taken = e.index() - first;
            throw e;
        } finally {
            if (accounted && taken < count) {
                giveBack(batch, first + taken, count - taken);
            }
        }
        return taken;
    }

    private void giveBack(SendBatch batch, int first, int count) {
        int signals = 0;
        for (int i = first; i < first + count; i++) {
            signals += isSignaled(batch, i) ? 1 : 0;
        }
        sendDepth.untake(count, signals);
    }

    private boolean isSignaled(SendBatch batch, int index) {
        return signalAll || (batch.flags(index) & SendRequestLayout.FLAG_SIGNALED) != 0;
    }

    private int postUntilBad(SendBatch batch, int first, int count, QueuePairState now) {
        int good = 0;
        String complaint = null;
        while (good < count && complaint == null) {
            complaint = batch.complaint(sendChecks, first + good);
            good += complaint == null ? 1 : 0;
        }
        int taken = good == 0 ? 0 : postGood(batch, first, good, now);
        if (taken == good && complaint != null) {
            throw new WorkRequestException(POST_SEND, first + good, complaint);
        }
        return taken;
    }

    /// Posts the receives of `batch` (ibv_post_recv(3)). Never blocks, never allocates. Legal from INIT on.
    ///
    /// @return how many were taken; fewer than the batch holds means that the queue is full until completions are
    ///         polled
    /// @throws QueuePairStateException if the state is RESET
    /// @throws VerbException EINVAL if the queue pair takes its receives from a shared receive queue
    /// @throws WorkRequestException if a receive does not fit this queue pair or the device refuses it; those
    ///         before it were posted
    public final int post(ReceiveBatch batch) {
        if (singleThreaded) {
            return postExclusively(batch);
        }
        receiveLock.lock();
        try {
            return postExclusively(batch);
        } finally {
            receiveLock.unlock();
        }
    }

    private int postExclusively(ReceiveBatch batch) {
        checkOpen();
        QueuePairState now = state;
        if (now == QueuePairState.RESET) {
            throw notReady(POST_RECEIVE, now, "bring it to INIT first");
        }
        if (options.sharedReceives() != null) {
            throw new VerbException(
                    POST_RECEIVE, Errno.EINVAL, this + " takes its receives from a shared receive queue; post there");
        }
        int room = now == QueuePairState.ERROR ? batch.size() : receiveDepth.room();
        int good = batch.acceptable(sizes.receiveElements());
        int count = Math.min(good, room);
        int taken = count <= 0 ? 0 : postReceives(batch, count);
        if (taken == good && good < batch.size()) {
            throw WorkRequestException.tooManyElements(POST_RECEIVE, good, sizes.receiveElements());
        }
        return taken;
    }

    private int postReceives(ReceiveBatch batch, int count) {
        batch.endAfter(count - 1);
        int taken = doPost(batch, 0, count);
        receiveDepth.take(taken);
        return taken;
    }

    /// Binds a memory window of type 1 to a part of a region (ibv_bind_mw(3)): a request in the send queue, whose
    /// completion says whether it worked. Length zero unbinds it. The window's remote key changes at once.
    ///
    /// @param flags `FLAG_` bits of [SendRequestLayout]
    /// @throws VerbException EINVAL if the window is of type 2, EPERM if it is of another protection domain,
    ///         ENOMEM if the send queue is full
    public final void bind(
            long workId,
            MemoryWindow window,
            MemoryRegion region,
            long offset,
            long length,
            Set<AccessFlag> access,
            int flags) {
        String operation = "bind memory window (ibv_bind_mw)";
        sendLock.lock();
        try {
            checkOpen();
            window.checkOpen();
            region.checkOpen();
            if (window.type() != MemoryWindowType.TYPE_1) {
                throw new VerbException(operation, Errno.EINVAL, window + " is of type 2; bind it with a work request");
            }
            if (!window.protectionDomain().equals(protectionDomain)
                    || !region.protectionDomain().equals(protectionDomain)) {
                throw new VerbException(
                        operation, Errno.EPERM, window + " or " + region + " is of another protection domain");
            }
            Objects.checkFromIndexSize(offset, length, region.length());
            if (state.code() < QueuePairState.READY_TO_SEND.code()) {
                throw notReady(operation, state, "connect it first");
            }
            if (sendDepth.room() < 1) {
                throw new VerbException(operation, Errno.ENOMEM, "the send queue of " + this + " is full");
            }
            boolean signaled = signalAll || (flags & SendRequestLayout.FLAG_SIGNALED) != 0;
            sendDepth.take(signaled);
            boolean success = false;
            try {
                doBind(workId, window, region, offset, length, AccessFlag.mask(access), flags);
                success = true;
            } finally {
                if (!success) {
                    sendDepth.untake(1, signaled ? 1 : 0);
                }
            }
        } finally {
            sendLock.unlock();
        }
    }

    /// A successful completion was polled. One thread at a time retires: the poller, under its queue's lock.
    final void retire(boolean receive) {
        if (receive) {
            receiveDepth.retire();
        } else {
            sendDepth.retire();
        }
    }

    /// Work of this queue pair has failed, as a poll has found. For a provider whose device does not say that the
    /// queue pair went to the error state with it.
    protected void noticeFailure(long workId) {}

    /// A memory window was bound, as a poll has found.
    protected void noticeBinding(long workId) {}

    /// The lock that posting, modifying and closing hold, for a provider whose own threads touch the send queue.
    protected final OperationLock sendLock() {
        return sendLock;
    }

    /// The lock that posting receives, modifying and closing hold; taken after [#sendLock()].
    protected final OperationLock receiveLock() {
        return receiveLock;
    }

    /// A provider has learnt that the peer cannot carry out these requests: [#post] refuses them until the queue
    /// pair is reset, or the provider knows better. Under [#sendLock()].
    ///
    /// @param missing replaces what was missing before
    /// @param why what kind of peer it is, and what to do
    protected final void peerLacks(Set<SendOpcode> missing, String why) {
        sendChecks = sendChecks.withPeerThatLacks(missing, why);
    }

    /// A provider has noticed that the queue pair changed its state by itself.
    protected final void entered(QueuePairState now) {
        state = now;
    }

    @Override
    protected final void doClose() {
        sendLock.lock();
        receiveLock.lock();
        try {
            protectionDomain.context().queuePairs().remove(this);
            doDestroy();
            state = QueuePairState.RESET;
        } finally {
            receiveLock.unlock();
            sendLock.unlock();
        }
    }

    @Override
    public final String toString() {
        return "queue pair 0x" + Integer.toHexString(number()) + " on " + protectionDomain.context();
    }

    /// The sizes that the provider gave, at least those asked for.
    protected abstract QueueSizes doSizes();

    /// How many scatter/gather elements a READ may have (`max_sge_rd`): as many as any send, unless a provider
    /// says otherwise.
    protected int doReadElements() {
        return sizes.sendElements();
    }

    /// Carries a checked transition out, under both locks.
    ///
    /// @param from the present state
    /// @param to the state to go to
    /// @param change what the caller set
    /// @param effective what the caller set now and before
    protected abstract void doModify(
            QueuePairState from, QueuePairState to, QueuePairAttributes change, QueuePairAttributes effective);

    /// The state for [#query()]; a provider that cannot ask its device returns what is `known`.
    protected QueuePairState doQueryState(QueuePairState known) {
        return known;
    }

    /// Posts `count` checked requests that fit the queue, under the send lock.
    ///
    /// @return how many were taken
    /// @throws WorkRequestException if a request was rejected; those before its index were taken. After any other
    ///         exception none was
    protected abstract int doPost(SendBatch batch, int first, int count);

    /// Posts `count` checked receives that fit the queue, under the receive lock; returns how many were taken. One
    /// that throws has taken none.
    protected abstract int doPost(ReceiveBatch batch, int first, int count);

    /// Binds for [#bind]; the default has no memory windows.
    protected void doBind(
            long workId, MemoryWindow window, MemoryRegion region, long offset, long length, int access, int flags) {
        throw new UnsupportedVerbException(
                "bind memory window (ibv_bind_mw)",
                Capability.MEMORY_WINDOW_TYPE_1,
                protectionDomain.context().device().name());
    }

    /// Releases what the provider holds, under both locks.
    protected abstract void doDestroy();

    private QueuePairStateException notReady(String operation, QueuePairState now, String hint) {
        return new QueuePairStateException(operation, now, this + " is in state " + now + "; " + hint);
    }

    private static PathMtu smallest(PathMtu one, PathMtu other) {
        return one.code() <= other.code() ? one : other;
    }
}
