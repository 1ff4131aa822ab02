package io.rdmacomm.verbs;

import io.rdmacomm.verbs.lifetime.Lifetime;
import io.rdmacomm.verbs.service.Closer;
import io.rdmacomm.verbs.service.OperationLock;
import io.rdmacomm.verbs.spi.QueuePairDriver;
import io.rdmacomm.verbs.spi.QueuePairOwner;
import io.rdmacomm.verbs.spi.QueuePairRequest;
import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.SendRequest;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A send queue and a receive queue (`struct ibv_qp`, ibv_create_qp(3)). Thread-safe, unless it was created
/// single-threaded.
///
/// Every posted request ends exactly once: with a completion, silently if it succeeds and is
/// unsignaled, or flushed after the queue pair has failed. A device without [Capability#FLUSH_IN_ERROR]
/// may keep requests that are posted to a failed queue pair. `post` never blocks and never allocates.
public final class QueuePair implements Resource {
    private static final String POST_SEND = "post send (ibv_post_send)";
    private static final String POST_RECEIVE = "post receive (ibv_post_recv)";

    private final ProtectionDomain protectionDomain;
    private final OperationLock sendLock = new OperationLock();
    private final OperationLock receiveLock = new OperationLock();
    private final Reports reports = new Reports();
    private final QueuePairDriver driver;
    private final Lifetime lifetime;
    private final QueuePairOptions options;
    private final QueueSizes sizes;
    private final SendDepth sendDepth;
    private final ReceiveDepth receiveDepth;
    private final BringUp bringUp;
    private final QueuePairAttributes attributes = new QueuePairAttributes();
    private final MulticastGroups groups = new MulticastGroups();
    private final boolean singleThreaded;
    private final boolean signalAll;
    private volatile QueuePairState state = QueuePairState.RESET;
    private SendChecks sendChecks = SendChecks.NONE;
    /// The arena of the direct views, once there are any.
    private @Nullable Arena views;

    QueuePair(ProtectionDomain protectionDomain, QueuePairOptions asked) {
        this.protectionDomain = protectionDomain;
        SharedReceiveQueue shared = asked.sharedReceives();
        this.driver = protectionDomain
                .driver()
                .createQueuePair(new QueuePairRequest(
                        asked.type(),
                        asked.sizes(),
                        asked.sendCompletions().driver(),
                        asked.receiveCompletions().driver(),
                        shared == null ? null : shared.driver(),
                        asked.signalAll(),
                        reports));
        this.lifetime = new Lifetime(this, protectionDomain.lifetime(), driver, this::release);
        this.options = driver.hasThreads() ? asked.withSingleThreaded(false) : asked;
        this.singleThreaded = options.singleThreaded();
        this.signalAll = options.signalAll();
        this.sizes = driver.sizes();
        this.sendDepth = new SendDepth(sizes.sends());
        this.receiveDepth = shared == null ? new ReceiveDepth(sizes.receives()) : ReceiveDepth.ofShared();
        this.bringUp = new BringUp(protectionDomain.context().driver(), driver.number(), asked.type(), reports);
        reports.complete = true;
    }

    /// Registers the complete object with its context, and keeps the objects that it uses open.
    void begin() {
        Context context = protectionDomain.context();
        sendChecks = SendChecks.of(options.type(), context::supports, context.toString(), sizes, driver.readElements());
        lifetime.dependOn(options.sendCompletions().lifetime());
        if (!options.receiveCompletions().equals(options.sendCompletions())) {
            lifetime.dependOn(options.receiveCompletions().lifetime());
        }
        SharedReceiveQueue shared = options.sharedReceives();
        if (shared != null) {
            lifetime.dependOn(shared.lifetime());
            shared.join(receiveDepth);
        }
        context.queuePairs().put(number(), this);
    }

    /// The protection domain that it belongs to.
    public ProtectionDomain protectionDomain() {
        return protectionDomain;
    }

    /// The options that it was created with.
    public QueuePairOptions options() {
        return options;
    }

    /// Its actual sizes, at least those requested.
    public QueueSizes sizes() {
        return sizes;
    }

    /// Its number, 24 bits.
    public int number() {
        return driver.number();
    }

