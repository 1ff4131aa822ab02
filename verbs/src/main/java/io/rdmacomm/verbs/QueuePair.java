package io.rdmacomm.verbs;

import java.security.SecureRandom;
import java.util.Objects;
import java.util.Set;

/// A send queue and a receive queue (`struct ibv_qp`, ibv_create_qp(3)). Thread-safe, unless it was created
/// single-threaded.
///
/// Every posted request ends exactly once: with a completion, silently if it succeeds and is
/// unsignaled, or flushed after the queue pair has failed. A device without [Capability#FLUSH_IN_ERROR]
/// may keep requests that are posted to a failed queue pair. `post` never blocks and never allocates.
public abstract class QueuePair extends Resource {
    /// The number is part of what keeps strangers out of a connection, so nobody may guess it from others.
    private static final SecureRandom RANDOM = new SecureRandom();

    private static final String POST_SEND = "post send (ibv_post_send)";
    private static final String POST_RECEIVE = "post receive (ibv_post_recv)";

    private final ProtectionDomain protectionDomain;
    private final QueuePairOptions options;
    private final int initialPsn = RANDOM.nextInt(1 << 24);
    private final QueuePairAttributes attributes = new QueuePairAttributes();
    private final OperationLock sendLock = new OperationLock();
    private final OperationLock receiveLock = new OperationLock();
    private final boolean singleThreaded;
    private final boolean signalAll;
    private volatile QueuePairState state = QueuePairState.RESET;
    // Set by begin(), when the provider knows the actual sizes.
    private QueueSizes sizes = QueueSizes.defaults();
    private SendDepth sendDepth = new SendDepth(0);
    private ReceiveDepth receiveDepth = new ReceiveDepth(0);
    private SendChecks sendChecks = SendChecks.NONE;
    private final MulticastGroups groups = new MulticastGroups();

    /// For providers.
    protected QueuePair(ProtectionDomain protectionDomain, QueuePairOptions options) {
        super(protectionDomain);
        this.protectionDomain = protectionDomain;
        this.options = options;
        this.singleThreaded = options.singleThreaded();
        this.signalAll = options.signalAll();
    }

    /// Registers the complete object with its context.
    final void begin() {
        sizes = doSizes();
        sendDepth = new SendDepth(sizes.sends());
        Context context = protectionDomain.context();
        sendChecks = SendChecks.of(options.type(), context::supports, context.toString(), sizes, doReadElements());
        dependOn(options.sendCompletions());
        if (!options.receiveCompletions().equals(options.sendCompletions())) {
            dependOn(options.receiveCompletions());
        }
        SharedReceiveQueue shared = options.sharedReceives();
        if (shared == null) {
            receiveDepth = new ReceiveDepth(sizes.receives());
        } else {
            dependOn(shared);
            receiveDepth = shared.join();
        }
        context.queuePairs().put(number(), this);
    }

    /// The protection domain that it belongs to.
    public final ProtectionDomain protectionDomain() {
        return protectionDomain;
    }

    /// The options that it was created with.
    public final QueuePairOptions options() {
        return options;
    }

    /// Its actual sizes, at least those requested.
    public final QueueSizes sizes() {
        return sizes;
    }

    /// Its number, 24 bits.
    public abstract int number();

    /// The state as far as this process knows; [#query()] asks the device.
    public final QueuePairState state() {
        return state;
    }

    /// The numbers that a peer needs to connect. Send them to it, for example over TCP. The packet sequence number
    /// is random. The MTU is the smaller one of the port and the path: both sides connect with the smallest that
    /// either names.
    ///
    /// @param path the path of the options that this side connects with: its port, its GID index and its MTU count
    /// @throws VerbException ENODATA if the port is on Ethernet and has no GID at this index: the table changes
    ///         with the addresses of the network interface
    public final QueuePairInfo info(PathOptions path) {
        checkOpen();
        PortAttributes port = protectionDomain.context().port(path.port());
        return new QueuePairInfo(
                number(),
                initialPsn,
                port.lid(),
                gid(path.port(), resolve(path.port(), path.gidIndex()), port.linkLayer()),
                port.activeMtu().min(path.mtu()));
    }

    /// The numbers that a peer needs to connect through the default path: port 1, its preferred GID and its MTU. Who
    /// connects with another path calls [#info(PathOptions)].
    public final QueuePairInfo info() {
        return info(PathOptions.defaults());
    }

