package io.rdmacomm.testing;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.GidEntry;
import io.rdmacomm.verbs.GidType;
import io.rdmacomm.verbs.LinkLayer;
import io.rdmacomm.verbs.PageSize;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.PortState;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;
import io.rdmacomm.verbs.TransportType;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.AddressHandleDriver;
import io.rdmacomm.verbs.spi.CompletionChannelDriver;
import io.rdmacomm.verbs.spi.CompletionLayout;
import io.rdmacomm.verbs.spi.CompletionQueueDriver;
import io.rdmacomm.verbs.spi.ConnectionManagerDriver;
import io.rdmacomm.verbs.spi.ContextDriver;
import io.rdmacomm.verbs.spi.DeviceDriver;
import io.rdmacomm.verbs.spi.DeviceValues;
import io.rdmacomm.verbs.spi.Driver;
import io.rdmacomm.verbs.spi.DriverEvent;
import io.rdmacomm.verbs.spi.MemoryRegionDriver;
import io.rdmacomm.verbs.spi.PortValues;
import io.rdmacomm.verbs.spi.ProtectionDomainDriver;
import io.rdmacomm.verbs.spi.QueuePairDriver;
import io.rdmacomm.verbs.spi.QueuePairRequest;
import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.SharedReceiveQueueDriver;
import io.rdmacomm.verbs.spi.WaitGroupDriver;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// A device that does nothing by itself, so that tests see what the layers above do. Tests say what has completed, and
/// see what reached the drivers. Subclasses have the queues to which work is posted.
public abstract class DeviceStub implements DeviceDriver {
    public final Set<Capability> capabilities = EnumSet.allOf(Capability.class);
    public final List<String> log = new ArrayList<>();
    public final List<GidEntry> gids = new ArrayList<>(List.of(new GidEntry(0, new Gid(1, 2), GidType.UNKNOWN, 0)));
    public LinkLayer linkLayer = LinkLayer.INFINIBAND;
    /// How often the device was queried.
    public int queries;
    /// The completion vectors of the completion queues.
    public final List<Integer> vectors = new ArrayList<>();
    /// The handles of the completion queues, or of the channels of a wait group, whose events are next.
    public final Queue<Long> events = new ArrayDeque<>();
    /// The handles of the channels that were closed.
    public final Set<Long> closedChannels = ConcurrentHashMap.newKeySet();
    /// How many events were acknowledged.
    public int acknowledged;

    private final String provider;
    private final Map<DeviceLimit, Long> limits;
    private final Queue<Completion> completions = new ArrayDeque<>();
    private long handles;

    private record Completion(long workId, WorkStatus status, CompletionOpcode opcode, int queuePair) {}

    protected DeviceStub(String provider, Map<DeviceLimit, Long> limits) {
        this.provider = provider;
        this.limits = limits;
    }

    protected abstract SharedReceiveQueueDriver createSharedReceiveQueue(SharedReceiveQueueOptions options);

    protected abstract QueuePairDriver createQueuePair(QueuePairRequest request);

    protected WaitGroupDriver createWaitGroup() {
        throw new UnsupportedOperationException("wait groups on " + name());
    }

    /// Null if the device has none.
    protected @Nullable ConnectionManagerDriver openConnectionManager() {
        return null;
    }

    /// The next poll of any completion queue finds this, too.
    public final void complete(long workId, WorkStatus status, CompletionOpcode opcode, int queuePair) {
        completions.add(new Completion(workId, status, opcode, queuePair));
    }

    /// Adds the work IDs of `count` requests to those that were posted.
    protected static int take(RequestChain chain, int first, int count, List<Long> workIds) {
        for (int i = first; i < first + count; i++) {
            workIds.add(chain.segment().get(JAVA_LONG, chain.at(i)));
        }
        return count;
    }

    @Override
    public final String name() {
        return provider + 0;
    }

    @Override
    public final String provider() {
        return provider;
    }

    @Override
    public final long guid() {
        return 1;
    }

    @Override
    public final TransportType transport() {
        return TransportType.INFINIBAND;
    }

    @Override
    public final ContextDriver open() {
        return new ContextStub();
    }

    /// The base of the drivers.
    public class DriverStub implements Driver {
        private final String name;
        private final long handle = ++handles;

        /// @param kind begins the name
        public DriverStub(String kind) {
            this.name = kind + " on " + DeviceStub.this.name();
        }

        public final long handle() {
            return handle;
        }

        @Override
        public void close() {}

        @Override
        public final String toString() {
            return name;
        }
    }

    private final class ContextStub implements ContextDriver {
        @Override
        public String toString() {
            return name();
        }

        @Override
        public void close() {}

        @Override
        public boolean supports(Capability capability) {
            return capabilities.contains(capability);
        }

        @Override
        public DeviceValues queryDevice() {
            queries++;
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
            values.activeMtu = PathMtu.MTU_1024;
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
            return new DomainStub();
        }

        @Override
        public CompletionChannelDriver createCompletionChannel() {
            return new ChannelStub();
        }

        @Override
        public WaitGroupDriver createWaitGroup() {
            return DeviceStub.this.createWaitGroup();
        }

        @Override
        public CompletionQueueDriver createCompletionQueue(
                int capacity, @Nullable CompletionChannelDriver channel, int vector) {
            vectors.add(vector);
            return new CompletionQueueStub(capacity);
        }

        @Override
        public @Nullable DriverEvent awaitEvent(long timeoutNanos) {
            return null;
        }

        @Override
        public ConnectionManagerDriver openConnectionManager() {
            ConnectionManagerDriver connections = DeviceStub.this.openConnectionManager();
            return connections == null ? ContextDriver.super.openConnectionManager() : connections;
        }
    }

    private final class ChannelStub extends DriverStub implements CompletionChannelDriver {
        ChannelStub() {
            super("completion channel");
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

    private final class CompletionQueueStub extends DriverStub implements CompletionQueueDriver {
        private final int capacity;

        CompletionQueueStub(int capacity) {
            super("completion queue of " + capacity);
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

    private final class DomainStub extends DriverStub implements ProtectionDomainDriver {
        DomainStub() {
            super("protection domain");
        }

        @Override
        public MemoryRegionDriver allocate(long bytes, int access, PageSize pages) {
            return register(Arena.ofAuto().allocate(bytes, 64), access);
        }

        @Override
        public MemoryRegionDriver register(MemorySegment segment, int access) {
            return new RegionStub(segment);
        }

        @Override
        public MemoryRegionDriver map(MemorySegment file, Arena mapping, int access) {
            return new RegionStub(file);
        }

        @Override
        public SharedReceiveQueueDriver createSharedReceiveQueue(int receives, int elements, int limit) {
            return DeviceStub.this.createSharedReceiveQueue(SharedReceiveQueueOptions.ofDepth(receives)
                    .withElements(elements)
                    .withLimit(limit));
        }

        @Override
        public AddressHandleDriver createAddressHandle(AddressVector vector) {
            log.add("address " + vector);
            return new AddressStub();
        }

        @Override
        public QueuePairDriver createQueuePair(QueuePairRequest request) {
            return DeviceStub.this.createQueuePair(request);
        }
    }

    private final class AddressStub extends DriverStub implements AddressHandleDriver {
        AddressStub() {
            super("address handle");
        }
    }

    private final class RegionStub extends DriverStub implements MemoryRegionDriver {
        private final MemorySegment segment;

        RegionStub(MemorySegment segment) {
            super("memory region 0x42");
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
}
