package io.rdmacomm.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.ibverbs.ffm.ContextLayout;
import io.rdmacomm.ibverbs.ffm.DeviceAttributesLayout;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.AckTimeout;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.AtomicCapability;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.DatagramOptions;
import io.rdmacomm.verbs.DeviceAttributes;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.GidEntry;
import io.rdmacomm.verbs.GidType;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.MemoryWindow;
import io.rdmacomm.verbs.MemoryWindowType;
import io.rdmacomm.verbs.PageSize;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.PathOptions;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttribute;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.RetryOptions;
import io.rdmacomm.verbs.RnrTimer;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SharedReceiveQueue;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;
import io.rdmacomm.verbs.UnsupportedVerbException;
import io.rdmacomm.verbs.VerbException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The calls that create, change and destroy objects: their arguments in C, their results, and how each fails.
class ControlPathTest {
    private static final int EINVAL = 22;
    private static final int ENOMEM = 12;
    private static final int EPROTONOSUPPORT = 93;
    private static final int EOPNOTSUPP = 95;

    private FakeVerbs fake;
    private Context context;
    private ProtectionDomain domain;

    @BeforeAll
    static void needsCompiler() {
        CCompiler.require();
    }

    @BeforeEach
    void open() {
        fake = FakeVerbs.fresh();
        context = fake.open();
        domain = context.allocateProtectionDomain();
        assertThat(fake.log()).containsExactly("open fake0", "alloc_pd context0");
    }

    @AfterEach
    void close() {
        context.close();
    }

    private void fails(String function, int errno, ThrowingCallable call) {
        fake.fail(function, errno);
        assertThatThrownBy(call)
                .as(function)
                .isInstanceOfSatisfying(
                        VerbException.class, e -> assertThat(e.errno()).isEqualTo(Errno.of(errno)))
                .hasMessageContainingAll(function, "fake0");
    }

    @Test
    void queriesTheDevice() {
        DeviceAttributes attributes = context.attributes();
        assertThat(attributes.firmware()).isEqualTo("1.2.3");
        assertThat(attributes.nodeGuid()).isEqualTo(0x0102030405060708L);
        assertThat(attributes.systemImageGuid()).isEqualTo(0x1112131415161718L);
        assertThat(attributes.vendorId()).isEqualTo(0x1234);
        assertThat(attributes.vendorPartId()).isEqualTo(5);
        assertThat(attributes.hardwareVersion()).isEqualTo(6);
        assertThat(attributes.ports()).isEqualTo(1);
        assertThat(attributes.atomics()).isEqualTo(AtomicCapability.DEVICE);
        assertThat(attributes.limit(DeviceLimit.MAX_REGION_SIZE))
                .as("a device without a limit")
                .isEqualTo(Long.MAX_VALUE);
        assertThat(attributes.limit(DeviceLimit.PAGE_SIZES)).isEqualTo(0xfffff000L);
        assertThat(attributes.limit(DeviceLimit.MAX_QUEUE_PAIRS)).isEqualTo(100);
        assertThat(attributes.limit(DeviceLimit.MAX_SGE_READ)).isEqualTo(31);
        assertThat(attributes.limit(DeviceLimit.MAX_INITIATOR_READ_ATOMIC)).isEqualTo(15);
        assertThat(attributes.limit(DeviceLimit.MAX_PARTITION_KEYS)).isEqualTo(65000);
        assertThat(attributes.limit(DeviceLimit.LOCAL_ACK_DELAY)).isEqualTo(200);
        assertThat(attributes.limit(DeviceLimit.COMPLETION_VECTORS)).isEqualTo(3);
        fails("ibv_query_device", 5, context::attributes);
    }

    @Test
    void queriesLimitsThatOnlyTheExtendedCallReports() {
        Map<DeviceLimit, Long> limits = context.attributes().limits();
        assertThat(limits)
                .containsEntry(DeviceLimit.ODP_CAPABILITIES, 1L << 40 | 1)
                .containsEntry(DeviceLimit.ODP_RELIABLE, 31L)
                .containsEntry(DeviceLimit.ODP_UNRELIABLE, 1L)
                .containsEntry(DeviceLimit.ODP_DATAGRAM, 2L)
                .containsEntry(DeviceLimit.ODP_EXTENDED_RELIABLE, 4L)
                .containsEntry(DeviceLimit.TIMESTAMP_MASK, -1L)
                .containsEntry(DeviceLimit.CORE_CLOCK, 156_250L)
                .containsEntry(DeviceLimit.RAW_PACKET_CAPABILITIES, 15L)
                .containsEntry(DeviceLimit.EXTENDED_CAPABILITY_FLAGS, 1L << 34)
                .containsEntry(DeviceLimit.MAX_SEGMENTATION, 262_144L)
                .containsEntry(DeviceLimit.SEGMENTATION_TYPES, 1L << 8)
                .containsEntry(DeviceLimit.MAX_SPREADING_TABLES, 11L)
                .containsEntry(DeviceLimit.MAX_SPREADING_TABLE_SIZE, 2048L)
                .containsEntry(DeviceLimit.HASH_FUNCTIONS, 0x81L)
                .containsEntry(DeviceLimit.HASH_FIELDS, 0x800000ffL)
                .containsEntry(DeviceLimit.SPREADING_TYPES, 1L << 4)
                .containsEntry(DeviceLimit.MAX_RECEIVE_WORK_QUEUES, 8_388_608L)
                .containsEntry(DeviceLimit.MIN_RATE_LIMIT, 1L)
                .containsEntry(DeviceLimit.MAX_RATE_LIMIT, 0xffffffffL)
                .containsEntry(DeviceLimit.RATE_LIMIT_TYPES, 1L << 8 | 1L << 4)
                .containsEntry(DeviceLimit.MAX_RENDEZVOUS_HEADER, 64L)
                .containsEntry(DeviceLimit.MAX_TAGS, 127L)
                .containsEntry(DeviceLimit.MAX_TAG_OPERATIONS, 32_768L)
                .containsEntry(DeviceLimit.MAX_TAG_SGE, 1L)
                .containsEntry(DeviceLimit.TAG_FLAGS, 1L)
                .containsEntry(DeviceLimit.MAX_MODERATED_COMPLETIONS, 65_535L)
                .containsEntry(DeviceLimit.MAX_MODERATION_PERIOD, 4095L)
                .containsEntry(DeviceLimit.MAX_DEVICE_MEMORY, 131_072L);
    }

    @Test
    void aDriverWithoutTheExtendedQueryIsAskedTheOldWay() {
        fake.fail("fake_query_device_ex", EOPNOTSUPP);
        assertThat(context.attributes().limits())
                .containsEntry(DeviceLimit.MAX_QUEUE_PAIRS, 100L)
                .doesNotContainKey(DeviceLimit.ODP_CAPABILITIES);
        fake.fail("fake_query_device_ex", 5);
        assertThatThrownBy(context::attributes).hasMessageContaining("ibv_query_device_ex");
    }