    /// A GID that a peer can send to. On InfiniBand, the LID alone leads there.
    private Gid gid(int port, int index, LinkLayer link) {
        Context context = protectionDomain.context();
        Gid gid = context.gid(port, index);
        if (gid.equals(Gid.NONE) && link == LinkLayer.ETHERNET) {
            throw new VerbException(
                    "query GID (ibv_query_gid)",
                    Errno.ENODATA,
                    "entry " + index + " of the GID table of port " + port + " of " + context
                            + " is empty; give its network interface an address, or choose another entry");
        }
        return gid;
    }

    private int resolve(int port, int gidIndex) {
        return gidIndex == PathOptions.AUTOMATIC_GID
                ? protectionDomain.context().preferredGidIndex(port)
                : gidIndex;
    }

    /// Takes the queue pair from RESET to READY_TO_SEND with the numbers of the peer. Both sides call this, in any
    /// order. Requests to a peer that has not connected yet are retried as the options say; those of an unreliable
    /// connection are lost.
    ///
    /// To post receives before the peer can send, call [#initialize(ConnectionOptions)], [#readyToReceive] and
    /// [#readyToSend] instead.
    ///
    /// @throws QueuePairStateException if the state is not RESET
    /// @throws UnsupportedVerbException without [Capability#CONNECT_BY_NUMBERS]
    /// @throws VerbException EINVAL for datagrams, see [#startDatagrams(DatagramOptions)], and if the port does not
    ///         have the partition key or the source path bits of `how`
    public final void connect(QueuePairInfo remote, ConnectionOptions how) {
        require(Capability.CONNECT_BY_NUMBERS, "connect queue pair", "connect it by address, with a ConnectionManager");
        ConnectionOptions fitting = fitting(how);
        modifyToInitial(fitting);
        modifyToReceive(remote, fitting);
        modify(fitting.readyToSend(isReliable(), initialPsn));
    }

    /// Connects with default options; see [#connect(QueuePairInfo, ConnectionOptions)].
    public final void connect(QueuePairInfo remote) {
        connect(remote, ConnectionOptions.defaults());
    }

    /// Takes the queue pair from RESET to INIT, the first step of [#connect(QueuePairInfo, ConnectionOptions)].
    ///
    /// @throws QueuePairStateException if the state is neither RESET nor INIT
    /// @throws VerbException EINVAL as [#connect(QueuePairInfo, ConnectionOptions)]
    public final void initialize(ConnectionOptions how) {
        modifyToInitial(fitting(how));
    }

    /// Takes the queue pair from INIT to READY_TO_RECEIVE, the second step of [#connect(QueuePairInfo,
    /// ConnectionOptions)].
    ///
    /// @throws QueuePairStateException if the state is not INIT
    public final void readyToReceive(QueuePairInfo remote, ConnectionOptions how) {
        modifyToReceive(remote, fitting(how));
    }

    private void modifyToReceive(QueuePairInfo remote, ConnectionOptions fitting) {
        int port = fitting.path().port();
        PortAttributes attributes = protectionDomain.context().port(port);
        if (remote.gid().equals(Gid.NONE) && attributes.linkLayer() == LinkLayer.ETHERNET) {
            throw new VerbException(
                    "connect queue pair (ibv_modify_qp)",
                    Errno.EINVAL,
                    "the peer of " + this
                            + " has sent an empty GID, so it cannot be reached; it has to choose an entry of"
                            + " its GID table that is not empty");
        }
        modify(fitting.readyToReceive(
                isReliable(), remote, resolve(port, fitting.path().gidIndex()), attributes.activeMtu()));
    }

    /// Takes the queue pair from READY_TO_RECEIVE to READY_TO_SEND, the last step of [#connect(QueuePairInfo,
    /// ConnectionOptions)].
    ///
    /// @throws QueuePairStateException if the state is not READY_TO_RECEIVE
    public final void readyToSend(ConnectionOptions how) {
        modify(fitting(how).readyToSend(isReliable(), initialPsn));
    }

    private void modifyToInitial(ConnectionOptions fitting) {
        PathOptions path = fitting.path();
        PortChecks checks = new PortChecks(protectionDomain.context(), "connect queue pair (ibv_modify_qp)");
        checks.partitionKey(path.port(), path.partitionKeyIndex());
        checks.sourcePathBits(path.port(), path.sourcePathBits());
        modify(fitting.initialize());
    }

