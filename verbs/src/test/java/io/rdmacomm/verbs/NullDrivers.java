package io.rdmacomm.verbs;

import static io.rdmacomm.verbs.PathMtu.MTU_1024;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.spi.AddressHandleDriver;
import io.rdmacomm.verbs.spi.CompletionChannelDriver;
import io.rdmacomm.verbs.spi.CompletionLayout;
import io.rdmacomm.verbs.spi.CompletionQueueDriver;
import io.rdmacomm.verbs.spi.ConnectionDriver;
import io.rdmacomm.verbs.spi.ConnectionManagerDriver;
import io.rdmacomm.verbs.spi.ConnectionRequestDriver;
import io.rdmacomm.verbs.spi.ContextDriver;
import io.rdmacomm.verbs.spi.DeviceDriver;
import io.rdmacomm.verbs.spi.DeviceValues;
import io.rdmacomm.verbs.spi.Driver;
import io.rdmacomm.verbs.spi.DriverEvent;
import io.rdmacomm.verbs.spi.ListenerDriver;
import io.rdmacomm.verbs.spi.MemoryRegionDriver;
import io.rdmacomm.verbs.spi.PortValues;
import io.rdmacomm.verbs.spi.ProtectionDomainDriver;
import io.rdmacomm.verbs.spi.QueuePairDriver;
import io.rdmacomm.verbs.spi.QueuePairOwner;
import io.rdmacomm.verbs.spi.QueuePairRequest;
import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.RouteDriver;
import io.rdmacomm.verbs.spi.SendRequest;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import io.rdmacomm.verbs.spi.SharedReceiveQueueDriver;
import io.rdmacomm.verbs.spi.WaitGroupDriver;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// Drivers that accept everything and do nothing, so that tests see what the layer above all providers does by itself.
/// Tests say what has completed and arrived, and see what reached the drivers.
final class NullDrivers implements DeviceDriver {
    static final InetSocketAddress ADDRESS = new InetSocketAddress(InetAddress.getLoopbackAddress(), 7174);

    final EnumSet<Capability> capabilities = EnumSet.allOf(Capability.class);
    final List<String> log = new ArrayList<>();
    final List<GidEntry> gids = new ArrayList<>(List.of(new GidEntry(0, new Gid(1, 2), GidType.UNKNOWN, 0)));
    LinkLayer linkLayer = LinkLayer.INFINIBAND;
    int queries;

    /// By number.
    final Map<Integer, NullQueuePair> queuePairs = new HashMap<>();
    int nextNumber = 0x11;
    /// The newest.
    @Nullable
    NullSharedQueue sharedQueue;

    /// The handles of the completion queues, or of the channels of a wait group, whose events are next.
    final Queue<Long> events = new ArrayDeque<>();
    /// The handles of the channels in wait groups.
    final Set<Long> members = new HashSet<>();
    /// Is called when a channel is about to leave a wait group.
    Runnable onLeave = () -> {};
    /// The handles of the channels that were closed.
    final Set<Long> closedChannels = ConcurrentHashMap.newKeySet();
    int acknowledged;
    private final Queue<Completion> completions = new ArrayDeque<>();
    private final Queue<ConnectionRequestDriver> requests = new ArrayDeque<>();
    private long handles;

    private record Completion(long workId, WorkStatus status, CompletionOpcode opcode, int queuePair) {}

    /// The next poll of any completion queue finds this, too.
    void complete(long workId, WorkStatus status, CompletionOpcode opcode, int queuePair) {
        completions.add(new Completion(workId, status, opcode, queuePair));
    }

    /// The next wait of any listener finds a request.
    void request() {
        requests.add(new NullEnd("connection request", "release request", new byte[0]));
    }

    @Override
    public String name() {
        return "null0";
    }

    @Override
    public String provider() {
        return "null";
    }

    @Override
    public long guid() {
        return 1;
    }

    @Override
    public TransportType transport() {
        return TransportType.UNKNOWN;
    }

    @Override
    public ContextDriver open() {
        return new NullContext();
    }

    /// What they have in common.
    class NullObject implements Driver {
        private final String name;
        private final long handle = ++handles;

        NullObject(String name) {
            this.name = name;
        }

        public long handle() {
            return handle;
        }

        @Override
        public void close() {}

        @Override
        public String toString() {
            return name;
        }
    }

