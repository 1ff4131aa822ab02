package io.rdmacomm.comm;

import static io.rdmacomm.verbs.PathMtu.MTU_1024;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.LinkLayer;
import io.rdmacomm.verbs.PageSize;
import io.rdmacomm.verbs.PortState;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;
import io.rdmacomm.verbs.TransportType;
import io.rdmacomm.verbs.WorkStatus;
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
import org.jspecify.annotations.Nullable;

/// A device that takes every request and never completes one, not even when its queue pair goes to ERROR. Tests supply
/// completions with [#complete], and its connection manager.
public final class SilentDevice implements DeviceDriver {
    private static final int NUMBER = 0x11;

    public final Set<Capability> capabilities = EnumSet.complementOf(EnumSet.of(Capability.FLUSH_IN_ERROR));
    public final List<Long> sends = new ArrayList<>();
    public final List<Long> receives = new ArrayList<>();
    public final List<Integer> limits = new ArrayList<>();
    public final List<Integer> vectors = new ArrayList<>();
    public final List<String> log = new ArrayList<>();
    private final @Nullable ConnectionManagerDriver connections;
    private final Queue<Completion> completions = new ArrayDeque<>();
    private int queuePairs;
    private long handles;

    private record Completion(long workId, WorkStatus status, CompletionOpcode opcode, int number) {}

    public SilentDevice() {
        this(null);
    }

    public SilentDevice(@Nullable ConnectionManagerDriver connections) {
        this.connections = connections;
    }

    public void complete(long workId, WorkStatus status, CompletionOpcode opcode) {
        complete(workId, status, opcode, NUMBER);
    }

    public void complete(long workId, WorkStatus status, CompletionOpcode opcode, int queuePair) {
        completions.add(new Completion(workId, status, opcode, queuePair));
    }

    @Override
    public String name() {
        return "silent0";
    }

    @Override
    public String provider() {
        return "silent";
    }

    @Override
    public long guid() {
        return 1;
    }

    @Override
    public TransportType transport() {
        return TransportType.INFINIBAND;
    }

    @Override
    public ContextDriver open() {
        return new SilentContext();
    }

    /// What the drivers have in common.
    class SilentObject implements Driver {
        private final String name;
        private final long handle = ++handles;

        SilentObject(String name) {
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

    private final class SilentContext extends SilentObject implements ContextDriver {
        SilentContext() {
            super("silent0");
        }

        @Override
        public boolean supports(Capability capability) {
            return capabilities.contains(capability);
        }

        @Override
        public DeviceValues queryDevice() {
            Map<DeviceLimit, Long> limits = Map.of(
                    DeviceLimit.MAX_QUEUE_PAIR_DEPTH, 1000L,
                    DeviceLimit.MAX_SGE, 4L,
                    DeviceLimit.MAX_COMPLETION_QUEUE_DEPTH, 1000L,
                    DeviceLimit.COMPLETION_VECTORS, 3L);
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
            values.lid = 1;
            values.gidTableLength = 1;
            values.partitionKeyTableLength = 1;
            values.maxMessageSize = 1L << 31;
            values.linkLayer = LinkLayer.INFINIBAND;
            return values;
        }

        @Override
        public Gid queryGid(int port, int index) {
            return new Gid(1, 2);
        }

        @Override
        public int queryPartitionKey(int port, int index) {
            return 0xffff;
        }

        @Override
        public ProtectionDomainDriver allocateProtectionDomain() {
            return new SilentDomain();
        }

        @Override
        public CompletionChannelDriver createCompletionChannel() {
            return new SilentChannel();
        }

        @Override
        public WaitGroupDriver createWaitGroup() {
            throw new UnsupportedOperationException("sessions need no wait groups");
        }

        @Override
        public CompletionQueueDriver createCompletionQueue(
                int capacity, @Nullable CompletionChannelDriver channel, int vector) {
            vectors.add(vector);
            return new SilentQueue(capacity);
        }

        @Override
        public @Nullable DriverEvent awaitEvent(long timeoutNanos) {
            return null;
        }

        @Override
        public ConnectionManagerDriver openConnectionManager() {
            return connections == null ? ContextDriver.super.openConnectionManager() : connections;
        }
    }

    private final class SilentChannel extends SilentObject implements CompletionChannelDriver {
        SilentChannel() {
            super("completion channel on silent0");
        }

        @Override
        public long awaitEvent(long timeoutNanos) {
            return 0;
        }

        @Override
        public void wakeUp() {}
    }

    private final class SilentQueue extends SilentObject implements CompletionQueueDriver {
        private final int capacity;

        SilentQueue(int capacity) {
            super("completion queue of " + capacity + " on silent0");
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
                into.set(JAVA_INT, at + CompletionLayout.QUEUE_PAIR_NUMBER, next.number());
                count++;
            }
            return count;
        }

        @Override
        public void arm(boolean solicitedOnly) {}
    }

    private final class SilentDomain extends SilentObject implements ProtectionDomainDriver {
        SilentDomain() {
            super("protection domain on silent0");
        }

        @Override
        public MemoryRegionDriver allocate(long bytes, int access, PageSize pages) {
            return register(Arena.ofAuto().allocate(bytes, 64), access);
        }

        @Override
        public MemoryRegionDriver register(MemorySegment segment, int access) {
            return new SilentRegion(segment);
        }

        @Override
        public SharedReceiveQueueDriver createSharedReceiveQueue(int receives, int elements, int limit) {
            return new SilentSharedQueue(SharedReceiveQueueOptions.ofDepth(receives)
                    .withElements(elements)
                    .withLimit(limit));
        }

        @Override
        public QueuePairDriver createQueuePair(QueuePairRequest request) {
            return new SilentQueuePair(NUMBER + queuePairs++, request.sizes());
        }
    }

    private final class SilentRegion extends SilentObject implements MemoryRegionDriver {
        private final MemorySegment segment;

        SilentRegion(MemorySegment segment) {
            super("memory region 0x42 on silent0");
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
    }

    private final class SilentSharedQueue extends SilentObject implements SharedReceiveQueueDriver {
        private final SharedReceiveQueueOptions options;

        SilentSharedQueue(SharedReceiveQueueOptions options) {
            super("shared receive queue on silent0");
            this.options = options;
        }

        @Override
        public SharedReceiveQueueOptions query() {
            return options;
        }

        @Override
        public int post(RequestChain chain, int first, int count) {
            return take(chain, first, count, receives);
        }

        @Override
        public void armLimit(int limit) {
            limits.add(limit);
        }

        @Override
        public void close() {
            log.add("destroy shared queue");
        }
    }

    private final class SilentQueuePair extends SilentObject implements QueuePairDriver {
        private final int number;
        private final QueueSizes sizes;

        SilentQueuePair(int number, QueueSizes sizes) {
            super("queue pair 0x" + Integer.toHexString(number) + " on silent0");
            this.number = number;
            this.sizes = sizes;
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
            if (to == QueuePairState.ERROR) {
                log.add("error");
            }
        }

        @Override
        public int postSends(RequestChain chain, int first, int count) {
            return take(chain, first, count, sends);
        }

        @Override
        public int postReceives(RequestChain chain, int first, int count) {
            return take(chain, first, count, receives);
        }

        @Override
        public void close() {
            log.add("destroy");
        }
    }

    private static int take(RequestChain chain, int first, int count, List<Long> workIds) {
        for (int i = first; i < first + count; i++) {
            workIds.add(chain.segment().get(JAVA_LONG, chain.at(i)));
        }
        return count;
    }
}
