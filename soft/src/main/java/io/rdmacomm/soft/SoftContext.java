package io.rdmacomm.soft;

import io.rdmacomm.soft.shm.CompletionRing;
import io.rdmacomm.soft.shm.ControlFile;
import io.rdmacomm.soft.shm.ControlLayout;
import io.rdmacomm.soft.shm.Engine;
import io.rdmacomm.soft.shm.KeyTable;
import io.rdmacomm.soft.shm.MappedFile;
import io.rdmacomm.soft.shm.Message;
import io.rdmacomm.soft.shm.Peer;
import io.rdmacomm.soft.shm.SharedWords;
import io.rdmacomm.soft.shm.ShmDirectory;
import io.rdmacomm.verbs.AsyncEvent;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.DeviceAttributes;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PortAttributes;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionManagerProvider;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.BindException;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// An open software device: a folder in shared memory, its control file, its keys, its peers and its engine.
final class SoftContext extends Context implements Engine.Events, ConnectionManagerProvider {
    private static final System.Logger LOGGER = System.getLogger(SoftContext.class.getName());
    private static final Set<Capability> MISSING = EnumSet.of(
            Capability.UNRELIABLE_CONNECTED, Capability.UNRELIABLE_DATAGRAM, Capability.RESIZE_SHARED_RECEIVE_QUEUE);

    private static final int MOST_PORTS = 100;

    private final SoftDevice device;
    private final ShmDirectory directory;
    private final ControlFile control;
    private final KeyTable keys;
    private final Engine engine;
    private final Peers peers;
    private final Stager stager;
    private final Links links;
    private final AsyncEvents asyncEvents = new AsyncEvents();
    private final LocalRegions regions = new LocalRegions();
    private final QueuePairNumbers queuePairNumbers = new QueuePairNumbers();
    private final WaitingQueuePairs waiting = new WaitingQueuePairs();
    private final Set<SoftQueuePair> queuePairs = ConcurrentHashMap.newKeySet();
    private final Map<Integer, SoftCompletionQueue> completionQueues = new ConcurrentHashMap<>();
    private final Map<Integer, SoftSharedReceiveQueue> sharedQueues = new ConcurrentHashMap<>();
    private final Map<Long, SoftMemoryWindow> windows = new ConcurrentHashMap<>();
    private final AtomicInteger numbers = new AtomicInteger();
    private final AtomicLong files = new AtomicLong();

    private SoftContext(SoftDevice device, ShmDirectory directory, ControlFile control, @Nullable Listener listener)
            throws IOException {
        super(device);
        this.device = device;
        this.directory = directory;
        this.control = control;
        this.keys = new KeyTable(control);
        this.engine = new Engine(directory, device.name() + "-" + directory.lid(), this);
        this.peers = new Peers(engine, directory.lid(), device.gid());
        this.stager = new Stager(this);
        this.links = new Links(this, engine, listener);
    }

    static SoftContext open(SoftDevice device) {
        ShmDirectory directory = null;
        try {
            for (int tries = 1; ; tries++) {
                directory = ShmDirectory.claim();
                try {
                    return open(device, directory);
                } catch (BindException e) {
                    // Some other program has the port of this LID.
                    directory.close();
                    if (tries == MOST_PORTS) {
                        throw e;
                    }
                }
            }
        } catch (IOException e) {
            VerbException failure = new VerbException(
                    "open device " + device.name(), Errno.ENOSPC, e.getMessage() + "; " + spaceHint(), e);
            if (directory != null) {
                try {
                    directory.close();
                } catch (IOException closing) {
                    failure.addSuppressed(closing);
                }
            }
            throw failure;
        }
    }

    private static SoftContext open(SoftDevice device, ShmDirectory directory) throws IOException {
        Listener listener = Listener.open(device.settings().address(), directory.lid());
        try {
            ControlFile control = ControlFile.create(
                    directory, device.gid().high(), device.gid().low());
            SoftContext context = new SoftContext(device, directory, control, listener);
            context.engine.start();
            return context;
        } catch (IOException | RuntimeException e) {
            if (listener != null) {
                listener.close();
            }
            throw e;
        }
    }

