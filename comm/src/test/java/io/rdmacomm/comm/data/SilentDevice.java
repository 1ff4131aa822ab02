package io.rdmacomm.comm.data;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.AddressHandle;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.AsyncEvent;
import io.rdmacomm.verbs.AtomicCapability;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionLayout;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.DeviceAttributes;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.LinkLayer;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.MemoryWindow;
import io.rdmacomm.verbs.MemoryWindowType;
import io.rdmacomm.verbs.PageSize;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.PortAttributes;
import io.rdmacomm.verbs.PortState;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SharedReceiveQueue;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;
import io.rdmacomm.verbs.TransportType;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A device that takes every request and never completes one, not even when its queue pair goes to ERROR. Tests supply
/// completions with [#complete].
final class SilentDevice extends Device {
    private static final int NUMBER = 0x11;

    final Set<Capability> capabilities = EnumSet.complementOf(EnumSet.of(Capability.FLUSH_IN_ERROR));
    final List<Long> sends = new ArrayList<>();
    final List<Long> receives = new ArrayList<>();
    final List<Integer> limits = new ArrayList<>();
    final List<Integer> vectors = new ArrayList<>();
    final List<String> log = new ArrayList<>();
    private final Deque<Entry> entries = new ArrayDeque<>();
    private int queuePairs;

    private record Entry(long workId, WorkStatus status, CompletionOpcode opcode, int number) {}

    void complete(long workId, WorkStatus status, CompletionOpcode opcode) {
        complete(workId, status, opcode, NUMBER);
    }

