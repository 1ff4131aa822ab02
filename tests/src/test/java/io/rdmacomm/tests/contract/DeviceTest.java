package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.Deviation;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.LocalSharedReceives;
import io.rdmacomm.tests.fixture.LocalWindow;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.DeviceAttributes;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.MemoryWindowType;
import io.rdmacomm.verbs.PathOptions;
import io.rdmacomm.verbs.PortAttributes;
import io.rdmacomm.verbs.PortState;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.UnsupportedVerbException;
import io.rdmacomm.verbs.VerbException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Finding, opening, querying and closing devices; unsupported calls; use after close.
class DeviceTest extends ContractCase {
    @Test
    void isFoundByItsName() {
        Device device = Rdma.device(fabric.device());
        assertThat(device.name()).isEqualTo(fabric.device());
        assertThat(device.provider()).isEqualTo(fabric.provider());
        assertThat(Rdma.providerNames()).contains(fabric.provider());
        assertThatThrownBy(() -> Rdma.open("no_such_device"))
                .isInstanceOfSatisfying(
                        VerbException.class,
                        absent -> assertThat(absent.errno()).isEqualTo(Errno.ENODEV))
                .hasMessageContaining("no_such_device")
                .hasMessageContaining(fabric.listedDevice());
    }

    @Test
    void describesItself() {
        DeviceAttributes attributes = here().context().attributes();
        assertThat(attributes.ports()).isPositive();
        for (DeviceLimit limit : new DeviceLimit[] {
            DeviceLimit.MAX_QUEUE_PAIRS,
            DeviceLimit.MAX_QUEUE_PAIR_DEPTH,
            DeviceLimit.MAX_SGE,
            DeviceLimit.MAX_COMPLETION_QUEUES,
            DeviceLimit.MAX_COMPLETION_QUEUE_DEPTH,
            DeviceLimit.MAX_REGIONS,
            DeviceLimit.MAX_REGION_SIZE
        }) {
            assertThat(attributes.limit(limit)).as("%s", limit).isPositive();
        }
        PortAttributes port = here().context().port(1);
        assertThat(port.state()).isEqualTo(PortState.ACTIVE);
        assertThat(port.maxMessageSize()).isGreaterThanOrEqualTo(1L << 23);
        assertThat(here().context().gid(1, 0)).isNotEqualTo(Gid.NONE);
        if (has(Deviation.NO_PARTITIONS)) {
            assertThatThrownBy(() -> here().context().partitionKey(1, 0)).isInstanceOf(VerbException.class);
        } else {
            assertThat(here().context().partitionKey(1, 0) & 0x7fff).isNotZero();
        }
    }

    @Test
    void rejectsAPortThatDoesNotExist() {
        for (int port : new int[] {0, 2, 255}) {
            assertThatThrownBy(() -> here().context().port(port))
                    .isInstanceOfSatisfying(
                            VerbException.class,
                            rejected -> assertThat(rejected.errno()).isEqualTo(Errno.EINVAL));
        }
        assertThatThrownBy(() -> here().context().gid(1, 9999)).isInstanceOf(VerbException.class);
        assertThatThrownBy(() -> here().context().partitionKey(1, 9999)).isInstanceOf(VerbException.class);
    }