    private final class NullContext extends NullObject implements ContextDriver {
        NullContext() {
            super("null0");
        }

        @Override
        public boolean supports(Capability capability) {
            return capabilities.contains(capability);
        }

        @Override
        public DeviceValues queryDevice() {
            queries++;
            Map<DeviceLimit, Long> limits = Map.of(
                    DeviceLimit.MAX_SHARED_RECEIVE_QUEUE_DEPTH, 100L,
                    DeviceLimit.MAX_QUEUE_PAIR_DEPTH, 64L,
                    DeviceLimit.MAX_SGE, 4L,
                    DeviceLimit.MAX_COMPLETION_QUEUE_DEPTH, 1000L,
                    DeviceLimit.COMPLETION_VECTORS, 2L);
            DeviceValues values = new DeviceValues();
            values.firmware = "1";
            values.nodeGuid = 1;
            values.systemImageGuid = 1;
            values.ports = 1;
            values.limits = limits;
            return values;
        }

        @Override
        public PortValues queryPort(int number) {
            PortValues values = new PortValues();
            values.state = PortState.ACTIVE;
            values.activeMtu = MTU_1024;
            values.lid = 5;
            values.gidTableLength = 1;
            values.partitionKeyTableLength = 1;
            values.maxMessageSize = 1L << 31;
            values.linkLayer = linkLayer;
            return values;
        }

        @Override
        public Gid queryGid(int port, int index) {
            return gids.stream()
                    .filter(entry -> entry.index() == index)
                    .map(GidEntry::gid)
                    .findFirst()
                    .orElse(Gid.NONE);
        }

        @Override
        public List<GidEntry> queryGidTable(int port) {
            return gids;
        }

        @Override
        public int queryPartitionKey(int port, int index) {
            return 0xffff;
        }

        @Override
        public ProtectionDomainDriver allocateProtectionDomain() {
            return new NullDomain();
        }

        @Override
        public CompletionChannelDriver createCompletionChannel() {
            return new NullChannel();
        }

        @Override
        public WaitGroupDriver createWaitGroup() {
            return new NullGroup();
        }

        @Override
        public CompletionQueueDriver createCompletionQueue(
                int capacity, @Nullable CompletionChannelDriver channel, int vector) {
            return new NullQueue(capacity);
        }

        @Override
        public @Nullable DriverEvent awaitEvent(long timeoutNanos) {
            return null;
        }

        @Override
        public ConnectionManagerDriver openConnectionManager() {
            return new NullConnections();
        }
    }

    private final class NullChannel extends NullObject implements CompletionChannelDriver {
        NullChannel() {
            super("completion channel on null0");
        }

        @Override
        public long awaitEvent(long timeoutNanos) {
            return events.isEmpty() ? 0 : events.remove();
        }

        @Override
        public void wakeUp() {}

        @Override
        public void close() {
            closedChannels.add(handle());
        }
    }

    private final class NullGroup extends NullObject implements WaitGroupDriver {
        NullGroup() {
            super("wait group on null0");
        }

        @Override
        public void add(CompletionChannelDriver channel) {
            members.add(channel.handle());
        }

        @Override
        public void remove(CompletionChannelDriver channel) {
            onLeave.run();
            members.remove(channel.handle());
        }

        @Override
        public long await(long timeoutNanos) {
            return events.isEmpty() ? 0 : events.remove();
        }

        @Override
        public void wakeUp() {}
    }

    private final class NullQueue extends NullObject implements CompletionQueueDriver {
        private final int capacity;

        NullQueue(int capacity) {
            super("completion queue of " + capacity + " on null0");
            this.capacity = capacity;
        }

        @Override
        public int capacity() {
            return capacity;
        }

        @Override
        public int poll(MemorySegment into, int max) {
            int count = 0;
            while (count < max && !completions.isEmpty()) {
                Completion next = completions.remove();
                long at = (long) count * CompletionLayout.BYTES;
                into.set(JAVA_LONG, at + CompletionLayout.WORK_ID, next.workId());
                into.set(JAVA_INT, at + CompletionLayout.STATUS, next.status().code());
                into.set(JAVA_INT, at + CompletionLayout.OPCODE, next.opcode().code());
                into.set(JAVA_INT, at + CompletionLayout.QUEUE_PAIR_NUMBER, next.queuePair());
                count++;
            }
            return count;
        }

