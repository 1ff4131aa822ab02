package io.rdmacomm.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.cm.ConnectionManagerProvider;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A device that accepts everything and does nothing, so that tests see what the layer above all providers does by
/// itself. Tests supply its completions.
final class NullDevice extends Device {
    final EnumSet<Capability> capabilities = EnumSet.allOf(Capability.class);
    final List<String> log = new ArrayList<>();
    final List<GidEntry> gids = new ArrayList<>(List.of(new GidEntry(0, new Gid(1, 2), GidType.UNKNOWN, 0)));
    LinkLayer linkLayer = LinkLayer.INFINIBAND;
    int nextNumber = 0x11;
    int queries;

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
    protected Context doOpen() {
        return new NullContext(this);
    }

    static final class NullContext extends Context implements ConnectionManagerProvider {
        private final NullDevice device;

        NullContext(NullDevice device) {
            super(device);
            this.device = device;
        }

        @Override
        public NullConnections openConnectionManager() {
            return adopt(new NullConnections(this));
        }

        @Override
        public boolean supports(Capability capability) {
            return device.capabilities.contains(capability);
        }

        @Override
        protected DeviceAttributes doQueryDevice() {
            device.queries++;
            Map<DeviceLimit, Long> limits = Map.of(
                    DeviceLimit.MAX_SHARED_RECEIVE_QUEUE_DEPTH,
                    100L,
                    DeviceLimit.MAX_QUEUE_PAIR_DEPTH,
                    64L,
                    DeviceLimit.MAX_SGE,
                    4L,
                    DeviceLimit.MAX_COMPLETION_QUEUE_DEPTH,
                    1000L,
                    DeviceLimit.COMPLETION_VECTORS,
                    2L);
            return new DeviceAttributes("1", 1, 1, 0, 0, 0, 1, AtomicCapability.NONE, limits);
        }

        @Override
        protected PortAttributes doQueryPort(int number) {
            return new PortAttributes(
                    PortState.of(4),
                    PathMtu.MTU_4096,
                    PathMtu.MTU_1024,
                    5,
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
                    device.linkLayer);
        }

        @Override
        protected Gid doQueryGid(int port, int index) {
            return device.gids.stream()
                    .filter(entry -> entry.index() == index)
                    .map(GidEntry::gid)
                    .findFirst()
                    .orElse(Gid.NONE);
        }

        @Override
        protected List<GidEntry> doQueryGidTable(int port) {
            return device.gids;
        }

        @Override
        protected int doQueryPartitionKey(int port, int index) {
            return 0xffff;
        }

        @Override
        protected ProtectionDomain doAllocateProtectionDomain() {
            return new NullDomain(this);
        }

        @Override
        protected CompletionChannel doCreateCompletionChannel() {
            return new NullChannel(this);
        }

        @Override
        protected CompletionQueue doCreateCompletionQueue(CompletionQueueOptions options) {
            return new NullQueue(this, options);
        }

        @Override
        protected @Nullable AsyncEvent doAwaitAsyncEvent(long timeoutNanos) {
            return null;
        }

        @Override
        protected void doCloseDevice() {
            device.log.add("close device");
        }
    }

    static final class NullChannel extends CompletionChannel {
        final Deque<CompletionQueue> ready = new ArrayDeque<>();

        NullChannel(Context context) {
            super(context);
        }

        @Override
        protected @Nullable CompletionQueue doAwaitEvent(long timeoutNanos) {
            return ready.poll();
        }

        @Override
        protected void doWakeUp() {}

        @Override
        protected void doClose() {}
    }

    static final class NullQueue extends CompletionQueue {
        private record Entry(long workId, int status, int opcode, int queuePair) {}

        private final Deque<Entry> entries = new ArrayDeque<>();
        private final int capacity;
        int acknowledged;

        NullQueue(Context context, CompletionQueueOptions options) {
            super(context, options);
            this.capacity = options.capacity();
        }

        void put(long workId, WorkStatus status, CompletionOpcode opcode, int queuePair) {
            entries.add(new Entry(workId, status.code(), opcode.code(), queuePair));
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
                into.set(JAVA_INT, at + CompletionLayout.STATUS, entry.status());
                into.set(JAVA_INT, at + CompletionLayout.OPCODE, entry.opcode());
                into.set(JAVA_INT, at + CompletionLayout.QUEUE_PAIR_NUMBER, entry.queuePair());
                count++;
            }
            return count;
        }

        @Override
        protected void doArm(boolean solicitedOnly) {}

        @Override
        protected void doAcknowledge(int events) {
            acknowledged += events;
        }

        @Override
        protected void doResize(int newCapacity) {}