    /// The state known to this process; [#query()] queries the device.
    public QueuePairState state() {
        return state;
    }

    /// The numbers that a peer needs to connect. Send them to it, for example over TCP. The packet sequence
    /// number is random. The MTU is the smaller of those of the port and the path; both sides connect with
    /// the smaller of theirs.
    ///
    /// @param path the path of the options for connecting this side; its port, GID index and MTU are used
    /// @throws VerbException ENODATA if the port is on Ethernet and has no GID at this index: the table changes
    ///         with the addresses of the network interface
    public QueuePairInfo info(PathOptions path) {
        lifetime.checkOpen();
        return bringUp.info(path);
    }

    /// The numbers that a peer needs to connect through the default path: port 1, its preferred GID and its
    /// MTU. To connect with another path, call [#info(PathOptions)].
    public QueuePairInfo info() {
        return info(PathOptions.defaults());
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
    public void connect(QueuePairInfo remote, ConnectionOptions how) {
        protectionDomain
                .context()
                .require(
                        Capability.CONNECT_BY_NUMBERS,
                        "connect queue pair",
                        "connect it by address, with a ConnectionManager");
        ConnectionOptions fitting = fitting(how);
        modify(bringUp.initialize(fitting));
        modify(bringUp.readyToReceive(remote, fitting));
        modify(bringUp.readyToSend(fitting));
    }

    /// Connects with default options; see [#connect(QueuePairInfo, ConnectionOptions)].
    public void connect(QueuePairInfo remote) {
        connect(remote, ConnectionOptions.defaults());
    }

    /// Takes the queue pair from RESET to INIT, the first step of [#connect(QueuePairInfo, ConnectionOptions)].
    ///
    /// @throws QueuePairStateException if the state is neither RESET nor INIT
    /// @throws VerbException EINVAL as [#connect(QueuePairInfo, ConnectionOptions)]
    public void initialize(ConnectionOptions how) {
        modify(bringUp.initialize(fitting(how)));
    }

    /// Takes the queue pair from INIT to READY_TO_RECEIVE, the second step of [#connect(QueuePairInfo,
    /// ConnectionOptions)].
    ///
    /// @throws QueuePairStateException if the state is not INIT
    public void readyToReceive(QueuePairInfo remote, ConnectionOptions how) {
        modify(bringUp.readyToReceive(remote, fitting(how)));
    }

    /// Takes the queue pair from READY_TO_RECEIVE to READY_TO_SEND, the last step of [#connect(QueuePairInfo,
    /// ConnectionOptions)].
    ///
    /// @throws QueuePairStateException if the state is not READY_TO_RECEIVE
    public void readyToSend(ConnectionOptions how) {
        modify(bringUp.readyToSend(fitting(how)));
    }

    private ConnectionOptions fitting(ConnectionOptions how) {
        return bringUp.fitting(protectionDomain.context().fitting(how));
    }

    private boolean isDatagram() {
        return options.type() == QueuePairType.UNRELIABLE_DATAGRAM;
    }

    /// Takes a datagram queue pair from RESET to READY_TO_SEND. Datagrams that arrive before a receive is
    /// posted are lost; to post receives first, call [#initialize(DatagramOptions)] and [#startDatagrams()]
    /// instead.
    ///
    /// @throws QueuePairStateException if the state is not RESET
    /// @throws VerbException EINVAL if it is not for datagrams
    public void startDatagrams(DatagramOptions how) {
        initialize(how);
        startDatagrams();
    }

    /// Takes a datagram queue pair from RESET to INIT, the first step of [#startDatagrams(DatagramOptions)].
    ///
    /// @throws QueuePairStateException if the state is neither RESET nor INIT
    /// @throws VerbException EINVAL if it is not for datagrams
    public void initialize(DatagramOptions how) {
        String operation = "initialize queue pair for datagrams";
        requireDatagram(operation);
        modify(bringUp.initialize(operation, how));
    }

    /// Takes a datagram queue pair from INIT to READY_TO_SEND, the last step of [#startDatagrams(DatagramOptions)].
    ///
    /// @throws QueuePairStateException if the state is not INIT
    /// @throws VerbException EINVAL if it is not for datagrams
    public void startDatagrams() {
        requireDatagram("start datagrams");
        modify(DatagramOptions.readyToReceive());
        modify(bringUp.readyToSendDatagrams());
    }

    private void requireDatagram(String operation) {
        if (!isDatagram()) {
            throw new VerbException(
                    operation,
                    Errno.EINVAL,
                    this + " is " + options.type() + ", not " + QueuePairType.UNRELIABLE_DATAGRAM);
        }
    }

    /// Also receives the datagrams to a multicast group (ibv_attach_mcast(3)). The network delivers them only
    /// to hosts that have joined the group; see [io.rdmacomm.verbs.cm.ConnectionManager#joinMulticast]. Does
    /// nothing if it is attached already.
    ///
    /// @param group a [multicast][Gid#isMulticast()] identifier
    /// @param lid the group's local identifier on InfiniBand; 0 on Ethernet
    /// @throws UnsupportedVerbException without [Capability#MULTICAST]
    /// @throws VerbException EINVAL if it is not for datagrams, or `group` is not a multicast group; ENOMEM
    ///         if the device has no room for more
    public void attach(Gid group, int lid) {
        String operation = "attach queue pair to multicast group (ibv_attach_mcast)";
        checkMulticast(operation, group, lid);
        sendLock.lock();
        try {
            lifetime.checkOpen();
            groups.attach(group, lid, driver::attach);
        } finally {
            sendLock.unlock();
        }
    }

    /// Also receives the datagrams to a multicast group on Ethernet; see [#attach(Gid, int)].
    public void attach(Gid group) {
        attach(group, 0);
    }

    /// Ends [#attach(Gid, int)] (ibv_detach_mcast(3)), as closing the queue pair does.
    ///
    /// @throws VerbException EINVAL if it is not attached to that group
    public void detach(Gid group, int lid) {
        String operation = "detach queue pair from multicast group (ibv_detach_mcast)";
        checkMulticast(operation, group, lid);
        sendLock.lock();
        try {
            lifetime.checkOpen();
            if (!groups.detach(group, lid, driver::detach)) {
                throw new VerbException(operation, Errno.EINVAL, this + " is not attached to " + group);
            }
        } finally {
            sendLock.unlock();
        }
    }

    /// Ends [#attach(Gid)].
    public void detach(Gid group) {
        detach(group, 0);
    }

    private void checkMulticast(String operation, Gid group, int lid) {
        lifetime.checkOpen();
        protectionDomain.context().require(Capability.MULTICAST, operation, "send a datagram to each receiver instead");
        requireDatagram(operation);
        Checks.range("LID of a multicast group", lid, 0, 0xffff);
        if (!group.isMulticast()) {
            throw new VerbException(
                    operation, Errno.EINVAL, group + " is not a multicast group: those are ff00::/8 and 224.0.0.0/4");
        }
    }

    /// Changes the state or attributes (ibv_modify_qp(3)). RESET discards the queued requests, ERROR flushes them.
    ///
    /// @throws QueuePairStateException if the state table does not allow the change; the message names the missing
    ///         or forbidden attributes, and nothing has changed
    /// @throws UnsupportedVerbException if the device does not support the state, or the transition to it; nothing
    ///         has changed
    /// @throws VerbException with the errno that the device reports
    public void modify(QueuePairAttributes change) {
        sendLock.lock();
        receiveLock.lock();
        try {
            lifetime.checkOpen();
            QueuePairStateTable.check(toString(), options.type(), state, change);
            QueuePairState from = state;
            QueuePairState to = change.has(QueuePairAttribute.STATE) ? change.state() : from;
            checkPossible(from, to);
            QueuePairAttributes effective = new QueuePairAttributes();
            effective.apply(attributes);
            effective.apply(change);
            int longestDatagram = isDatagram() && change.has(QueuePairAttribute.PORT) ? mtuOf(change.port()) : 0;
            driver.modify(from, to, change, effective);
            attributes.apply(change);
            if (longestDatagram > 0) {
                sendChecks = sendChecks.withLongestDatagram(longestDatagram);
            }
            if (to == QueuePairState.RESET) {
                attributes.clear();
                sendChecks = sendChecks.withPeerThatLacks(Set.of(), "");
                sendDepth.clear();
                receiveDepth.clear();
            } else if (from == QueuePairState.SEND_QUEUE_ERROR && to == QueuePairState.READY_TO_SEND) {
                sendDepth.clear(); // its requests were flushed, and failed ones free no slots
            }
            // Unless the provider failed the queue pair meanwhile.
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

    /// Checked here, because a device without the state may misinterpret or ignore it.
    private void checkPossible(QueuePairState from, QueuePairState to) {
        if (to == QueuePairState.SEND_QUEUE_DRAIN) {
            protectionDomain
                    .context()
                    .require(
                            Capability.SEND_QUEUE_DRAIN,
                            "modify queue pair to " + to,
                            "wait for the completions instead");
        } else if (to == QueuePairState.RESET && from.code() > QueuePairState.INIT.code()) {
            protectionDomain
                    .context()
                    .require(Capability.RESET, "modify queue pair to " + to, "close it and create another");
        }
    }

    /// Queries the device for the queue pair (ibv_query_qp(3)): its state, also as
    /// [QueuePairAttributes#currentState()], its [QueuePairAttributes#sizes()], and the attributes that were
    /// set since it was in RESET. Drivers without this query (siw, libmana) report the values that were set;
    /// others may report larger ones, and the packet sequence numbers of the next packets. Blocks as long as
    /// the device does.
    public QueuePairAttributes query() {
        sendLock.lock();
        try {
            lifetime.checkOpen();
            QueuePairAttributes known = new QueuePairAttributes();
            known.apply(attributes);
            QueuePairAttributes actual = driver.query(known.state(state).sizes(sizes));
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
    public int post(SendBatch batch) {
        return post(batch, 0);
    }

    /// Posts the requests of `batch` from index `first` on; see [#post(SendBatch)].
    ///
    /// @return how many requests were posted
    /// @throws IndexOutOfBoundsException if `first` is larger than the size of the batch
    public int post(SendBatch batch, int first) {
        return post(batch, first, batch.size() - first);
    }

    /// Posts `count` requests of `batch` from index `first` on; see [#post(SendBatch)].
    ///
    /// @return how many requests were posted
    /// @throws IndexOutOfBoundsException if the batch does not hold that many
    public int post(SendBatch batch, int first, int count) {
        Objects.checkFromIndexSize(first, count, batch.size());
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
        lifetime.checkOpen();
        QueuePairState now = state;
        if (now.code() < QueuePairState.READY_TO_SEND.code()) {
            throw notReady(POST_SEND, now, "connect it first");
        }
        batch.beginPost();
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
        SendRequest[] requests = batch.requests();
        int end = first + count;
        SendRequest last = requests[end - 1];
        if (accounted) {
            for (int i = first; i < end; i++) {
                depth.take(isSignaled(requests[i].flags));
            }
        }
        int taken = 0;
        try {
            taken = driver.postSends(requests, first, count);
            if (taken < count) {
                int next = first + taken;
                taken += driver.postSends(batch.chain(next, end), next, end - next);
            }
        } catch (WorkRequestException e) {
            taken = e.index() - first;
            throw e;
        } finally {
            if (accounted && taken < count) {
                giveBack(requests, first + taken, end);
            }
        }
        if (accounted && last.endedAtOnce) {
            // All requests before it have ended, too.
            depth.endedAtOnce();
        }
        return taken;
    }

    private void giveBack(SendRequest[] requests, int first, int end) {
        int signals = 0;
        for (int i = first; i < end; i++) {
            signals += isSignaled(requests[i].flags) ? 1 : 0;
        }
        sendDepth.untake(end - first, signals);
    }

    private boolean isSignaled(int flags) {
        return signalAll || (flags & SendRequestLayout.FLAG_SIGNALED) != 0;
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

    /// Executes the first of some requests before it returns, without completions and slots of the queue, as many
    /// as the device can execute now: the software device can execute most requests to a peer on this host, if none
    /// that was posted waits. The effect is that of posting them unsignaled, and so are the checks. Never on a
    /// queue pair that signals all requests. Thread-safe, even if the queue pair was created single-threaded. Never
    /// blocks, never allocates.
    ///
    /// @param requests the first `count`, in this order
    /// @return how many have succeeded. Post those from this index on in a [SendBatch], which also shows
    ///         what is wrong with the next one
    public int executeAtOnce(PlainRequest[] requests, int count) {
        sendLock.lock();
        try {
            boolean ready = !signalAll && state == QueuePairState.READY_TO_SEND && lifetime.isOpen();
            return ready && accepts(requests, count) ? driver.executeAtOnce(requests, count) : 0;
        } finally {
            sendLock.unlock();
        }
    }

    private boolean accepts(PlainRequest[] requests, int count) {
        int opcodes = 0;
        int elements = 0;
        for (int i = 0; i < count; i++) {
            opcodes |= 1 << requests[i].opcode;
            elements = Math.max(elements, requests[i].elements);
        }
        return elements <= 1 && sendChecks.accept(opcodes, elements, 0, 0);
    }

    /// Maps memory of the peer into this process, if the peer is on this host and has registered the memory with
    /// [AccessFlag#DIRECT_VIEW]: loads and stores of this program then reach it at the speed of memory, without
    /// operations, completions and their order. There is no verb for it; in UCX it is `ucp_rkey_ptr`. Blocks for as
    /// long as the system needs to map a file. Each call maps the memory again, so keep the result.
    ///
    /// The view can be written to if the peer gives [AccessFlag#REMOTE_WRITE], too. The rights are checked now, and
    /// not at each access. A peer that deregisters the memory, closes, dies or stops does not end the view: it then
    /// shows memory that nobody else uses, or that the peer uses for something else. The view ends when this queue
    /// pair is closed; later accesses throw [IllegalStateException]. Only if a system call of the program uses it
    /// at that moment, such as [java.nio.channels.FileChannel#write], it stays until the process ends.
    ///
    /// If the peer truncates the file of the memory, which no program does by means of this library, an access
    /// throws [InternalError], which may happen late ([java.nio.MappedByteBuffer]). In that case alone,
    /// [MemorySegment#mismatch], comparisons of buffers and a [java.util.zip.Checksum] end the process, because the
    /// JDK does not guard them: copy the data first if you do not trust the peer.
    ///
    /// @param address as in a READ
    /// @param length in bytes, at least 1
    /// @param remoteKey the key of a region; that of a window gives no view
    /// @return null if the peer is not on this host or not connected, if it does not allow this, or if it did not
    ///         let its device allocate the memory ([ProtectionDomain#allocate(long, Set)])
    /// @throws VerbException ENOMEM if the system cannot map the memory
    /// @throws IllegalArgumentException if the length is less than 1
    public @Nullable MemorySegment directView(long address, long length, int remoteKey) {
        Checks.range("length of a direct view", length, 1, Long.MAX_VALUE);
        sendLock.lock();
        try {
            lifetime.checkOpen();
            Arena arena = views == null ? Arena.ofShared() : views;
            views = arena;
            return state == QueuePairState.READY_TO_SEND ? driver.directView(address, length, remoteKey, arena) : null;
        } finally {
            sendLock.unlock();
        }
    }

    /// Posts the receives of `batch` (ibv_post_recv(3)). Never blocks, never allocates. Allowed from INIT on.
    ///
    /// @return how many receives were posted; if fewer than the batch holds, the queue is full until completions
    ///         are polled
    /// @throws QueuePairStateException if the state is RESET
    /// @throws VerbException EINVAL if the queue pair takes its receives from a shared receive queue
    /// @throws WorkRequestException if a receive does not fit this queue pair or the device rejects it; the
    ///         receives before it were posted
    public int post(ReceiveBatch batch) {
        return post(batch, batch.size());
    }

    /// Posts the first `count` receives of `batch`; see [#post(ReceiveBatch)].
    ///
    /// @return how many receives were posted
    /// @throws IndexOutOfBoundsException if the batch does not hold that many
    public int post(ReceiveBatch batch, int count) {
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
        lifetime.checkOpen();
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
        RequestChain receives = batch.chain();
        receives.endAfter(count - 1);
        int taken = driver.postReceives(receives, 0, count);
        receiveDepth.take(taken);
        return taken;
    }

    /// Binds a memory window of type 1 to a part of a region (ibv_bind_mw(3)): a request in the send queue, whose
    /// completion reports the result. Length zero unbinds the window. The remote key of the window changes
    /// immediately.
    ///
    /// @param flags 1 (fenced) and 2 (signaled), or-ed (`enum ibv_send_flags`)
    /// @throws VerbException EINVAL if the window is of type 2, EPERM if window or region belong to another
    ///         protection domain, ENOMEM if the send queue is full
    public void bind(
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
            lifetime.checkOpen();
            window.lifetime().checkOpen();
            region.lifetime().checkOpen();
            if (window.type() != MemoryWindowType.TYPE_1) {
                throw new VerbException(operation, Errno.EINVAL, window + " is of type 2; bind it with a work request");
            }
            if (!window.lifetime().isChildOf(protectionDomain.lifetime())
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
                driver.bind(workId, window.driver(), region.driver(), region.address() + offset, length, rights, flags);
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
    void retire(boolean receive) {
        if (receive) {
            receiveDepth.retire();
        } else {
            sendDepth.retire();
        }
    }

    /// A failed completion of this queue pair was polled.
    void failurePolled(long workId) {
        driver.failurePolled(workId);
    }

    /// The completion of a memory window binding was polled.
    void bindingPolled(long workId) {
        driver.bindingPolled(workId);
    }

    private void release() {
        sendLock.lock();
        receiveLock.lock();
        try {
            protectionDomain.context().queuePairs().remove(number(), this);
            groups.detachAll(driver::detach);
            driver.close();
            state = QueuePairState.RESET;
            SharedReceiveQueue shared = options.sharedReceives();
            if (shared != null) {
                shared.leave(receiveDepth);
            }
            if (views != null) {
                // Fails while a system call of the program uses a view, which then stays.
                Closer.step(this, views::close);
            }
        } finally {
            receiveLock.unlock();
            sendLock.unlock();
        }
    }

    Lifetime lifetime() {
        return lifetime;
    }

    @Override
    public boolean isOpen() {
        return lifetime.isOpen();
    }

    @Override
    public void close() {
        lifetime.close();
    }

    @Override
    public String toString() {
        return "queue pair 0x" + Integer.toHexString(number()) + " on " + protectionDomain.context();
    }

    private QueuePairStateException notReady(String operation, QueuePairState now, String hint) {
        return new QueuePairStateException(operation, now, this + " is in state " + now + "; " + hint);
    }

    /// Receives the reports of the driver.
    private final class Reports implements QueuePairOwner {
        /// False while the driver is being created.
        private volatile boolean complete;

        @Override
        public void lockSends() {
            sendLock.lock();
        }

        @Override
        public boolean tryLockSends() {
            return sendLock.tryLock();
        }

        @Override
        public void unlockSends() {
            sendLock.unlock();
        }

        @Override
        public void lockReceives() {
            receiveLock.lock();
        }

        @Override
        public void unlockReceives() {
            receiveLock.unlock();
        }

        @Override
        public QueuePairState state() {
            return state;
        }

        @Override
        public boolean isOpen() {
            return complete && lifetime.isOpen();
        }

        @Override
        public void entered(QueuePairState now) {
            state = now;
        }

        @Override
        public void peerDoesNotSupport(Set<SendOpcode> missing, String why) {
            sendChecks = sendChecks.withPeerThatLacks(missing, why);
        }

        @Override
        public void learned(QueuePairAttributes actual) {
            sendLock.lock();
            try {
                attributes.apply(actual);
            } finally {
                sendLock.unlock();
            }
        }

        @Override
        public void fail() {
            try {
                modify(new QueuePairAttributes().state(QueuePairState.ERROR));
            } catch (QueuePairStateException | IllegalStateException e) {
                // It was closed meanwhile, or has not been used.
            }
        }

        @Override
        public String toString() {
            return complete ? QueuePair.this.toString() : "new queue pair on " + protectionDomain.context();
        }
    }
}