    private ConnectionOptions fitting(ConnectionOptions how) {
        if (isDatagram()) {
            throw new VerbException(
                    "connect queue pair",
                    Errno.EINVAL,
                    this + " is for datagrams, which need no connection; call startDatagrams instead");
        }
        ConnectionOptions fitting = protectionDomain.context().fitting(how);
        return isReliable() ? fitting : fitting.withoutReads();
    }

    private boolean isReliable() {
        return options.type() == QueuePairType.RELIABLE_CONNECTED;
    }

    private boolean isDatagram() {
        return options.type() == QueuePairType.UNRELIABLE_DATAGRAM;
    }

    /// Takes a datagram queue pair from RESET to READY_TO_SEND. What arrives before a receive is posted is lost; to
    /// post receives first, call [#initialize(DatagramOptions)] and [#startDatagrams()] instead.
    ///
    /// @throws QueuePairStateException if the state is not RESET
    /// @throws VerbException EINVAL if it is not for datagrams
    public final void startDatagrams(DatagramOptions how) {
        initialize(how);
        startDatagrams();
    }

    /// Takes a datagram queue pair from RESET to INIT, the first step of [#startDatagrams(DatagramOptions)].
    ///
    /// @throws QueuePairStateException if the state is neither RESET nor INIT
    /// @throws VerbException EINVAL if it is not for datagrams
    public final void initialize(DatagramOptions how) {
        String operation = "initialize queue pair for datagrams";
        requireDatagram(operation);
        new PortChecks(protectionDomain.context(), operation).partitionKey(how.port(), how.partitionKeyIndex());
        modify(how.initialize());
    }

    /// Takes a datagram queue pair from INIT to READY_TO_SEND, the last step of [#startDatagrams(DatagramOptions)].
    ///
    /// @throws QueuePairStateException if the state is not INIT
    /// @throws VerbException EINVAL if it is not for datagrams
    public final void startDatagrams() {
        requireDatagram("start datagrams");
        modify(DatagramOptions.readyToReceive());
        modify(DatagramOptions.readyToSend(initialPsn));
    }

    private void requireDatagram(String operation) {
        if (!isDatagram()) {
            throw new VerbException(
                    operation,
                    Errno.EINVAL,
                    this + " is " + options.type() + ", not " + QueuePairType.UNRELIABLE_DATAGRAM);
        }
    }

    /// Receives what is sent to a multicast group as well (ibv_attach_mcast(3)). The network delivers it only to hosts
    /// that have joined the group; see [io.rdmacomm.verbs.cm.ConnectionManager#joinMulticast]. Does nothing if
    /// it is attached already.
    ///
    /// @param group a [multicast][Gid#isMulticast()] identifier
    /// @param lid the group's local identifier on InfiniBand; 0 on Ethernet
    /// @throws UnsupportedVerbException without [Capability#MULTICAST]
    /// @throws VerbException EINVAL if it is not for datagrams, or `group` is no multicast group; ENOMEM if the
    ///         device has no room for more
    public final void attach(Gid group, int lid) {
        String operation = "attach queue pair to multicast group (ibv_attach_mcast)";
        checkMulticast(operation, group, lid);
        sendLock.lock();
        try {
            checkOpen();
            groups.attach(group, lid, this::doAttach);
        } finally {
            sendLock.unlock();
        }
    }

    /// Receives what is sent to a multicast group of Ethernet; see [#attach(Gid, int)].
    public final void attach(Gid group) {
        attach(group, 0);
    }

    /// Ends [#attach(Gid, int)] (ibv_detach_mcast(3)), as closing the queue pair does.
    ///
    /// @throws VerbException EINVAL if it is not attached to that group
    public final void detach(Gid group, int lid) {
        String operation = "detach queue pair from multicast group (ibv_detach_mcast)";
        checkMulticast(operation, group, lid);
        sendLock.lock();
        try {
            checkOpen();
            if (!groups.detach(group, lid, this::doDetach)) {
                throw new VerbException(operation, Errno.EINVAL, this + " is not attached to " + group);
            }
        } finally {
            sendLock.unlock();
        }
    }