        @Override
        public void arm(boolean solicitedOnly) {}

        @Override
        public void acknowledge(int count) {
            acknowledged += count;
        }
    }

    private final class NullDomain extends NullObject implements ProtectionDomainDriver {
        NullDomain() {
            super("protection domain on null0");
        }

        @Override
        public MemoryRegionDriver allocate(long bytes, int access, PageSize pages) {
            return register(Arena.ofAuto().allocate(bytes), access);
        }

        @Override
        public MemoryRegionDriver register(MemorySegment segment, int access) {
            return new NullRegion(segment);
        }

        @Override
        public SharedReceiveQueueDriver createSharedReceiveQueue(int receives, int elements, int limit) {
            sharedQueue = new NullSharedQueue(SharedReceiveQueueOptions.ofDepth(receives)
                    .withElements(elements)
                    .withLimit(limit));
            return sharedQueue;
        }

        @Override
        public AddressHandleDriver createAddressHandle(AddressVector vector) {
            log.add("address " + vector);
            return new NullAddress();
        }

        @Override
        public QueuePairDriver createQueuePair(QueuePairRequest request) {
            NullQueuePair queuePair = new NullQueuePair(nextNumber++, request);
            queuePairs.put(queuePair.number, queuePair);
            return queuePair;
        }
    }

    private final class NullAddress extends NullObject implements AddressHandleDriver {
        NullAddress() {
            super("address handle on null0");
        }
    }

    private final class NullRegion extends NullObject implements MemoryRegionDriver {
        private final MemorySegment segment;

        NullRegion(MemorySegment segment) {
            super("memory region 0x42 on null0");
            this.segment = segment;
        }

        @Override
        public MemorySegment segment() {
            return segment;
        }

        @Override
        public int localKey() {
            return 0x42;
        }

        @Override
        public int remoteKey() {
            return 0x43;
        }

        @Override
        public void reregister(@Nullable MemorySegment memory, @Nullable ProtectionDomainDriver domain, int access) {}
    }

    final class NullSharedQueue extends NullObject implements SharedReceiveQueueDriver {
        private final SharedReceiveQueueOptions options;
        Runnable whilePosting = () -> {};
        int size;
        volatile boolean gone;

        NullSharedQueue(SharedReceiveQueueOptions options) {
            super("shared receive queue on null0");
            this.options = options;
        }

        @Override
        public int post(RequestChain receives, int first, int count) {
            assertThat(chained(receives, first)).as("receives in the chain").isEqualTo(count);
            whilePosting.run();
            return count;
        }

        @Override
        public void armLimit(int limit) {}

        @Override
        public SharedReceiveQueueOptions query() {
            return options;
        }

        @Override
        public long resize(int receives, long mostPosted) {
            size = receives;
            return 0;
        }

        @Override
        public void close() {
            gone = true;
        }
    }

    final class NullQueuePair extends NullObject implements QueuePairDriver {
        final QueuePairOwner owner;
        final List<Long> sent = new ArrayList<>();
        final List<Long> received = new ArrayList<>();
        final List<Long> failed = new ArrayList<>();
        final List<QueuePairAttributes> changes = new ArrayList<>();
        final List<String> memberships = new ArrayList<>();
        final List<Long> plain = new ArrayList<>();
        int takeAtMost = Integer.MAX_VALUE;
        int plainAtMost;
        boolean rejectModify;

        @Nullable
        VerbException failure;

        private final int number;
        private final QueueSizes sizes;

        NullQueuePair(int number, QueuePairRequest request) {
            super("queue pair 0x" + Integer.toHexString(number) + " on null0");
            this.number = number;
            this.sizes = request.sizes();
            this.owner = request.owner();
        }

        private void failIfTold() {
            if (failure != null) {
                throw failure;
            }
        }

        @Override
        public int number() {
            return number;
        }

        @Override
        public QueueSizes sizes() {
            return sizes;
        }

        @Override
        public void modify(
                QueuePairState from, QueuePairState to, QueuePairAttributes change, QueuePairAttributes effective) {
            if (rejectModify) {
                throw new VerbException("modify queue pair (ibv_modify_qp)", Errno.EIO, "the device is gone");
            }
            changes.add(change);
        }

        @Override
        public int postSends(RequestChain requests, int first, int count) {
            failIfTold();
            assertThat(chained(requests, first)).as("requests in the chain").isEqualTo(count);
            return take(requests, first, count, sent);
        }