    @Test
    void rejectsAPathThatThePortDoesNotHave() {
        Context context = here().context();
        CompletionQueue queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(4));
        QueuePair pair = context.allocateProtectionDomain()
                .createQueuePair(QueuePairOptions.reliable(queue)
                        .withSizes(QueueSizes.defaults().withInline(0)));
        PathOptions path = PathOptions.defaults();
        int beyond = Math.max(1, context.port(1).partitionKeyTableLength());
        for (PathOptions wrong : List.of(path.withPartitionKeyIndex(beyond), path.withSubnetPath(127, 0))) {
            assertThatThrownBy(
                            () -> pair.initialize(ConnectionOptions.defaults().withPath(wrong)))
                    .isInstanceOfSatisfying(
                            VerbException.class,
                            rejected -> assertThat(rejected.errno()).isEqualTo(Errno.EINVAL))
                    .hasMessageContainingAll("port 1 of", fabric.device());
        }
        assertThat(pair.state()).isEqualTo(QueuePairState.RESET);
        pair.close();
        queue.close();
    }

    @Test
    void numbersAreUniqueAndFound() {
        boolean again = has(Deviation.NUMBERS_ARE_USED_AGAIN);
        Set<Integer> numbers = new HashSet<>();
        for (int i = 0; i < 50; i++) {
            LocalQueue queue = here().queue(Spec.usual());
            assertThat(numbers.add(queue.number())).isTrue();
            if (again && i % 3 == 0) {
                numbers.remove(queue.number());
            }
            assertThat(queue.number()).isBetween(1, 0xffffff);
            assertThat(here().context().queuePair(queue.number())).isSameAs(queue.queuePair());
            if (i % 3 == 0) {
                queue.close();
                assertThat(here().context().queuePair(queue.number())).isNull();
            }
        }
    }

    @Test
    void queuePairInfoIsComplete() {
        QueuePairInfo mine = here().queue(Spec.usual()).info();
        QueuePairInfo theirs = there().queue(Spec.usual()).info();
        assertThat(mine.number()).isNotZero();
        assertThat(mine.packetSequenceNumber()).isBetween(0, 0xffffff);
        assertThat(mine.gid()).isNotEqualTo(Gid.NONE);
        assertThat(theirs).isNotEqualTo(mine);
    }

    @Test
    void anObjectInUseCannotBeClosed() {
        LocalQueue queue = here().queue(Spec.usual());
        for (AutoCloseable busy : new AutoCloseable[] {queue.completionQueue(), queue.channel()}) {
            assertThatThrownBy(busy::close)
                    .isInstanceOfSatisfying(
                            VerbException.class,
                            rejected -> assertThat(rejected.errno()).isEqualTo(Errno.EBUSY));
        }
        queue.initialize(patient());
        assertThat(queue.receive(1)).as("still usable").isEqualTo(1);
    }

    @Test
    void closingAContextClosesEverythingInIt() {
        Context context = closing(Rdma.open(fabric.device()));
        var domain = context.allocateProtectionDomain();
        var region = domain.allocate(4096, everything());
        var channel = context.createCompletionChannel();
        var queue = context.createCompletionQueue(
                CompletionQueueOptions.ofCapacity(8).withChannel(channel));
        var pair = domain.createQueuePair(here().options(queue, Spec.usual()));
        context.close();
        context.close();
        assertThat(domain.isOpen()).isFalse();
        assertThat(region.isOpen()).isFalse();
        assertThat(channel.isOpen()).isFalse();
        assertThat(queue.isOpen()).isFalse();
        assertThat(pair.isOpen()).isFalse();
        assertThat(Rdma.openContexts()).doesNotContain(context);
    }

    @Test
    void everyObjectNamesItselfWhenItIsUsedAfterClose() {
        Pair pair = connected();
        LocalQueue queue = pair.here();
        LocalWindow window = can(Capability.MEMORY_WINDOW_TYPE_1) ? here().window(MemoryWindowType.TYPE_1) : null;
        LocalSharedReceives shared = can(Capability.SHARED_RECEIVE_QUEUE) ? here().sharedReceives(8, 1) : null;
        queue.close();
        closed("queue pair 0x", () -> queue.post(Work.send(1)));
        closed("queue pair 0x", () -> queue.receive(1));
        closed("queue pair 0x", queue::state);
        closed("queue pair 0x", () -> queue.modify(QueuePairState.ERROR));
        closed("completion queue", queue::poll);
        closed("completion queue", () -> queue.arm());
        closed("completion channel", () -> queue.awaitEvent(0));
        if (shared != null) {
            shared.close();
            closed("shared receive queue", () -> shared.receive(1));
            closed("shared receive queue", () -> shared.armLimit(1));
        }
        EndMemory memory = here().allocate(8, everything());
        if (window != null) {
            LocalQueue other = connected().here();
            window.close();
            assertThatThrownBy(() -> other.bind(1, window, memory, 0, 8, Set.of()))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("memory window")
                    .hasMessageContaining("is closed");
        }
        var domain = here().domain();
        domain.close();
        closed("protection domain", () -> domain.allocate(8, everything()));
        Context context = here().context();
        context.close();
        closed(fabric.device(), context::attributes);
        closed(fabric.device(), context::allocateProtectionDomain);
    }

    private static void closed(String name, Runnable use) {
        assertThatIllegalStateException()
                .isThrownBy(use::run)
                .withMessageContaining(name)
                .withMessageContaining("is closed");
    }

    @ParameterizedTest
    @EnumSource(Capability.class)
    void unsupportedCallsThrowWithTheCapability(Capability capability) {
        if (can(capability)) {
            return;
        }
        LocalQueue queue = connected().here();
        EndMemory memory = here().allocate(64, everything());
        var domain = here().domain();
        Runnable call = switch (capability) {
            case UNRELIABLE_CONNECTED -> () -> ofType(queue, QueuePairType.UNRELIABLE_CONNECTED);
            case UNRELIABLE_DATAGRAM ->
                () -> {
                    assertThatThrownBy(() -> ofType(queue, QueuePairType.UNRELIABLE_DATAGRAM))
                            .isInstanceOf(UnsupportedVerbException.class);
                    domain.createAddressHandle(new AddressVector(Gid.NONE, 1, 0, 1, 0, 0, 0, 0));
                };
            case RESIZE_COMPLETION_QUEUE -> () -> queue.resize(100);
            case COMPLETION_MODERATION -> () -> queue.completionQueue().moderate(8, Duration.ofMillis(1));
            case REREGISTER_MEMORY -> () -> memory.reregister(everything());
            case SHARED_RECEIVE_QUEUE -> () -> here().sharedReceives(1, 1);
            case RESIZE_SHARED_RECEIVE_QUEUE ->
                () -> {
                    if (!can(Capability.SHARED_RECEIVE_QUEUE)) {
                        throw new UnsupportedVerbException("there is none to resize", capability, fabric.device());
                    }
                    here().sharedReceives(1, 1).resize(2);
                };
            case MEMORY_WINDOW_TYPE_1 -> () -> here().window(MemoryWindowType.TYPE_1);
            case MEMORY_WINDOW_TYPE_2 -> () -> here().window(MemoryWindowType.TYPE_2);
            // These have no call of their own. Other cases check that their work requests are rejected.
            default ->
                () -> {
                    throw new UnsupportedVerbException("checked elsewhere", capability, fabric.device());
                };
        };
        assertThatThrownBy(call::run).isInstanceOfSatisfying(UnsupportedVerbException.class, rejected -> {
            assertThat(rejected.capability()).isEqualTo(capability);
            assertThat(rejected.errno()).isEqualTo(Errno.EOPNOTSUPP);
        });
    }

    private void ofType(LocalQueue queue, QueuePairType type) {
        here().domain()
                .createQueuePair(
                        QueuePairOptions.reliable(queue.completionQueue()).withType(type));
    }
}