        @Override
        protected void doDestroy() {}
    }

    static final class NullDomain extends ProtectionDomain {
        private final NullDevice device;

        NullDomain(NullContext context) {
            super(context);
            this.device = context.device;
        }

        @Override
        protected MemoryRegion doAllocate(long bytes, int access, PageSize pages) {
            return new NullRegion(this, Arena.ofAuto().allocate(bytes), access);
        }

        @Override
        protected MemoryRegion doRegister(MemorySegment segment, int access) {
            return new NullRegion(this, segment, access);
        }

        @Override
        protected MemoryWindow doAllocateWindow(MemoryWindowType type) {
            throw new AssertionError("not used");
        }

        @Override
        protected SharedReceiveQueue doCreateSharedReceiveQueue(SharedReceiveQueueOptions options) {
            return new NullSharedQueue(this, options);
        }

        @Override
        protected AddressHandle doCreateAddressHandle(AddressVector vector) {
            device.log.add("address " + vector);
            return new AddressHandle(this) {
                @Override
                public long handle() {
                    return 0x77;
                }

                @Override
                protected void doClose() {}
            };
        }

        @Override
        protected QueuePair doCreateQueuePair(QueuePairOptions options) {
            return new NullQueuePair(this, options, device.nextNumber++);
        }

        @Override
        public String toString() {
            return "protection domain on null0";
        }

        @Override
        protected void doClose() {}
    }

    static final class NullSharedQueue extends SharedReceiveQueue {
        private final SharedReceiveQueueOptions options;
        Runnable whilePosting = () -> {};
        int size;
        volatile boolean gone;

        NullSharedQueue(ProtectionDomain domain, SharedReceiveQueueOptions options) {
            super(domain, options);
            this.options = options;
        }

        @Override
        protected int doPost(ReceiveBatch batch, int first, int count) {
            long last = batch.segment().get(JAVA_LONG, batch.at(count - 1) + ReceiveRequestLayout.NEXT);
            assertThat(last).as("end of the chain").isZero();
            whilePosting.run();
            return count;
        }

        @Override
        protected void doArmLimit(int limit) {}

        @Override
        protected void doResize(int receives) {
            size = receives;
        }

        @Override
        protected SharedReceiveQueueOptions doQuery() {
            return options;
        }

        @Override
        protected void doDestroy() {
            gone = true;
        }
    }

    static final class NullRegion extends MemoryRegion {
        NullRegion(ProtectionDomain domain, MemorySegment memory, int rights) {
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
            reregistered(memory, domain, rights);
        }

        @Override
        protected void doClose() {}
    }

    static final class NullQueuePair extends QueuePair {
        private final QueueSizes sizes;
        private final int number;
        final List<Long> sent = new ArrayList<>();
        VerbException failure;
        final List<Long> received = new ArrayList<>();
        final List<Long> failed = new ArrayList<>();
        int takeAtMost = Integer.MAX_VALUE;
        boolean rejectModify;
        final List<QueuePairAttributes> changes = new ArrayList<>();
        final List<String> memberships = new ArrayList<>();

        NullQueuePair(ProtectionDomain domain, QueuePairOptions options, int number) {
            super(domain, options);
            this.sizes = options.sizes();
            this.number = number;
        }

        void fail() {
            enter(QueuePairState.ERROR);
        }

        void enter(QueuePairState now) {
            entered(now);
        }

        @Override
        protected void noticeFailure(long workId) {
            failed.add(workId);
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
            if (rejectModify) {
                throw new VerbException("modify queue pair (ibv_modify_qp)", Errno.EIO, "the device is gone");
            }
            changes.add(change);
        }

        @Override
        protected int doPost(SendBatch batch, int first, int count) {
            if (failure != null) {
                throw failure;
            }
            int taken = Math.min(count, takeAtMost);
            long chained = 0;
            for (long at = batch.at(first); ; chained++) {
                if (chained < taken) {
                    sent.add(batch.segment().get(JAVA_LONG, at));
                }
                long next = batch.segment().get(JAVA_LONG, at + SendRequestLayout.NEXT);
                if (next == 0) {
                    break;
                }
                at = next - batch.segment().address();
            }
            if (chained + 1 != count) {
                throw new AssertionError("told to post " + count + ", the chain has " + (chained + 1));
            }
            return taken;
        }

        @Override
        protected int doPost(ReceiveBatch batch, int first, int count) {
            int taken = Math.min(count, takeAtMost);
            for (int i = first; i < first + taken; i++) {
                received.add(batch.segment().get(JAVA_LONG, batch.at(i)));
            }
            return taken;
        }

        @Override
        protected void doAttach(Gid group, int lid) {
            if (failure != null) {
                throw failure;
            }
            memberships.add("attach " + group + " " + lid);
        }

        @Override
        protected void doDetach(Gid group, int lid) {
            memberships.add("detach " + group + " " + lid);
        }

        @Override
        protected void doDestroy() {
            memberships.add("destroy");
        }
    }
}