    private static String spaceHint() {
        return "free some of " + ShmDirectory.root().getParent()
                + ", enlarge it (mount -o remount,size=..., docker run --shm-size=...) or set"
                + " -Drdmacomm.soft.directory";
    }

    VerbException noSpace(String operation, String what, IOException cause) {
        return new VerbException(
                operation, Errno.ENOMEM, "no room for " + what + ": " + cause.getMessage() + "; " + spaceHint(), cause);
    }

    int lid() {
        return directory.lid();
    }

    Gid gid() {
        return device.gid();
    }

    ControlFile control() {
        return control;
    }

    MemorySegment memory() {
        return control.memory();
    }

    KeyTable keys() {
        return keys;
    }

    LocalRegions regions() {
        return regions;
    }

    Peers peers() {
        return peers;
    }

    DeviceSettings settings() {
        return device.settings();
    }

    /// The TCP side.
    Links links() {
        return links;
    }

    /// The queue pair with this number, or null.
    @Nullable
    SoftQueuePair softQueuePair(int number) {
        return queuePair(number) instanceof SoftQueuePair queuePair ? queuePair : null;
    }

    /// A shared receive queue fell below its limit.
    void limitReached(int number) {
        SoftSharedReceiveQueue queue = sharedQueues.get(number);
        if (queue != null) {
            asyncEvents.raise(AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED, queue);
        }
    }

    Stager stager() {
        return stager;
    }

    WaitingQueuePairs waiting() {
        return waiting;
    }

    Engine engine() {
        return engine;
    }

    AsyncEvents asyncEvents() {
        return asyncEvents;
    }

    QueuePairNumbers queuePairNumbers() {
        return queuePairNumbers;
    }

    Set<SoftQueuePair> softQueuePairs() {
        return queuePairs;
    }

    Map<Integer, SoftCompletionQueue> completionQueues() {
        return completionQueues;
    }

    Map<Integer, SoftSharedReceiveQueue> sharedQueues() {
        return sharedQueues;
    }

    Map<Long, SoftMemoryWindow> windows() {
        return windows;
    }

    int nextNumber() {
        return numbers.incrementAndGet();
    }

    long nextFile() {
        return files.incrementAndGet();
    }

    MappedFile createRegionFile(long file, long bytes) throws IOException {
        return MappedFile.create(directory, Peer.regionName(file), bytes);
    }

    boolean isValid(int key) {
        long word = SharedWords.acquire(memory(), ControlLayout.key(key) + ControlLayout.KEY_WORD);
        return (int) word == key && word != 0;
    }

    /// Waits until no operation that began before is still using memory of this context, its own or a peer's.
    ///
    /// @return false if one still is, after a long time
    boolean quiesce() {
        boolean idle = true;
        for (SoftQueuePair queuePair : queuePairs) {
            idle &= queuePair.awaitExecutions();
        }
        return idle;
    }

    /// Tells peers that they can drop their mapping of a region.
    void regionGone(int key) {
        peers.tellAll(Message.REGION_GONE, key >>> 16);
    }

    /// A completion queue of this context had no room.
    void overran(int number) {
        engine.execute(() -> failQueue(number));
    }

    private void failQueue(int number) {
        SoftCompletionQueue queue = completionQueues.get(number);
        if (queue == null) {
            return;
        }
        asyncEvents.raise(AsyncEventType.COMPLETION_QUEUE_ERROR, queue);
        for (SoftQueuePair queuePair : queuePairs) {
            if (queuePair.completesIn(queue)) {
                queuePair.failLocally(AsyncEventType.QUEUE_PAIR_FATAL);
            }
        }
        queue.announce();
    }

    @Override
    public void onMessage(int type, int number, long first, long second) {
        switch (type) {
            case Message.HELLO -> onHello(number, new Gid(first, second));
            case Message.COMPLETION -> {
                SoftCompletionQueue queue = completionQueues.get(number);
                if (queue != null) {
                    queue.announce();
                }
            }
            case Message.FAULT -> {
                if (queuePair(number) instanceof SoftQueuePair queuePair) {
                    queuePair.failLocally(AsyncEventType.of((int) first));
                }
            }
            case Message.OVERRUN -> failQueue(number);
            case Message.LIMIT -> limitReached(number);
            case Message.REGION_GONE -> peers.forgetRegion((int) first, number);
            case Message.ESTABLISHED -> {
                if (queuePair(number) instanceof SoftQueuePair queuePair) {
                    asyncEvents.raise(AsyncEventType.COMMUNICATION_ESTABLISHED, queuePair);
                }
            }
            case Message.STAGE -> stager.serve(peers.known((int) first), second);
            case Message.STAGED -> stager.finished();
            default -> {
                // A later version's message: nothing here depends on it.
            }
        }
    }

