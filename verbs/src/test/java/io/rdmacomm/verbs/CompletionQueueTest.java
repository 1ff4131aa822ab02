package io.rdmacomm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Behavior of completion queues, channels, domains and regions that is common to all providers.
class CompletionQueueTest {
    private final NullDrivers device = new NullDrivers();
    private Context context;
    private CompletionChannel channel;
    private CompletionQueue queue;

    @BeforeEach
    void open() {
        context = Device.of(device).open();
        channel = context.createCompletionChannel();
        queue = context.createCompletionQueue(
                CompletionQueueOptions.ofCapacity(10).withChannel(channel));
    }

    @AfterEach
    void close() {
        context.close();
        assertThat(Rdma.openContexts()).isEmpty();
    }

    @Test
    void countsDeliveredAndAcknowledgedEvents() throws Exception {
        device.events.add(queue.driver().handle());
        device.events.add(queue.driver().handle());
        assertThat(channel.awaitEvent(Duration.ZERO)).isSameAs(queue);
        assertThat(channel.awaitEvent(Duration.ZERO)).isSameAs(queue);
        assertThat(channel.awaitEvent(Duration.ZERO)).isNull();
        assertThat(queue.unacknowledged()).isEqualTo(2);

        queue.acknowledge(1);

        assertThat(queue.unacknowledged()).isEqualTo(1);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> queue.acknowledge(2))
                .withMessageContaining("2 events acknowledged, 1 of");
        assertThatIllegalArgumentException().isThrownBy(() -> queue.acknowledge(-1));
        assertThat(queue.unacknowledged()).isEqualTo(1);
    }

    @Test
    void aCompletionVectorIsOneOfTheDevice() {
        CompletionQueueOptions options = CompletionQueueOptions.ofCapacity(1);
        assertThat(options.withVector(1).withChannel(channel).withSingleThreaded(true))
                .isEqualTo(options.withSingleThreaded(true).withChannel(channel).withVector(1))
                .hasToString(
                        "CompletionQueueOptions[capacity=1, channel=" + channel + ", vector=1, singleThreaded=true]");
        context.createCompletionQueue(options.withVector(1)).close();
        assertThatThrownBy(() -> context.createCompletionQueue(options.withVector(2)))
                .isInstanceOfSatisfying(
                        VerbException.class,
                        failure -> assertThat(failure.errno()).isEqualTo(Errno.EINVAL))
                .hasMessageContainingAll("null0", "no completion vector 2", "0 to 1");
        assertThatIllegalArgumentException().isThrownBy(() -> options.withVector(-1));
    }

    @Test
    void theLimitsOfTheDeviceAreQueriedOnce() {
        int before = device.queries;
        context.createCompletionQueue(CompletionQueueOptions.ofCapacity(1)).close();
        assertThat(context.limit(DeviceLimit.MAX_SGE)).isEqualTo(4);
        context.fitting(ConnectionOptions.defaults());
        assertThat(device.queries).as("the first queue has asked").isEqualTo(before);
        assertThat(before).isEqualTo(1);
        context.attributes();
        assertThat(device.queries).isEqualTo(2);
    }

    @Test
    void closeAcknowledgesTheRemainingEvents() throws Exception {
        device.events.add(queue.driver().handle());
        channel.awaitEvent(Duration.ZERO);

        queue.close();

        assertThat(device.acknowledged).isEqualTo(1);
    }

    @Test
    void cannotBeArmedWithoutAChannel() {
        CompletionQueue polled = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(1));
        assertThatThrownBy(() -> polled.arm()).hasMessageContaining("EINVAL").hasMessageContaining("without a channel");
    }

    @Test
    void aChannelWithQueuesCannotBeClosed() {
        assertThatThrownBy(channel::close).isInstanceOf(VerbException.class).hasMessageContaining("EBUSY");
        queue.close();
        channel.close();
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void aQueueWithQueuePairsCannotBeClosed() {
        ProtectionDomain domain = context.allocateProtectionDomain();
        QueuePair pair = domain.createQueuePair(
                QueuePairOptions.reliable(queue).withSizes(QueueSizes.defaults().withDepth(8, 8)));
        assertThatThrownBy(queue::close).hasMessageContaining("EBUSY").hasMessageContaining("queue pair 0x11");
        pair.close();
        queue.close();
        assertThat(queue.isOpen()).isFalse();
    }

    @Test
    void pollsAtMostTheRequestedNumber() {
        try (Arena arena = Arena.ofConfined()) {
            Completions two = Completions.create(arena, 2);
            for (int i = 0; i < 3; i++) {
                device.complete(i, WorkStatus.SUCCESS, CompletionOpcode.SEND, 0x11);
            }
            assertThat(queue.poll(two, 1)).isEqualTo(1);
            assertThat(queue.poll(two)).isEqualTo(2);
            assertThat(two.workId(1)).isEqualTo(2);
            assertThat(queue.poll(two)).isZero();
            assertThat(two.size()).isZero();
            assertThatIllegalArgumentException().isThrownBy(() -> queue.poll(two, 3));
        }
    }

    @Test
    void useAfterCloseNamesTheObject() {
        queue.close();
        try (Arena arena = Arena.ofConfined()) {
            Completions room = Completions.create(arena, 1);
            assertThatIllegalStateException()
                    .isThrownBy(() -> queue.poll(room))
                    .withMessage("completion queue of 10 on null0 is closed");
        }
        assertThatIllegalStateException().isThrownBy(() -> queue.arm());
        assertThatIllegalStateException().isThrownBy(() -> queue.resize(20));
        assertThatIllegalStateException().isThrownBy(() -> queue.moderate(1, Duration.ofMillis(1)));
    }

    @Test
    void unsupportedCallsNameTheCapability() {
        device.capabilities.clear();
        ProtectionDomain domain = context.allocateProtectionDomain();
        MemoryRegion region = domain.allocate(8, Set.of());
        AddressVector vector = new AddressVector(Gid.NONE, 1, 0, 1, 0, 0, 0, 0);
        assertUnsupported(Capability.RESIZE_COMPLETION_QUEUE, () -> queue.resize(20));
        assertUnsupported(Capability.COMPLETION_MODERATION, () -> queue.moderate(1, Duration.ofMillis(1)));
        assertUnsupported(Capability.REREGISTER_MEMORY, () -> region.reregister(null, null, Set.of()));
        assertUnsupported(Capability.MEMORY_WINDOW_TYPE_1, () -> domain.allocateWindow(MemoryWindowType.TYPE_1));
        assertUnsupported(Capability.MEMORY_WINDOW_TYPE_2, () -> domain.allocateWindow(MemoryWindowType.TYPE_2));
        assertUnsupported(
                Capability.SHARED_RECEIVE_QUEUE,
                () -> domain.createSharedReceiveQueue(SharedReceiveQueueOptions.ofDepth(1)));
        assertUnsupported(Capability.UNRELIABLE_DATAGRAM, () -> domain.createAddressHandle(vector));
        assertUnsupported(
                Capability.RELIABLE_CONNECTED, () -> domain.createQueuePair(QueuePairOptions.reliable(queue)));
    }

    private static void assertUnsupported(Capability capability, Runnable call) {
        assertThatThrownBy(call::run)
                .isInstanceOfSatisfying(UnsupportedVerbException.class, rejected -> {
                    assertThat(rejected.capability()).isEqualTo(capability);
                    assertThat(rejected.errno()).isEqualTo(Errno.EOPNOTSUPP);
                })
                .hasMessageContaining("null0");
    }

    @Test
    void memoryIsCheckedBeforeItIsRegistered() {
        ProtectionDomain domain = context.allocateProtectionDomain();
        try (Arena confined = Arena.ofConfined();
                Arena shared = Arena.ofShared()) {
            MemorySegment memory = shared.allocate(64);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> domain.register(MemorySegment.ofArray(new byte[8]), Set.of()))
                    .withMessageContaining("on the heap");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> domain.register(confined.allocate(8), Set.of()))
                    .withMessageContaining("Arena.ofShared()");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> domain.register(memory.asSlice(0, 0), Set.of()))
                    .withMessageContaining("empty");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> domain.register(memory.asReadOnly(), Set.of(AccessFlag.LOCAL_WRITE)))
                    .withMessageContaining("read-only");
            assertThatIllegalArgumentException().isThrownBy(() -> domain.allocate(0, Set.of()));
            for (AccessFlag remote : Set.of(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC)) {
                assertThatThrownBy(() -> domain.register(memory, Set.of(remote)))
                        .hasMessageContaining("EINVAL")
                        .hasMessageContaining("LOCAL_WRITE");
            }
            MemoryRegion region = domain.register(memory, Set.of(AccessFlag.REMOTE_READ));
            assertThat(region.remote()).isEqualTo(new RemoteMemory(memory.address(), 64, 0x43));
            assertThatThrownBy(() -> region.reregister(null, null, Set.of(AccessFlag.REMOTE_WRITE)))
                    .hasMessageContaining("EINVAL");
            region.close();
        }
    }

    @Test
    void aReregisteredRegionBelongsToItsNewDomain() {
        ProtectionDomain first = context.allocateProtectionDomain();
        ProtectionDomain second = context.allocateProtectionDomain();
        MemoryRegion region = first.allocate(8, Set.of());
        region.reregister(null, second, Set.of(AccessFlag.LOCAL_WRITE));
        assertThat(region.protectionDomain()).isSameAs(second);
        assertThat(region.access()).containsExactly(AccessFlag.LOCAL_WRITE);
        try (Context other = Device.of(device).open()) {
            ProtectionDomain foreign = other.allocateProtectionDomain();
            assertThatThrownBy(() -> region.reregister(null, foreign, null)).hasMessageContaining("EINVAL");
        }
        first.close();
        assertThatIllegalStateException().isThrownBy(() -> region.reregister(null, first, null));
        assertThat(region.isOpen()).as("open without its first domain").isTrue();
        region.reregister(null, second, null);
        second.close();
        assertThat(region.isOpen()).as("open without its domain").isFalse();
    }

    @Test
    void remoteMemoryIsSlicedWithinItsBounds() {
        RemoteMemory memory = new RemoteMemory(0x1000, 100, 7);
        assertThat(memory.slice(10, 90)).isEqualTo(new RemoteMemory(0x100a, 90, 7));
        assertThatThrownBy(() -> memory.slice(10, 91)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(MemoryWindow.nextKey(0x12ff)).isEqualTo(0x1200);
        assertThat(MemoryWindow.nextKey(0x1200)).isEqualTo(0x1201);
    }
}