    void complete(long workId, WorkStatus status, CompletionOpcode opcode, int queuePair) {
        entries.add(new Entry(workId, status, opcode, queuePair));
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
    protected Context doOpen() {
        return new SilentContext();
    }

    private final class SilentContext extends Context {
        SilentContext() {
            super(SilentDevice.this);
        }

        @Override
        public boolean supports(Capability capability) {
            return capabilities.contains(capability);
        }

        @Override
        protected DeviceAttributes doQueryDevice() {
            Map<DeviceLimit, Long> limits = Map.of(
                    DeviceLimit.MAX_QUEUE_PAIR_DEPTH, 1000L,
                    DeviceLimit.MAX_SGE, 4L,
                    DeviceLimit.MAX_COMPLETION_QUEUE_DEPTH, 1000L,
                    DeviceLimit.COMPLETION_VECTORS, 3L);
            return new DeviceAttributes("1", 1, 1, 0, 0, 0, 1, AtomicCapability.NONE, limits);
        }

        @Override
        protected PortAttributes doQueryPort(int number) {
            return new PortAttributes(
                    PortState.ACTIVE,
                    PathMtu.MTU_4096,
                    PathMtu.MTU_1024,
                    1,
                    0,
                    0,
                    0,
                    1,
                    1,
                    1L << 31,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    LinkLayer.of(1));
        }

        @Override
        protected Gid doQueryGid(int port, int index) {
            return new Gid(1, 2);
        }

        @Override
        protected int doQueryPartitionKey(int port, int index) {
            return 0xffff;
        }

        @Override
        protected ProtectionDomain doAllocateProtectionDomain() {
            return new SilentDomain(this);
        }

        @Override
        protected CompletionChannel doCreateCompletionChannel() {
            return new SilentChannel(this);
        }

        @Override
        protected CompletionQueue doCreateCompletionQueue(CompletionQueueOptions options) {
            vectors.add(options.vector());
            return new SilentQueue(this, options);
        }

        @Override
        protected @Nullable AsyncEvent doAwaitAsyncEvent(long timeoutNanos) {
            return null;
        }

        @Override
        protected void doCloseDevice() {}
    }

    private static final class SilentChannel extends CompletionChannel {
        SilentChannel(Context context) {
            super(context);
        }

        @Override
        protected @Nullable CompletionQueue doAwaitEvent(long timeoutNanos) {
            return null;
        }

        @Override
        protected void doWakeUp() {}

        @Override
        protected void doClose() {}
    }

    private final class SilentQueue extends CompletionQueue {
        private final int capacity;

        SilentQueue(Context context, CompletionQueueOptions options) {
            super(context, options);
            this.capacity = options.capacity();
        }

        @Override
        public int capacity() {
            return capacity;
        }

        @Override
        protected int doPoll(MemorySegment into, int max) {
            int count = 0;
            while (count < max && !entries.isEmpty()) {
                Entry entry = entries.remove();
                long at = (long) count * CompletionLayout.BYTES;
                into.set(JAVA_LONG, at + CompletionLayout.WORK_ID, entry.workId());
                into.set(JAVA_INT, at + CompletionLayout.STATUS, entry.status().code());
                into.set(JAVA_INT, at + CompletionLayout.OPCODE, entry.opcode().code());
                into.set(JAVA_INT, at + CompletionLayout.QUEUE_PAIR_NUMBER, entry.number());
                count++;
            }
            return count;
        }

        @Override
        protected void doArm(boolean solicitedOnly) {}

        @Override
        protected void doAcknowledge(int events) {}

        @Override
        protected void doResize(int newCapacity) {}

        @Override
        protected void doDestroy() {}
    }

    private final class SilentDomain extends ProtectionDomain {
        SilentDomain(Context context) {
            super(context);
        }

        @Override
        protected MemoryRegion doAllocate(long bytes, int access, PageSize pages) {
            return new SilentRegion(this, Arena.ofAuto().allocate(bytes, 64), access);
        }

        @Override
        protected MemoryRegion doRegister(MemorySegment segment, int access) {
            return new SilentRegion(this, segment, access);
        }

        @Override
        protected MemoryWindow doAllocateWindow(MemoryWindowType type) {
            throw new AssertionError("not used");
        }

        @Override
        protected SharedReceiveQueue doCreateSharedReceiveQueue(SharedReceiveQueueOptions options) {
            return new SilentSharedQueue(this, options);
        }

        @Override
        protected AddressHandle doCreateAddressHandle(AddressVector vector) {
            throw new AssertionError("not used");
        }

        @Override
        protected QueuePair doCreateQueuePair(QueuePairOptions options) {
            return new SilentQueuePair(this, options);
        }

        @Override
        public String toString() {
            return "protection domain of silent0";
        }

        @Override
        protected void doClose() {}
    }

    private final class SilentSharedQueue extends SharedReceiveQueue {
        private final SharedReceiveQueueOptions options;

        SilentSharedQueue(ProtectionDomain domain, SharedReceiveQueueOptions options) {
            super(domain, options);
            this.options = options;
        }

        @Override
        protected int doPost(ReceiveBatch batch, int first, int count) {
            return postReceives(batch, first, count);
        }

        @Override
        protected void doArmLimit(int limit) {
            limits.add(limit);
        }

        @Override
        protected SharedReceiveQueueOptions doQuery() {
            return options;
        }

        @Override
        protected void doDestroy() {
            log.add("destroy shared queue");
        }
    }

    private int postReceives(ReceiveBatch batch, int first, int count) {
        for (int i = first; i < first + count; i++) {
            receives.add(batch.segment().get(JAVA_LONG, batch.at(i)));
        }
        return count;
    }

    private static final class SilentRegion extends MemoryRegion {
        SilentRegion(ProtectionDomain domain, MemorySegment memory, int rights) {
            super(domain, memory, rights);
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
        public long handle() {
            return 0;
        }

        @Override
        protected void doReregister(@Nullable MemorySegment memory, @Nullable ProtectionDomain domain, int rights) {
            throw new AssertionError("not used");
        }

        @Override
        protected void doClose() {}
    }

    private final class SilentQueuePair extends QueuePair {
        private final QueueSizes sizes;
        private final int number = NUMBER + queuePairs++;

        SilentQueuePair(ProtectionDomain domain, QueuePairOptions options) {
            super(domain, options);
            this.sizes = options.sizes();
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
        protected void doModify(
                QueuePairState from, QueuePairState to, QueuePairAttributes change, QueuePairAttributes effective) {
            if (to == QueuePairState.ERROR) {
                log.add("error");
            }
        }

        @Override
        protected int doPost(SendBatch batch, int first, int count) {
            for (int i = first; i < first + count; i++) {
                sends.add(batch.segment().get(JAVA_LONG, batch.at(i)));
            }
            return count;
        }

        @Override
        protected int doPost(ReceiveBatch batch, int first, int count) {
            return postReceives(batch, first, count);
        }

        @Override
        protected void doDestroy() {
            log.add("destroy");
        }
    }
}