        @Override
        public int postSends(SendRequest[] requests, int first, int count) {
            int taken = Math.min(count, plainAtMost);
            for (int i = first; i < first + taken; i++) {
                plain.add(requests[i].workId);
            }
            return taken;
        }

        @Override
        public int postReceives(RequestChain receives, int first, int count) {
            return take(receives, first, count, received);
        }

        private int take(RequestChain chain, int first, int count, List<Long> workIds) {
            int taken = Math.min(count, takeAtMost);
            for (int i = first; i < first + taken; i++) {
                workIds.add(chain.segment().get(JAVA_LONG, chain.at(i)));
            }
            return taken;
        }

        @Override
        public void attach(Gid group, int lid) {
            failIfTold();
            memberships.add("attach " + group + " " + lid);
        }

        @Override
        public void detach(Gid group, int lid) {
            memberships.add("detach " + group + " " + lid);
        }

        @Override
        public void failurePolled(long workId) {
            failed.add(workId);
        }

        @Override
        public void close() {
            memberships.add("destroy");
        }
    }

    /// How many requests follow one another as a device reads them, from one on.
    private static int chained(RequestChain chain, int first) {
        int count = 1;
        long at = chain.at(first);
        while (chain.segment().get(JAVA_LONG, at + SendRequestLayout.NEXT) != 0) {
            at = chain.segment().get(JAVA_LONG, at + SendRequestLayout.NEXT)
                    - chain.segment().address();
            count++;
        }
        return count;
    }

    private final class NullConnections extends NullObject implements ConnectionManagerDriver {
        NullConnections() {
            super("connection manager of null0");
        }

        @Override
        public int privateDataLimit() {
            return 4;
        }

        @Override
        public ListenerDriver<ConnectionRequestDriver> listen(
                InetSocketAddress address, int backlog, IdentifierOptions options) {
            log.add("listen " + backlog);
            return new NullListener();
        }

        @Override
        public RouteDriver resolve(InetSocketAddress destination, IdentifierOptions options, long timeoutNanos) {
            log.add("resolve");
            return new NullEnd("route", "close route", new byte[0]);
        }

        @Override
        public void close() {
            log.add("close manager");
        }
    }

    private final class NullListener extends NullObject implements ListenerDriver<ConnectionRequestDriver> {
        NullListener() {
            super("listener on null0");
        }

        @Override
        public InetSocketAddress localAddress() {
            return ADDRESS;
        }

        @Override
        public @Nullable ConnectionRequestDriver awaitRequest(long timeoutNanos) {
            return requests.poll();
        }
    }

    /// One end of a connection, in any of its stages.
    private final class NullEnd extends NullObject implements RouteDriver, ConnectionRequestDriver, ConnectionDriver {
        private final String lastWords;
        private final byte[] privateData;
        private final CompletableFuture<String> ended = new CompletableFuture<>();

        NullEnd(String kind, String lastWords, byte[] privateData) {
            super(kind + " on null0");
            this.lastWords = lastWords;
            this.privateData = privateData;
        }

        @Override
        public InetSocketAddress localAddress() {
            return ADDRESS;
        }

        @Override
        public InetSocketAddress remoteAddress() {
            return ADDRESS;
        }

        @Override
        public byte[] privateData() {
            return privateData.clone();
        }

        @Override
        public int responderResources() {
            return 1;
        }

        @Override
        public int initiatorDepth() {
            return 1;
        }

        @Override
        public void prepare(QueuePair queuePair) {
            queuePair.modify(QueuePairFixture.init());
        }

        @Override
        public ConnectionDriver connect(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos) {
            return new NullEnd("connection", "close connection", parameters.privateData());
        }

        @Override
        public ConnectionDriver accept(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos) {
            return connect(queuePair, parameters, timeoutNanos);
        }

        @Override
        public void reject(byte[] with) {
            log.add("reject with " + with.length + " bytes");
        }

        @Override
        public @Nullable String disconnectReason() {
            return ended.getNow(null);
        }

        @Override
        public void disconnect() {
            ended.complete("disconnected here");
        }

        @Override
        public CompletableFuture<String> ended() {
            return ended;
        }

        @Override
        public void close() {
            log.add(lastWords);
        }
    }
}