    @Test
    void aLibraryThatIsOlderThanTheExtendedQueryIsAskedTheOldWay() {
        // Up to ibv_destroy_flow, which came before query_device_ex.
        fake.extended(ContextLayout.BYTES - ContextLayout.QUERY_DEVICE_EXTENDED - Long.BYTES);
        context.close();
        context = fake.open();
        assertThat(context.attributes().limits())
                .containsEntry(DeviceLimit.MAX_QUEUE_PAIRS, 100L)
                .doesNotContainKey(DeviceLimit.ODP_CAPABILITIES);
    }

    @Test
    void queriesAPort() {
        assertThat(context.port(1))
                .isEqualTo(context.port(1))
                .hasToString("PortAttributes[state=ACTIVE, maxMtu=MTU_4096, activeMtu=MTU_1024, lid=65534, lidMask=11,"
                        + " subnetManagerLid=10, subnetManagerServiceLevel=13, gidTableLength=4,"
                        + " partitionKeyTableLength=9, maxMessageSize=2147483648, capabilityFlags=74565,"
                        + " capabilityFlags2=65244, maxVirtualLanes=12, badPartitionKeys=7, queueKeyViolations=8,"
                        + " subnetTimeout=14, initTypeReply=15, activeWidth=2, activeSpeed=4, physicalState=5,"
                        + " linkLayer=ETHERNET]");
        fails("ibv_query_port", EINVAL, () -> context.port(2));
        assertThatThrownBy(() -> context.port(257)).isInstanceOf(VerbException.class);
    }

    @Test
    void aPortIsQueriedTheOldWayIfTheLibraryIsOlderThanTheExtendedCall() {
        // Up to advise_mr, which came before query_port.
        fake.extended(ContextLayout.BYTES - ContextLayout.QUERY_PORT_EXTENDED - Long.BYTES);
        context.close();
        context = fake.open();
        assertThat(context.port(1).capabilityFlags()).isEqualTo(0x12345);
        assertThat(context.port(1).capabilityFlags2()).isZero();
        fails("ibv_query_port", EINVAL, () -> context.port(2));
    }

    @Test
    void queriesTables() {
        assertThat(context.gid(1, 1)).isEqualTo(new Gid(0x1011121314151617L, 0x18191a1b1c1d1e1fL));
        fails("ibv_query_gid", EINVAL, () -> context.gid(1, 0));
        assertThatThrownBy(() -> context.gid(1, 9)).hasMessageContaining("EINVAL");
        assertThat(context.partitionKey(1, 2)).isEqualTo(0x8012);
        fails("ibv_query_pkey", 5, () -> context.partitionKey(1, 0));
    }

    @Test
    void readsTheGidTableOfOnePort() {
        Gid linkLocal = new Gid(0xfe80L << 48, 0);
        assertThat(context.gidTable(1))
                .containsExactly(
                        new GidEntry(0, linkLocal, GidType.ROCE_V1, 1000),
                        new GidEntry(1, linkLocal, GidType.ROCE_V2, 1000),
                        new GidEntry(2, new Gid(0, 0xffff_0a00_0007L), GidType.ROCE_V2, 1000));
        fails("_ibv_query_gid_table", 5, () -> context.gidTable(1));
        try (Context old = FakeVerbs.withoutOptional().open()) {
            assertThat(old.gidTable(1))
                    .as("one after the other")
                    .hasSize(4)
                    .allSatisfy(entry -> assertThat(entry.type()).isEqualTo(GidType.UNKNOWN));
            assertThat(old.preferredGidIndex(1)).isZero();
        }
    }

    @Test
    void prefersTheGidOfRoceVersionTwoWithAnIpv4Address() {
        assertThat(context.preferredGidIndex(1)).isEqualTo(2);
        assertThat(context.preferredGidIndex(1, ConnectionCase.address(10, 0, 0, 7)))
                .isEqualTo(2);
        InetAddress linkLocal = new Gid(0xfe80L << 48, 0).address();
        assertThat(context.preferredGidIndex(1, linkLocal))
                .as("version 1 has it, too")
                .isEqualTo(1);
        assertThat(context.preferredGidIndex(1, ConnectionCase.address(10, 0, 0, 8)))
                .isEqualTo(2);
        assertThatThrownBy(() -> context.preferredGidIndex(2)).hasMessageContaining("EINVAL");
    }

    @Test
    void allocatesProtectionDomains() {
        fails("ibv_alloc_pd", ENOMEM, context::allocateProtectionDomain);
        ProtectionDomain other = context.allocateProtectionDomain();
        other.close();
        assertThat(fake.log()).containsExactly("alloc_pd context0", "dealloc_pd pd2");
        ProtectionDomain kept = context.allocateProtectionDomain();
        fails("ibv_dealloc_pd", 16, kept::close);
    }

    @Test
    void registersMemory() {
        MemoryRegion own = domain.allocate(10_000, AccessFlag.allRemote());
        assertThat(own.segment().byteSize()).isEqualTo(10_000);
        assertThat(own.localKey() + 1).isEqualTo(own.remoteKey());
        assertThat(own.address()).isEqualTo(own.segment().address());
        try (Arena arena = Arena.ofShared()) {
            MemorySegment segment = arena.allocate(64, 4096).asSlice(8, 16);
            try (MemoryRegion callers = domain.register(segment, Set.of())) {
                assertThat(callers.address()).isEqualTo(segment.address());
            }
        }
        own.close();
        assertThat(own.segment().scope().isAlive()).isFalse();
        assertThat(fake.log())
                .containsExactly(
                        "reg_mr pd1 page=1 length=10000 access=15",
                        "reg_mr pd1 page=0 length=16 access=0",
                        "dereg_mr mr3",
                        "dereg_mr mr2");
    }