    /// Ends [#attach(Gid)].
    public final void detach(Gid group) {
        detach(group, 0);
    }

    private void checkMulticast(String operation, Gid group, int lid) {
        checkOpen();
        require(Capability.MULTICAST, operation, "send a datagram to each receiver instead");
        requireDatagram(operation);
        Checks.range("LID of a multicast group", lid, 0, 0xffff);
        if (!group.isMulticast()) {
            throw new VerbException(
                    operation, Errno.EINVAL, group + " is no multicast group: those are ff00::/8 and 224.0.0.0/4");
        }
    }

    /// Changes the state or attributes (ibv_modify_qp(3)). RESET discards the queued requests, ERROR flushes them.
    ///
    /// @throws QueuePairStateException if the state table does not allow the change; the message names the missing
    ///         or forbidden attributes, and nothing has changed
    /// @throws UnsupportedVerbException if the device does not support the state, or the transition to it; nothing
    ///         has changed
    /// @throws VerbException with the errno that the device reports
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
            int longestDatagram = isDatagram() && change.has(QueuePairAttribute.PORT) ? mtuOf(change.port()) : 0;
            doModify(from, to, change, effective);
            attributes.apply(change);
            if (longestDatagram > 0) {
                sendChecks = sendChecks.withLongestDatagram(longestDatagram);
            }
            if (to == QueuePairState.RESET) {
                attributes.clear();
                peerLacks(Set.of(), "");
                sendDepth.clear();
                receiveDepth.clear();
            } else if (from == QueuePairState.SEND_QUEUE_ERROR && to == QueuePairState.READY_TO_SEND) {
                sendDepth.clear(); // its requests were flushed, and failed ones free no slots
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

    private int mtuOf(int port) {
        return protectionDomain.context().port(port).activeMtu().bytes();
    }

    /// Checked here, because a device without the state may take it for another one or ignore it.
    private void checkPossible(QueuePairState from, QueuePairState to) {
        if (to == QueuePairState.SEND_QUEUE_DRAIN) {
            require(Capability.SEND_QUEUE_DRAIN, "modify queue pair to " + to, "wait for the completions instead");
        } else if (to == QueuePairState.RESET && from.code() > QueuePairState.INIT.code()) {
            require(Capability.RESET, "modify queue pair to " + to, "close it and create another");
        }
    }

    private void require(Capability needed, String operation, String hint) {
        Context context = protectionDomain.context();
        if (!context.supports(needed)) {
            throw new UnsupportedVerbException(
                    operation, needed, context.device().name(), hint);
        }
    }

    /// The report of the device about the queue pair (ibv_query_qp(3)): its state, also as
    /// [QueuePairAttributes#currentState()], its [QueuePairAttributes#sizes()], and the attributes that were
    /// set since it was in RESET. A driver that cannot be asked (siw, libmana) reports the values that were
    /// set; others may report larger ones, and the packet sequence numbers of the next packets. Blocks as
    /// long as the device does.
    public final QueuePairAttributes query() {
        sendLock.lock();
        try {
            checkOpen();
            QueuePairAttributes known = new QueuePairAttributes();
            known.apply(attributes);
            QueuePairAttributes actual = doQuery(known.state(state).sizes(sizes));
            return actual.currentState(actual.state());
        } finally {
            sendLock.unlock();
        }
    }

    /// Posts the requests of `batch` (ibv_post_send(3)). Never blocks, never allocates.
    ///
    /// The batch can be reused immediately. The memory of a request can be reused after the request has completed,
    /// and the memory of an inline request immediately.
    ///
    /// @return how many requests were posted; if fewer than the batch holds, the queue is full until completions
    ///         are polled
    /// @throws QueuePairStateException if the state is RESET, INIT or READY_TO_RECEIVE
    /// @throws WorkRequestException if a request does not fit this queue pair, the device rejects it, or the peer
    ///         is known not to support it; the requests before it were posted
    public final int post(SendBatch batch) {
        return post(batch, 0);
    }

    /// Posts the requests of `batch` from index `first` on; see [#post(SendBatch)].
    ///
    /// @return how many requests were posted
    public final int post(SendBatch batch, int first) {
        return postPart(batch, first, batch.size() - first);
    }

    /// Posts `count` requests of `batch` from index `first` on; see [#post(SendBatch)].
    ///
    /// @return how many requests were posted
    /// @throws IndexOutOfBoundsException if the batch does not hold so many
    public final int post(SendBatch batch, int first, int count) {
        return postPart(batch, Objects.checkFromIndexSize(first, count, batch.size()), count);
    }

    private int postPart(SendBatch batch, int first, int count) {
        if (singleThreaded) {
            return postExclusively(batch, first, count);
        }
        sendLock.lock();
        try {
            return postExclusively(batch, first, count);
        } finally {
            sendLock.unlock();
        }
    }

    private int postExclusively(SendBatch batch, int first, int count) {
        checkOpen();
        QueuePairState now = state;
        if (now.code() < QueuePairState.READY_TO_SEND.code()) {
            throw notReady(POST_SEND, now, "connect it first");
        }
        return batch.fits(sendChecks) ? postGood(batch, first, count, now) : postUntilBad(batch, first, count, now);
    }

    private int postGood(SendBatch batch, int first, int wanted, QueuePairState now) {
        SendDepth depth = sendDepth;
        // A request posted in an error state completes immediately and needs no slot.
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

    /// Posts the receives of `batch` (ibv_post_recv(3)). Never blocks, never allocates. Allowed from INIT on.
    ///
    /// @return how many receives were posted; if fewer than the batch holds, the queue is full until completions
    ///         are polled
    /// @throws QueuePairStateException if the state is RESET
    /// @throws VerbException EINVAL if the queue pair takes its receives from a shared receive queue
    /// @throws WorkRequestException if a receive does not fit this queue pair or the device rejects it; the
    ///         receives before it were posted
    public final int post(ReceiveBatch batch) {
        return post(batch, batch.size());
    }

    /// Posts the first `count` receives of `batch`; see [#post(ReceiveBatch)].
    ///
    /// @return how many receives were posted
    /// @throws IndexOutOfBoundsException if the batch does not hold so many
    public final int post(ReceiveBatch batch, int count) {
        Objects.checkFromIndexSize(0, count, batch.size());
        if (singleThreaded) {
            return postExclusively(batch, count);
        }
        receiveLock.lock();
        try {
            return postExclusively(batch, count);
        } finally {
            receiveLock.unlock();
        }
    }

    private int postExclusively(ReceiveBatch batch, int wanted) {
        checkOpen();
        QueuePairState now = state;
        if (now == QueuePairState.RESET) {
            throw notReady(POST_RECEIVE, now, "bring it to INIT first");
        }
        if (options.sharedReceives() != null) {
            throw new VerbException(
                    POST_RECEIVE, Errno.EINVAL, this + " takes its receives from a shared receive queue; post to that");
        }
        int room = now == QueuePairState.ERROR ? wanted : receiveDepth.room();
        int good = batch.acceptable(wanted, sizes.receiveElements());
        int count = Math.min(good, room);
        int taken = count <= 0 ? 0 : postReceives(batch, count);
        if (taken == good && good < wanted) {
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
    /// completion reports the result. Length zero unbinds the window. The remote key of the window changes
    /// immediately.
    ///
    /// @param flags `FLAG_` bits of [SendRequestLayout]
    /// @throws VerbException EINVAL if the window is of type 2, EPERM if window or region belong to another
    ///         protection domain, ENOMEM if the send queue is full
    public final void bind(
            long workId,
            MemoryWindow window,
            MemoryRegion region,
            long offset,
            long length,
            Set<AccessFlag> access,
            int flags) {
        String operation = "bind memory window (ibv_bind_mw)";
        int rights = AccessFlag.grantedBy("memory window", access);
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
                        operation, Errno.EPERM, window + " or " + region + " belongs to another protection domain");
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
                doBind(workId, window, region, offset, length, rights, flags);
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

    /// Frees the slot of a request whose successful completion was polled. Called by one thread at a time, the
    /// poller.
    final void retire(boolean receive) {
        if (receive) {
            receiveDepth.retire();
        } else {
            sendDepth.retire();
        }
    }

    /// A failed completion of this queue pair was polled. For providers whose device does not report that the
    /// queue pair entered the error state.
    protected void noticeFailure(long workId) {}

    /// The completion of a memory window binding was polled.
    protected void noticeBinding(long workId) {}

    /// The lock held by posting sends, modifying and closing, for providers whose own threads use the send queue.
    protected final OperationLock sendLock() {
        return sendLock;
    }

    /// The lock held by posting receives, modifying and closing; acquired after [#sendLock()].
    protected final OperationLock receiveLock() {
        return receiveLock;
    }

    /// Makes [#post] reject requests that the peer does not support, until the queue pair is reset or this is
    /// called again. Called under [#sendLock()].
    ///
    /// @param missing the opcodes that the peer does not support; replaces those of the last call
    /// @param why the kind of peer, and what to do
    protected final void peerLacks(Set<SendOpcode> missing, String why) {
        sendChecks = sendChecks.withPeerThatLacks(missing, why);
    }

    /// Records that the queue pair changed its state by itself.
    protected final void entered(QueuePairState now) {
        state = now;
    }

    /// Records attributes that were set in another way than by [#modify], for example by a connection manager.
    protected final void learned(QueuePairAttributes actual) {
        sendLock.lock();
        try {
            attributes.apply(actual);
        } finally {
            sendLock.unlock();
        }
    }

    @Override
    protected final void doClose() {
        sendLock.lock();
        receiveLock.lock();
        try {
            protectionDomain.context().queuePairs().remove(this);
            groups.detachAll(this::doDetach);
            doDestroy();
            state = QueuePairState.RESET;
            SharedReceiveQueue shared = options.sharedReceives();
            if (shared != null) {
                shared.leave(receiveDepth);
            }
        } finally {
            receiveLock.unlock();
            sendLock.unlock();
        }
    }

    @Override
    public final String toString() {
        return "queue pair 0x" + Integer.toHexString(number()) + " on " + protectionDomain.context();
    }

    /// The actual sizes, at least those requested.
    protected abstract QueueSizes doSizes();

    /// How many scatter/gather elements a READ may have (`max_sge_rd`): as many as any send, unless a provider
    /// says otherwise.
    protected int doReadElements() {
        return sizes.sendElements();
    }

    /// Executes a checked transition, under both locks.
    ///
    /// @param from the current state
    /// @param to the state to go to
    /// @param change the attributes that the caller set
    /// @param effective all attributes set so far, including this change
    protected abstract void doModify(
            QueuePairState from, QueuePairState to, QueuePairAttributes change, QueuePairAttributes effective);

    /// Queries for [#query()], under the send lock.
    ///
    /// @param known the attributes that were set, the state and the sizes as far as this process knows; the
    ///         provider replaces what its device reports
    /// @return `known`
    protected QueuePairAttributes doQuery(QueuePairAttributes known) {
        return known;
    }

    /// Posts `count` checked requests that fit the queue, under the send lock.
    ///
    /// @return how many were taken
    /// @throws WorkRequestException if a request was rejected; those before its index were posted. After any other
    ///         exception none was
    protected abstract int doPost(SendBatch batch, int first, int count);

    /// Posts `count` checked receives that fit the queue, under the receive lock. Returns how many were posted; if
    /// it throws, none was.
    protected abstract int doPost(ReceiveBatch batch, int first, int count);

    /// Binds for [#bind]; the default does not support memory windows.
    protected void doBind(
            long workId, MemoryWindow window, MemoryRegion region, long offset, long length, int access, int flags) {
        throw new UnsupportedVerbException(
                "bind memory window (ibv_bind_mw)",
                Capability.MEMORY_WINDOW_TYPE_1,
                protectionDomain.context().device().name());
    }

    /// Attaches to a group for [#attach(Gid, int)], under the send lock; the default does not support multicast.
    protected void doAttach(Gid group, int lid) {
        throw noMulticast("attach queue pair to multicast group (ibv_attach_mcast)");
    }

    /// Detaches from a group for [#detach(Gid, int)] and [#close()], under the send lock.
    protected void doDetach(Gid group, int lid) {
        throw noMulticast("detach queue pair from multicast group (ibv_detach_mcast)");
    }

    private UnsupportedVerbException noMulticast(String operation) {
        return new UnsupportedVerbException(
                operation,
                Capability.MULTICAST,
                protectionDomain.context().device().name());
    }

    /// Releases the provider's resources, under both locks.
    protected abstract void doDestroy();

    private QueuePairStateException notReady(String operation, QueuePairState now, String hint) {
        return new QueuePairStateException(operation, now, this + " is in state " + now + "; " + hint);
    }
}