    /// A context that can reach this one's memory is watched from here, too.
    private void onHello(int lid, Gid gid) {
        peers.find(gid, lid);
        for (SoftQueuePair queuePair : queuePairs) {
            queuePair.peerAppeared(gid, lid);
        }
    }

    @Override
    public void onPeerGone(Peer peer) {
        peer.markDead();
        for (SoftQueuePair queuePair : queuePairs) {
            try {
                queuePair.peerGone(peer);
            } catch (RuntimeException e) {
                // One queue pair's trouble must not keep the others from being told.
                LOGGER.log(System.Logger.Level.WARNING, queuePair + " could not be failed with its peer", e);
            }
        }
        for (SoftCompletionQueue queue : completionQueues.values()) {
            queue.ring().skipClaims(peer.lid());
        }
        for (SoftCompletionQueue queue : completionQueues.values()) {
            if (!queue.ring().isEmpty()) {
                queue.announceIfArmed();
            }
        }
        peers.remove(peer);
        quiesce();
        peer.close();
    }

    @Override
    public long onTime() {
        return Math.min(waiting.retryDue(), links.onTime());
    }

    @Override
    public ConnectionManager openConnectionManager() {
        return adopt(new SoftConnectionManager(this));
    }

    @Override
    public boolean supports(Capability capability) {
        return !MISSING.contains(capability);
    }

    @Override
    protected DeviceAttributes doQueryDevice() {
        return SoftLimits.device(device);
    }

    @Override
    protected PortAttributes doQueryPort(int number) {
        checkPort("query port (ibv_query_port)", number, 0);
        return SoftLimits.port(lid());
    }

    @Override
    protected Gid doQueryGid(int port, int index) {
        checkPort("query GID (ibv_query_gid)", port, index);
        return device.gid();
    }

    @Override
    protected int doQueryPartitionKey(int port, int index) {
        checkPort("query partition key (ibv_query_pkey)", port, index);
        return 0xffff;
    }

    private void checkPort(String operation, int port, int index) {
        if (port != 1 || index != 0) {
            throw new VerbException(
                    operation,
                    Errno.EINVAL,
                    device + " has port 1 with entry 0, not port " + port + ", entry " + index);
        }
    }

    @Override
    protected ProtectionDomain doAllocateProtectionDomain() {
        return new SoftProtectionDomain(this, nextNumber());
    }

    @Override
    protected CompletionChannel doCreateCompletionChannel() {
        return new SoftCompletionChannel(this);
    }

    @Override
    protected CompletionQueue doCreateCompletionQueue(CompletionQueueOptions options) {
        return new SoftCompletionQueue(this, options);
    }

    @Override
    protected @Nullable AsyncEvent doAwaitAsyncEvent(long timeoutNanos) throws InterruptedException {
        return asyncEvents.await(timeoutNanos);
    }

    @Override
    protected void onClosing() {
        asyncEvents.close();
    }

    @Override
    protected void doCloseDevice() {
        stager.close();
        try (directory) {
            engine.close();
            links.close();
            peers.close();
            control.close();
        } catch (IOException e) {
            throw new VerbException("close device " + device.name(), Errno.EIO, "removing its shared memory", e);
        }
    }

    /// The number that wakes the queue behind a completion that was pushed to a peer, as a message.
    static void announceRemote(Peer peer, long queue, int result) {
        if (result == CompletionRing.NOTIFY) {
            peer.tell(Message.COMPLETION, CompletionRing.number(peer.memory(), queue), 0, 0);
        } else if (result == CompletionRing.OVERRUN) {
            peer.tell(Message.OVERRUN, CompletionRing.number(peer.memory(), queue), 0, 0);
        }
    }
}