    @Test
    void hugePagesThatAreNotThereAreRejectedWithAdvice() {
        assertThat(context.supports(Capability.HUGE_PAGES)).isTrue();
        assertThatThrownBy(() -> domain.allocate(1L << 50, Set.of(), PageSize.HUGE))
                .isInstanceOfSatisfying(
                        VerbException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOMEM))
                .hasMessageMatching(".*(`sysctl vm.nr_hugepages=[0-9]+`|no huge pages).*PageSize.NORMAL");
        assertThat(fake.log()).isEmpty();
    }

    @Test
    void advisesOnTheLimitOfLockedMemory() {
        fails("ibv_reg_mr", EINVAL, () -> domain.allocate(8, Set.of()));
        fake.fail("ibv_reg_mr", ENOMEM);
        assertThatThrownBy(() -> domain.allocate(8, Set.of()))
                .hasMessageContainingAll("ENOMEM", "8 bytes on fake0")
                .hasMessageMatching("(?s).*(RLIMIT_MEMLOCK.*ulimit -l|has no room).*");
    }

    @Test
    void keepsTheMemoryOfARegionThatTheDeviceKeeps() {
        MemoryRegion region = domain.allocate(8, Set.of());
        fails("ibv_dereg_mr", 16, region::close);
        assertThat(region.segment().scope().isAlive()).isTrue();
    }

    @Test
    void registersMemoryFromZero() {
        Set<AccessFlag> access = EnumSet.of(AccessFlag.ZERO_BASED, AccessFlag.LOCAL_WRITE);
        MemoryRegion region = domain.allocate(64, access);
        assertThat(region.address()).isZero();
        assertThat(fake.log()).containsExactly("reg_mr_iova pd1 length=64 iova=0 access=1");
    }

    @Test
    void registersMemoryWithRelaxedOrdering() {
        assertThat(context.supports(Capability.RELAXED_ORDERING)).isTrue();
        MemoryRegion region = domain.allocate(64, EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.RELAXED_ORDERING));
        assertThat(region.access()).containsExactly(AccessFlag.LOCAL_WRITE, AccessFlag.RELAXED_ORDERING);
        domain.allocate(64, EnumSet.of(AccessFlag.ZERO_BASED, AccessFlag.RELAXED_ORDERING));
        region.reregister(null, null, Set.of(AccessFlag.RELAXED_ORDERING));
        assertThat(fake.log())
                .containsExactly(
                        "reg_mr_iova2 pd1 length=64 iova=same access=100001",
                        "reg_mr_iova2 pd1 length=64 iova=0 access=100000",
                        "rereg_mr mr2 flags=4 0 addr=0 length=0 access=1048576");
    }

    @Test
    void anAdapterDoesNotGetTheRightOfDirectViews() {
        MemoryRegion region = domain.allocate(64, EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.DIRECT_VIEW));
        assertThat(region.access()).containsExactly(AccessFlag.REMOTE_READ, AccessFlag.DIRECT_VIEW);
        assertThat(fake.log()).singleElement().asString().endsWith("access=4");
    }

    @Test
    void registersMemoryOnDemand() {
        assertThat(context.supports(Capability.ON_DEMAND_PAGING)).isTrue();
        try (Arena arena = Arena.ofShared()) {
            domain.register(arena.allocate(64, 4096), EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.ON_DEMAND))
                    .close();
        }
        assertThat(fake.log()).containsExactly("reg_mr pd1 page=1 length=64 access=65", "dereg_mr mr2");
    }

    @Test
    void aDeviceWithoutOnDemandPagingRejectsIt() {
        context.close();
        fake.extended(0);
        context = fake.open();
        domain = context.allocateProtectionDomain();
        assertThat(context.supports(Capability.ON_DEMAND_PAGING)).isFalse();
        MemoryRegion usual = domain.allocate(64, Set.of());
        for (ThrowingCallable registration : new ThrowingCallable[] {
            () -> domain.allocate(64, Set.of(AccessFlag.ON_DEMAND)),
            () -> usual.reregister(null, null, Set.of(AccessFlag.ON_DEMAND))
        }) {
            assertThatThrownBy(registration)
                    .isInstanceOfSatisfying(
                            UnsupportedVerbException.class,
                            e -> assertThat(e.capability()).isEqualTo(Capability.ON_DEMAND_PAGING))
                    .hasMessageContaining("without ON_DEMAND");
        }
    }

    @Test
    void registersDmaBuffers() {
        assertThat(context.supports(Capability.DMA_BUFFER)).isTrue();
        fake.log();
        Set<AccessFlag> rights = EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.RELAXED_ORDERING);
        MemoryRegion region = domain.registerDmaBuffer(0, 4100, 1L << 33, 0x7004, rights);
        assertThat(region.address()).isEqualTo(0x7004);
        assertThat(region.length()).isEqualTo(1L << 33);
        assertThat(region.remote()).isEqualTo(new RemoteMemory(0x7004, 1L << 33, region.remoteKey()));
        assertThat(region.access()).isEqualTo(rights);
        assertThat(region.isMapped()).isFalse();
        assertThatThrownBy(region::segment)
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("DMA buffer");
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(64);
            assertThatThrownBy(() -> region.reregister(memory, null, null)).hasMessageContaining("is a DMA buffer");
        }
        region.close();
        assertThat(fake.log())
                .containsExactly(
                        "reg_dmabuf_mr pd1 offset=4100 length=8589934592 iova=7004 access=100001", "dereg_mr mr3");
    }

    @Test
    void rejectsDmaBuffersThatCannotBe() {
        assertThatThrownBy(() -> domain.registerDmaBuffer(0, 4096, 8, 0x7004, Set.of()))
                .hasMessageContaining("EINVAL")
                .hasMessageContaining("different positions in a page");
        assertThatThrownBy(() -> domain.registerDmaBuffer(0, 0, 8, 0, Set.of(AccessFlag.ON_DEMAND)))
                .hasMessageContaining("EINVAL")
                .hasMessageContaining("[ON_DEMAND]");
        assertThatThrownBy(() -> domain.registerDmaBuffer(0, 0, 8, 0, Set.of(AccessFlag.REMOTE_WRITE)))
                .hasMessageContaining("require LOCAL_WRITE");
        assertThatThrownBy(() -> domain.registerDmaBuffer(999_999, 0, 8, 0, Set.of()))
                .isInstanceOfSatisfying(
                        VerbException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBADF))
                .hasMessageContaining("file descriptor 999999");
    }

    @Test
    void aDeviceWithoutDmaBuffersRejectsThem() {
        for (int errno : new int[] {EOPNOTSUPP, EPROTONOSUPPORT}) {
            context.close();
            fake.fail("ibv_reg_dmabuf_mr", errno);
            context = fake.open();
            domain = context.allocateProtectionDomain();
            assertThat(context.supports(Capability.DMA_BUFFER)).isFalse();
            assertThatThrownBy(() -> domain.registerDmaBuffer(0, 0, 8, 0, Set.of()))
                    .isInstanceOf(UnsupportedVerbException.class)
                    .hasMessageContaining("memory of other devices");
        }
    }

    @Test
    void whereARegionBeginsCannotBeChanged() {
        MemoryRegion fromZero = domain.allocate(8, Set.of(AccessFlag.ZERO_BASED));
        assertThatThrownBy(() -> fromZero.reregister(null, null, Set.of()))
                .hasMessageContaining("EINVAL")
                .hasMessageContaining("is ZERO_BASED");
        MemoryRegion usual = domain.allocate(8, Set.of());
        assertThatThrownBy(() -> usual.reregister(null, null, Set.of(AccessFlag.ZERO_BASED)))
                .hasMessageContaining("EINVAL")
                .hasMessageContaining("is not ZERO_BASED");
        fromZero.reregister(null, null, Set.of(AccessFlag.ZERO_BASED, AccessFlag.REMOTE_READ));
        assertThat(fromZero.address()).isZero();
        assertThat(fake.log()).contains("rereg_mr mr2 flags=4 0 addr=0 length=0 access=4");
    }

    @Test
    void reregistersMemory() {
        MemoryRegion region = domain.allocate(8, Set.of());
        int key = region.localKey();
        region.reregister(null, null, Set.of(AccessFlag.REMOTE_READ));
        assertThat(region.access()).containsExactly(AccessFlag.REMOTE_READ);
        assertThat(region.localKey()).isNotEqualTo(key);
        assertThat(fake.log()).contains("rereg_mr mr2 flags=4 0 addr=0 length=0 access=4");
        ProtectionDomain other = context.allocateProtectionDomain();
        region.reregister(null, other, null);
        assertThat(region.protectionDomain()).isSameAs(other);
        assertThat(fake.log()).contains("rereg_mr mr2 flags=2 pd3 addr=0 length=0 access=0");
        fails("ibv_rereg_mr", ENOMEM, () -> region.reregister(null, domain, null));
        fake.fail("ibv_rereg_mr", EOPNOTSUPP);
        assertThatThrownBy(() -> region.reregister(null, domain, null)).isInstanceOf(UnsupportedVerbException.class);
    }

    @Test
    void worksWithoutFunctionsThatOlderLibrariesLack() {
        context.close();
        fake = FakeVerbs.withoutOptional();
        context = fake.open();
        ProtectionDomain old = context.allocateProtectionDomain();
        MemoryRegion region = old.allocate(8, Set.of());
        assertThatThrownBy(() -> region.reregister(null, null, Set.of())).isInstanceOf(UnsupportedVerbException.class);
        assertThat(context.supports(Capability.RELAXED_ORDERING)).isFalse();
        assertThat(context.supports(Capability.DMA_BUFFER)).isFalse();
        fake.log();
        old.allocate(8, Set.of(AccessFlag.RELAXED_ORDERING));
        assertThat(fake.log()).containsExactly("reg_mr pd1 page=1 length=8 access=0");
        assertThatThrownBy(() -> old.allocate(8, Set.of(AccessFlag.ZERO_BASED))).hasMessageContaining("EOPNOTSUPP");
    }

    @Test
    void createsCompletionQueues() {
        CompletionChannel channel = context.createCompletionChannel();
        CompletionQueue queue = context.createCompletionQueue(
                CompletionQueueOptions.ofCapacity(16).withChannel(channel).withVector(2));
        assertThat(queue.capacity()).isEqualTo(17);
        assertThat(context.supports(Capability.RESIZE_COMPLETION_QUEUE)).isTrue();
        queue.resize(32);
        assertThat(queue.capacity()).isEqualTo(34);
        queue.armSolicited();
        queue.arm();
        queue.close();
        assertThatThrownBy(() -> queue.arm()).hasMessage("completion queue of 34 on fake0 is closed");
        channel.close();
        assertThat(fake.log())
                .containsExactly(
                        "create_comp_channel context0",
                        "create_cq context0 cqe=16 user=0 channel2 vector=2",
                        "create_cq context0 cqe=1 user=0 0 vector=0",
                        "resize_cq cq4 cqe=16",
                        "destroy_cq cq4 unacknowledged=0",
                        "resize_cq cq3 cqe=32",
                        "req_notify_cq cq3 1",
                        "req_notify_cq cq3 0",
                        "destroy_cq cq3 unacknowledged=0",
                        "destroy_comp_channel channel2");
    }

    @Test
    void moderatesCompletionQueues() {
        CompletionChannel channel = context.createCompletionChannel();
        CompletionQueue queue = context.createCompletionQueue(
                CompletionQueueOptions.ofCapacity(16).withChannel(channel).withVector(2));
        assertThat(context.supports(Capability.COMPLETION_MODERATION)).isTrue();
        fake.log();
        queue.moderate(65_535, Duration.ofNanos(4_094_001));
        queue.moderate(1, Duration.ofNanos(1));
        queue.moderate(0, Duration.ZERO);
        assertThat(fake.log())
                .containsExactly(
                        "modify_cq cq3 mask=1 count=65535 period=4095",
                        "modify_cq cq3 mask=1 count=1 period=1",
                        "modify_cq cq3 mask=1 count=0 period=0");
        fake.fail("fake_modify_cq", EINVAL);
        assertThatThrownBy(() -> queue.moderate(2, Duration.ofNanos(3000)))
                .hasMessageContainingAll(
                        "ibv_modify_cq",
                        "EINVAL",
                        "2 completions and 3 microseconds for completion queue of 17 on fake0");
        fake.fail("fake_modify_cq", EOPNOTSUPP);
        assertThatThrownBy(() -> queue.moderate(2, Duration.ofNanos(3000)))
                .isInstanceOf(UnsupportedVerbException.class);
        for (long bad : new long[] {-1, 0, 4_095_001}) {
            assertThatThrownBy(() -> queue.moderate(2, Duration.ofNanos(bad)))
                    .hasMessageContainingAll("EINVAL", "1 to 65535", "1 to 4095 microseconds");
        }
        for (int bad : new int[] {-1, 0, 65_536}) {
            assertThatThrownBy(() -> queue.moderate(bad, Duration.ofMillis(1))).hasMessageContaining("EINVAL");
        }
        CompletionQueue polled = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(1));
        assertThatThrownBy(() -> polled.moderate(1, Duration.ofMillis(1)))
                .hasMessageContainingAll("EINVAL", "without a channel");
    }

    /// The library is older than the verb, or the kernel reports no limits.
    @Test
    void anOldLibraryDoesNotModerate() {
        context.close();
        fake.extended(ContextLayout.BYTES - ContextLayout.QUERY_DEVICE_EXTENDED);
        context = fake.open();
        CompletionChannel channel = context.createCompletionChannel();
        CompletionQueue queue = context.createCompletionQueue(
                CompletionQueueOptions.ofCapacity(8).withChannel(channel));
        assertThatThrownBy(() -> queue.moderate(1, Duration.ofMillis(1)))
                .isInstanceOfSatisfying(
                        UnsupportedVerbException.class,
                        e -> assertThat(e.capability()).isEqualTo(Capability.COMPLETION_MODERATION));
        context.close();
        fake.extended(8);
        context = fake.open();
        assertThat(context.supports(Capability.COMPLETION_MODERATION)).isFalse();
    }

    @Test
    void failsToCreateCompletionQueues() {
        fails("ibv_create_comp_channel", 24, context::createCompletionChannel);
        fails("ibv_create_cq", ENOMEM, () -> context.createCompletionQueue(CompletionQueueOptions.ofCapacity(1)));
        CompletionChannel channel = context.createCompletionChannel();
        CompletionQueue queue = context.createCompletionQueue(
                CompletionQueueOptions.ofCapacity(1).withChannel(channel));
        assertThat(context.supports(Capability.RESIZE_COMPLETION_QUEUE)).isTrue();
        fails("ibv_resize_cq", EINVAL, () -> queue.resize(2));
        fake.fail("ibv_resize_cq", 38);
        assertThatThrownBy(() -> queue.resize(2)).isInstanceOf(UnsupportedVerbException.class);
        // A driver that returns a negative errno.
        fake.fail("req_notify_cq", -5);
        assertThatThrownBy(() -> queue.arm()).hasMessageContainingAll("ibv_req_notify_cq", "EIO");
    }

    @Test
    void createsSharedReceiveQueues() {
        SharedReceiveQueue queue = domain.createSharedReceiveQueue(
                SharedReceiveQueueOptions.ofDepth(10).withElements(3).withLimit(4));
        assertThat(queue.query())
                .isEqualTo(SharedReceiveQueueOptions.ofDepth(10).withElements(3).withLimit(4));
        queue.armLimit(5);
        assertThat(queue.query().limit()).isEqualTo(5);
        fails("ibv_modify_srq", EINVAL, () -> queue.armLimit(6));
        fails("ibv_query_srq", EINVAL, queue::query);
        // As with libsiw: then the values that were set are returned.
        SharedReceiveQueueOptions asked = queue.query();
        fake.fail("ibv_query_srq", EOPNOTSUPP);
        assertThat(queue.query()).isEqualTo(asked);
        fake.fail("ibv_query_srq", EOPNOTSUPP);
        queue.armLimit(2);
        fake.fail("ibv_query_srq", EOPNOTSUPP);
        assertThat(queue.query().limit()).isEqualTo(2);
        queue.close();
        assertThat(fake.log())
                .containsExactly(
                        "create_srq pd1 wr=10 sge=3 limit=0",
                        "modify_srq srq2 wr=0 limit=4 mask=2",
                        "modify_srq srq2 wr=0 limit=5 mask=2",
                        "modify_srq srq2 wr=0 limit=2 mask=2",
                        "destroy_srq srq2");
        fails("ibv_create_srq", ENOMEM, () -> domain.createSharedReceiveQueue(SharedReceiveQueueOptions.ofDepth(1)));
    }

    @Test
    void resizesSharedReceiveQueues() {
        SharedReceiveQueue fixed = domain.createSharedReceiveQueue(SharedReceiveQueueOptions.ofDepth(10));
        assertThatThrownBy(() -> fixed.resize(20))
                .isInstanceOfSatisfying(
                        UnsupportedVerbException.class,
                        e -> assertThat(e.capability()).isEqualTo(Capability.RESIZE_SHARED_RECEIVE_QUEUE))
                .hasMessageContaining("ibv_modify_srq");
        context.close();
        fake.deviceFlags(DeviceAttributesLayout.DEVICE_RESIZE_SHARED_RECEIVE_QUEUE);
        context = fake.open();
        domain = context.allocateProtectionDomain();
        assertThat(context.supports(Capability.RESIZE_SHARED_RECEIVE_QUEUE)).isTrue();
        SharedReceiveQueue queue = domain.createSharedReceiveQueue(
                SharedReceiveQueueOptions.ofDepth(10).withElements(3).withLimit(4));
        fake.log();
        queue.resize(20);
        assertThat(queue.query())
                .isEqualTo(SharedReceiveQueueOptions.ofDepth(21).withElements(3).withLimit(4));
        fake.fail("ibv_query_srq", EOPNOTSUPP);
        assertThat(queue.query())
                .as("what was asked for")
                .isEqualTo(SharedReceiveQueueOptions.ofDepth(20).withElements(3).withLimit(4));
        assertThat(fake.log()).containsExactly("modify_srq srq5 wr=20 limit=0 mask=1");
        fails("ibv_modify_srq", EINVAL, () -> queue.resize(30));
        fake.fail("ibv_modify_srq", EOPNOTSUPP);
        assertThatThrownBy(() -> queue.resize(30)).isInstanceOf(UnsupportedVerbException.class);
        assertThatThrownBy(() -> queue.resize(1001)).hasMessageContainingAll("EINVAL", "1001", "1 to 1000");
        assertThatThrownBy(() -> queue.resize(3)).hasMessageContainingAll("EINVAL", "armed at 4");
        assertThat(fake.log()).as("nothing else reached the device").isEmpty();
    }

    /// A queue that is too small for its receives must not reach the driver: rxe breaks.
    @Test
    void countsTheReceivesOfASharedQueueBeforeItIsResized() {
        fake.deviceFlags(DeviceAttributesLayout.DEVICE_RESIZE_SHARED_RECEIVE_QUEUE);
        context.close();
        context = fake.open();
        domain = context.allocateProtectionDomain();
        SharedReceiveQueue shared = domain.createSharedReceiveQueue(SharedReceiveQueueOptions.ofDepth(10));
        CompletionQueue queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(64));
        QueuePair pair = domain.createQueuePair(QueuePairOptions.reliable(queue).withSharedReceives(shared));
        pair.connect(pair.info());
        try (Arena arena = Arena.ofConfined()) {
            ReceiveBatch receives = ReceiveBatch.create(arena, 8, 1);
            for (int i = 0; i < 8; i++) {
                receives.receive(i);
            }
            assertThat(shared.post(receives)).isEqualTo(8);
            SendBatch sends = SendBatch.create(arena, 3, 1, 0);
            sends.send(1).send(2).send(3);
            assertThat(pair.post(sends)).isEqualTo(3);
            fake.log();
            assertThatThrownBy(() -> shared.resize(7)).hasMessageContainingAll("EINVAL", "up to 8 are posted");
            assertThat(queue.poll(Completions.create(arena, 16))).isEqualTo(3);
            assertThatThrownBy(() -> shared.resize(4)).hasMessageContainingAll("EINVAL", "up to 5 are posted");
            pair.close();
            assertThatThrownBy(() -> shared.resize(4)).hasMessageContainingAll("EINVAL", "up to 5 are posted");
            assertThat(fake.log()).noneMatch(call -> call.startsWith("modify_srq"));
            shared.resize(5);
            assertThat(fake.log()).anyMatch(call -> call.contains("wr=5"));
        }
    }

    @Test
    void createsAddressHandles() {
        AddressVector vector = new AddressVector(new Gid(0x2001L << 48, 0x99), 0xabcd, 3, 1, 5, 96, 255, 0xfffff, 5, 3);
        domain.createAddressHandle(vector).close();
        assertThat(fake.log())
                .containsExactly(
                        "create_ah pd1 gid=20..99 flow=fffff sgid=3 hop=255 class=96 lid=abcd sl=5 bits=5 rate=3 global=1 port=1",
                        "destroy_ah ah2");
        fails("ibv_create_ah", EINVAL, () -> domain.createAddressHandle(vector));
    }

    @Test
    void startsDatagramsAndJoinsMulticastGroups() {
        CompletionQueue queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(8));
        QueuePair pair =
                domain.createQueuePair(QueuePairOptions.reliable(queue).withType(QueuePairType.UNRELIABLE_DATAGRAM));
        fake.log();
        Gid group = new Gid(0xff0eL << 48, 0x99);
        pair.startDatagrams(DatagramOptions.ofKey(0x11111111));
        assertThat(fake.log())
                .satisfiesExactly(
                        // STATE, PKEY_INDEX, PORT, QKEY; STATE; STATE, SQ_PSN
                        line -> assertThat(line)
                                .startsWith("modify_qp qp3 mask=71 state=1")
                                .contains("qkey=11111111", "port=1"),
                        line -> assertThat(line).startsWith("modify_qp qp3 mask=1 state=2"),
                        line -> assertThat(line).startsWith("modify_qp qp3 mask=10001 state=3"));
        assertThat(pair.state()).isEqualTo(QueuePairState.READY_TO_SEND);

        pair.attach(group, 0xc001);
        pair.detach(group, 0xc001);
        fails("ibv_detach_mcast", EINVAL, () -> {
            pair.attach(group, 0xc001);
            fake.log();
            pair.detach(group, 0xc001);
        });
        fails("ibv_attach_mcast", ENOMEM, () -> pair.attach(new Gid(0xff0eL << 48, 0x98)));
        fake.log();
        pair.close();
        assertThat(fake.log()).containsExactly("detach_mcast qp3 gid=ff..99 lid=c001", "destroy_qp qp3");
    }

    @Test
    void anUnreliableConnectionHasNoAttributesOfAReliableOne() {
        CompletionQueue queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(8));
        QueuePair pair =
                domain.createQueuePair(QueuePairOptions.reliable(queue).withType(QueuePairType.UNRELIABLE_CONNECTED));
        fake.log();
        pair.connect(FakeVerbs.PEER);
        assertThat(fake.log().stream().filter(line -> line.startsWith("modify_qp")))
                .satisfiesExactly(
                        // STATE, ACCESS_FLAGS, PKEY_INDEX, PORT; STATE, AV, PATH_MTU, RQ_PSN, DEST_QPN; STATE, SQ_PSN
                        line -> assertThat(line)
                                .startsWith("modify_qp qp3 mask=39 state=1")
                                .contains("access=3 "),
                        line -> assertThat(line).startsWith("modify_qp qp3 mask=101181 state=2"),
                        line -> assertThat(line).startsWith("modify_qp qp3 mask=10001 state=3"));
    }

    @Test
    void createsQueuePairs() {
        CompletionQueue sends = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(8));
        CompletionQueue receives = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(8));
        SharedReceiveQueue shared = domain.createSharedReceiveQueue(SharedReceiveQueueOptions.ofDepth(4));
        fake.log();
        QueuePairOptions options = QueuePairOptions.reliable(sends)
                .withReceiveCompletions(receives)
                .withSizes(new QueueSizes(5, 6, 7, 8, 9));
        QueuePair pair = domain.createQueuePair(options);
        assertThat(pair.sizes()).isEqualTo(new QueueSizes(7, 6, 7, 8, 100));
        domain.createQueuePair(options.withSharedReceives(shared)
                        .withType(QueuePairType.UNRELIABLE_DATAGRAM)
                        .withSignalAll(true))
                .close();
        assertThat(fake.log())
                .containsExactly(
                        "create_qp pd1 cq2 cq3 0 send=5/7 recv=6/8 inline=9 type=2 all=0",
                        "create_qp pd1 cq2 cq3 srq4 send=5/7 recv=0/0 inline=9 type=4 all=1",
                        "destroy_qp qp6");
        assertThat(context.queuePair(pair.number())).isSameAs(pair);
        fails("ibv_create_qp", ENOMEM, () -> domain.createQueuePair(options));
        fails("ibv_destroy_qp", 16, pair::close);
    }

    private static ConnectionOptions everyOption() {
        return ConnectionOptions.defaults()
                .withPath(PathOptions.defaults()
                        .withGidIndex(2)
                        .withMtu(PathMtu.MTU_512)
                        .withQuality(7, 104)
                        .withPartitionKeyIndex(8)
                        .withSubnetPath(127, 6))
                .withRetries(RetryOptions.defaults()
                        .withTimeout(new AckTimeout(15), 6)
                        .withReceiverNotReady(5, new RnrTimer(13)))
                .withAccessFlags(Set.of(AccessFlag.REMOTE_READ))
                .withReadAtomic(3, 4);
    }

    @Test
    void bringsAQueuePairUpWithEveryOption() {
        CompletionQueue queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(8));
        QueuePair pair = domain.createQueuePair(QueuePairOptions.reliable(queue));
        fake.log();
        Gid gid = new Gid(0xfe80L << 48, 0x77);
        ConnectionOptions how = everyOption();
        pair.connect(new QueuePairInfo(0xabc, 0x123456, 0x1f, gid, PathMtu.MTU_2048), how);
        assertThat(fake.log())
                .usingElementComparator(
                        (a, b) -> a.replaceAll("sq_psn=[0-9a-f]+", "sq_psn=?").compareTo(b))
                .containsExactly(
                        "modify_qp qp3 mask=39 state=1 cur=0 mtu=0 qkey=0 rq_psn=0 sq_psn=? dest=0 access=4 pkey=8"
                                + " drain=0 rd=0 dest_rd=0 rnr_timer=0 port=1 timeout=0 retry=0 rnr=0",
                        "modify_qp qp3 mask=129181 state=2 cur=0 mtu=2 qkey=0 rq_psn=123456 sq_psn=? dest=abc access=0"
                                + " pkey=0 drain=0 rd=0 dest_rd=4 rnr_timer=13 port=0 timeout=0 retry=0 rnr=0",
                        "av gid=fe..77 flow=0 sgid=2 hop=64 class=104 lid=1f sl=7 bits=127 rate=6 global=1 port=1",
                        "modify_qp qp3 mask=12e01 state=3 cur=0 mtu=0 qkey=0 rq_psn=0 sq_psn=? dest=0 access=0 pkey=0"
                                + " drain=0 rd=3 dest_rd=0 rnr_timer=0 port=0 timeout=15 retry=6 rnr=5");
        assertThat(pair.query().state()).isEqualTo(QueuePairState.READY_TO_SEND);
        fails(
                "ibv_modify_qp",
                EINVAL,
                () -> pair.modify(new QueuePairAttributes()
                        .state(QueuePairState.SEND_QUEUE_DRAIN)
                        .drainNotification(true)));
        assertThat(pair.state()).as("after a change that failed").isEqualTo(QueuePairState.READY_TO_SEND);
        fake.fail("ibv_query_qp", EINVAL);
        assertThat(pair.query().state())
                .as("of a device that does not report it")
                .isEqualTo(QueuePairState.READY_TO_SEND);
    }

    @Test
    void queriesEverythingThatTheDeviceReports() {
        CompletionQueue queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(8));
        QueuePair pair = domain.createQueuePair(QueuePairOptions.reliable(queue));
        assertThat(pair.query().present())
                .containsExactlyInAnyOrder(
                        QueuePairAttribute.STATE, QueuePairAttribute.CURRENT_STATE, QueuePairAttribute.CAPACITY);
        Gid gid = new Gid(0xfe80L << 48, 0x77);
        ConnectionOptions how = everyOption();
        pair.connect(new QueuePairInfo(0xabc, 0x123456, 0x1f, gid, PathMtu.MTU_2048), how);
        fake.log();
        QueuePairAttributes now = pair.query();
        assertThat(fake.log())
                .as("what was set, the state and the sizes")
                .containsExactly("query_qp qp3 mask=" + Integer.toHexString(0x39 | 0x129181 | 0x12e01 | 0x80000));
        assertThat(now.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(now.currentState()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(now.maxReadAtomic()).as("the device has rounded it up").isEqualTo(4);
        assertThat(now.maxDestinationReadAtomic()).isEqualTo(4);
        assertThat(AccessFlag.of(now.accessFlags())).containsExactly(AccessFlag.REMOTE_READ);
        assertThat(now.partitionKeyIndex()).isEqualTo(8);
        assertThat(now.port()).isEqualTo(1);
        assertThat(now.pathMtu()).isEqualTo(PathMtu.MTU_512);
        assertThat(now.destinationNumber()).isEqualTo(0xabc);
        assertThat(now.receivePsn()).isEqualTo(0x123456);
        assertThat(now.sendPsn()).isEqualTo(pair.info().packetSequenceNumber());
        assertThat(now.timeout()).isEqualTo(new AckTimeout(15));
        assertThat(now.retryCount()).isEqualTo(6);
        assertThat(now.rnrRetry()).isEqualTo(5);
        assertThat(now.minRnrTimer()).isEqualTo(new RnrTimer(13));
        assertThat(now.addressVector()).isEqualTo(new AddressVector(gid, 0x1f, 2, 1, 7, 104, 64, 0, 127, 6));
        assertThat(now.sizes()).isEqualTo(new QueueSizes(130, 128, 1, 1, 100)).isEqualTo(pair.sizes());
        assertThat(now.draining()).isFalse();
        assertThat(now.toString())
                .contains(
                        "STATE=READY_TO_SEND",
                        "DESTINATION_NUMBER=0xabc",
                        "RETRY_COUNT=6",
                        "ACCESS_FLAGS=[REMOTE_READ]")
                .doesNotContain("QUEUE_KEY");
        pair.modify(
                new QueuePairAttributes().state(QueuePairState.SEND_QUEUE_DRAIN).drainNotification(true));
        assertThat(pair.query().draining()).isTrue();
        assertThat(pair.query().drainNotification()).isTrue();
        assertThatThrownBy(() -> pair.modify(new QueuePairAttributes().sizes(QueueSizes.defaults())))
                .hasMessageContaining("CAPACITY");
        pair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        assertThat(pair.query().present()).as("forgotten").hasSize(3);
    }

    /// The path and the sizes cannot be zero, so they are as they were set.
    @Test
    void queriesADriverThatReportsTheStateAlone() {
        fake.forget(true);
        CompletionQueue queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(8));
        QueuePair pair = domain.createQueuePair(QueuePairOptions.reliable(queue));
        pair.connect(FakeVerbs.PEER);
        QueuePairAttributes now = pair.query();
        assertThat(now.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(now.sizes()).isEqualTo(pair.sizes());
        assertThat(now.addressVector().destinationGid()).isEqualTo(FakeVerbs.PEER.gid());
    }

    @Test
    void queriesAQueuePairForDatagrams() {
        CompletionQueue queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(8));
        QueuePair pair =
                domain.createQueuePair(QueuePairOptions.reliable(queue).withType(QueuePairType.UNRELIABLE_DATAGRAM));
        pair.startDatagrams(DatagramOptions.ofKey(0x11111111));
        QueuePairAttributes now = pair.query();
        assertThat(now.queueKey()).isEqualTo(0x11111111);
        assertThat(now.sendPsn()).isEqualTo(pair.info().packetSequenceNumber());
        assertThat(now.has(QueuePairAttribute.TIMEOUT)).isFalse();
        assertThat(fake.log())
                .last()
                .asString()
                .isEqualTo("query_qp qp3 mask=" + Integer.toHexString(0x71 | 0x10001 | 0x80000));
    }

    @Test
    void aPortHasItsPartitionKeys() {
        CompletionQueue queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(8));
        QueuePair pair = domain.createQueuePair(QueuePairOptions.reliable(queue));
        PathOptions path = PathOptions.defaults();
        ConnectionOptions how = ConnectionOptions.defaults().withPath(path.withPartitionKeyIndex(9));
        fake.log();
        assertThatThrownBy(() -> pair.connect(FakeVerbs.PEER, how))
                .hasMessageContainingAll("EINVAL", "port 1 of fake0", "no partition key 9", "0 to 8");
        fake.fail("ibv_query_pkey", EINVAL);
        assertThatThrownBy(() -> pair.initialize(how.withPath(path.withPartitionKeyIndex(8))))
                .hasMessageContaining("ibv_query_pkey");
        assertThat(fake.log()).noneMatch(line -> line.startsWith("modify_qp"));
        assertThat(pair.state()).isEqualTo(QueuePairState.RESET);
    }

    @Test
    void bindsMemoryWindows() {
        CompletionQueue queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(8));
        QueuePair pair = domain.createQueuePair(QueuePairOptions.reliable(queue));
        pair.connect(FakeVerbs.PEER);
        MemoryRegion region = domain.allocate(64, EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.WINDOW_BIND));
        fake.log();
        MemoryWindow window = domain.allocateWindow(MemoryWindowType.TYPE_1);
        int key = window.remoteKey();
        pair.bind(9, window, region, 8, 16, Set.of(AccessFlag.REMOTE_READ), 2);
        assertThat(window.remoteKey()).isEqualTo(key + 1);
        assertThatThrownBy(region::close).hasMessageContaining("EBUSY");
        fake.fail("bind_mw", EINVAL);
        assertThatThrownBy(() -> pair.bind(9, window, region, 8, 16, Set.of(), 2))
                .hasMessageContaining("ibv_bind_mw");
        window.close();
        assertThat(window.remoteKey()).isEqualTo(key + 1);
        region.close();
        assertThat(fake.log())
                .containsExactly(
                        "alloc_mw pd1 type=1",
                        "bind_mw qp3 mw5 id=9 flags=2 mr4 addr=1 length=16 access=4",
                        "bind_mw qp3 mw5 id=9 flags=2 mr4 addr=1 length=16 access=0",
                        "dealloc_mw mw5",
                        "dereg_mr mr4");
        fake.fail("alloc_mw", ENOMEM);
        assertThatThrownBy(() -> domain.allocateWindow(MemoryWindowType.TYPE_2))
                .hasMessageContainingAll("ibv_alloc_mw", "ENOMEM");
    }

    @Test
    void closesEverythingInOrder() {
        CompletionChannel channel = context.createCompletionChannel();
        CompletionQueue queue = context.createCompletionQueue(
                CompletionQueueOptions.ofCapacity(8).withChannel(channel));
        domain.createQueuePair(QueuePairOptions.reliable(queue));
        domain.allocate(8, Set.of());
        fake.log();
        context.close();
        assertThat(fake.log())
                .containsExactly(
                        "dereg_mr mr5",
                        "destroy_qp qp4",
                        "dealloc_pd pd1",
                        "destroy_cq cq3 unacknowledged=0",
                        "destroy_comp_channel channel2",
                        "close context0");
    }

    @Test
    void findsOutByTryingWhetherCompletionQueuesCanBeResized() {
        context.close();
        fake.profile("mana");
        context = fake.open();
        fake.log();
        fake.fail("ibv_create_cq", ENOMEM);
        assertThat(context.supports(Capability.RESIZE_COMPLETION_QUEUE))
                .as("unknown yet")
                .isTrue();
        assertThat(context.supports(Capability.RESIZE_COMPLETION_QUEUE)).isFalse();
        assertThat(context.supports(Capability.RESIZE_COMPLETION_QUEUE)).isFalse();
        assertThat(fake.log())
                .as("tried once, with a queue that is gone")
                .hasSize(2)
                .anyMatch(call -> call.startsWith("create_cq"))
                .anyMatch(call -> call.startsWith("destroy_cq"));
        CompletionQueue queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(8));
        assertThatThrownBy(() -> queue.resize(16)).isInstanceOf(UnsupportedVerbException.class);
    }

    @Test
    void knowsTheCapabilitiesOfTheDevice() {
        assertThat(context.supports(Capability.CONNECT_BY_NUMBERS)).isTrue();
        assertThat(context.supports(Capability.ATOMICS)).isTrue();
        assertThat(context.supports(Capability.MEMORY_WINDOW_TYPE_2)).isTrue();
        assertThat(context.supports(Capability.RESIZE_SHARED_RECEIVE_QUEUE)).isFalse();
        assertThat(context.supports(Capability.REREGISTER_MEMORY)).isTrue();
        assertThat(context.supports(Capability.FENCED_READ)).isTrue();
        assertThat(context.supports(Capability.EMPTY_ELEMENTS)).isTrue();
        assertThat(context.supports(Capability.SHORT_READ_ACROSS_PAGES)).isTrue();
        assertThat(context.supports(Capability.FLUSH_IN_ERROR)).isTrue();
        assertThat(context.supports(Capability.SEND_QUEUE_DRAIN)).isTrue();
        assertThat(context.supports(Capability.RESET)).isTrue();
        context.close();
        fake.kind(0, 0xffffff);
        context = fake.open();
        assertThat(context.supports(Capability.REREGISTER_MEMORY)).as("rxe").isFalse();
        context.close();
        fake.kind(1, 0x626d74);
        context = fake.open();
        assertThat(context.supports(Capability.CONNECT_BY_NUMBERS)).as("siw").isFalse();
        assertThat(context.supports(Capability.WRITE_WITH_IMMEDIATE)).isFalse();
        assertThat(context.supports(Capability.FENCED_READ)).isFalse();
        assertThat(context.supports(Capability.EMPTY_ELEMENTS)).isFalse();
        assertThat(context.supports(Capability.SHORT_READ_ACROSS_PAGES)).isFalse();
        assertThat(context.supports(Capability.FLUSH_IN_ERROR)).isFalse();
        assertThat(context.supports(Capability.SEND_QUEUE_DRAIN)).isFalse();
        assertThat(context.supports(Capability.RESET)).isFalse();
        assertThat(context.supports(Capability.SOLICITED_EVENTS)).isFalse();
        fake.log();
        CompletionQueue queue = context.createCompletionQueue(
                CompletionQueueOptions.ofCapacity(8).withChannel(context.createCompletionChannel()));
        queue.armSolicited();
        assertThat(fake.log())
                .as("never armed for solicited events")
                .anyMatch(call -> call.startsWith("req_notify_cq cq") && call.endsWith(" 0"));
    }

    @Test
    void noQueueOfSiwBeginsAtTheOffsetThatItsLibraryRejects() {
        context.close();
        fake.kind(1, 0x626d74);
        context = fake.open();
        domain = context.allocateProtectionDomain();
        fake.log();
        fake.fail("ibv_create_cq", ENOMEM);
        assertThatThrownBy(() -> domain.createSharedReceiveQueue(SharedReceiveQueueOptions.ofDepth(4)))
                .isInstanceOf(VerbException.class)
                .hasMessageContainingAll("ibv_create_cq", "placeholder of", "fake0");
        assertThat(fake.log()).as("the shared receive queue is not created").isEmpty();
        domain.createSharedReceiveQueue(SharedReceiveQueueOptions.ofDepth(4));
        assertThat(fake.log())
                .as("the first queue covers 0x90000")
                .satisfiesExactly(
                        call -> assertThat(call).contains("create_cq", " cqe=18433 "),
                        call -> assertThat(call).contains("create_srq"));
        context.createCompletionQueue(CompletionQueueOptions.ofCapacity(8));
        assertThat(fake.log()).as("only one").singleElement().asString().contains("create_cq", " cqe=8 ");
        context.close();
        assertThat(fake.log()).filteredOn(call -> call.startsWith("destroy_cq")).hasSize(2);
        assertThat(fake.log()).isEmpty();
    }
}
