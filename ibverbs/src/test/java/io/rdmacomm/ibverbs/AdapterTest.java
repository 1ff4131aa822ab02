package io.rdmacomm.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;
import io.rdmacomm.verbs.UnsupportedVerbException;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Set;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Adapters that differ from the kernel's software devices.
class AdapterTest {
    private static final int ENOMEM = 12;
    private static final int EINVAL = 22;
    private static final int INFINIBAND = 0;
    private static final int IWARP = 1;
    private static final int IRDMA = 0x8086;

    private final FakeVerbs fake = FakeVerbs.fresh();
    private Context context;
    private ProtectionDomain domain;
    private CompletionQueue queue;

    @BeforeAll
    static void needsCompiler() {
        CCompiler.require();
    }

    private void open(String profile) {
        fake.profile(profile);
        context = fake.open();
        domain = context.allocateProtectionDomain();
        queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(16));
    }

    private QueuePair pair() {
        return domain.createQueuePair(
                QueuePairOptions.reliable(queue).withSizes(QueueSizes.defaults().withInline(0)));
    }

    @AfterEach
    void close() {
        if (context != null) {
            context.close();
        }
    }

    @Test
    void withoutAtomicsAQueuePairConnectsWithTheOtherRights() {
        open("mlx5");
        QueuePair pair = pair();
        pair.connect(FakeVerbs.PEER);
        assertThat(pair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(fake.log()).anyMatch(call -> call.contains("state=1") && call.contains(" access=7 "));
    }

    @Test
    void withoutAtomicsTheConnectionManagerConnectsToo() throws Exception {
        open("mlx5");
        QueuePair pair = pair();
        try (ConnectionManager manager = ConnectionManager.open(context)) {
            manager.connect(
                    new InetSocketAddress(InetAddress.ofLiteral("10.0.0.9"), 7174),
                    pair,
                    ConnectionParameters.defaults(),
                    Duration.ofMinutes(1));
            assertThat(fake.log()).anyMatch(call -> call.contains("state=1") && call.contains(" access=7 "));
        }
    }

    @Test
    void asksForNoMoreReadsThanTheDeviceAllows() {
        open("mlx5");
        pair().connect(FakeVerbs.PEER, ConnectionOptions.defaults().withReadAtomic(200));
        assertThat(fake.log())
                .anyMatch(call -> call.contains("state=2") && call.contains("dest_rd=16"))
                .anyMatch(call -> call.contains("state=3") && call.contains(" rd=15 "));
    }

    @Test
    void manyCompletionsAreTakenAFewAtATime() {
        open("mlx5");
        QueuePair pair = domain.createQueuePair(
                QueuePairOptions.reliable(queue).withSizes(QueueSizes.defaults().withDepth(1000, 1)));
        pair.connect(FakeVerbs.PEER);
        try (Arena arena = Arena.ofShared()) {
            SendBatch sends = SendBatch.create(arena, 600, 1);
            for (int i = 0; i < 600; i++) {
                sends.send(i).signaled();
            }
            fake.logOff();
            assertThat(pair.post(sends)).isEqualTo(600);
            Completions completions = Completions.create(arena, 1000);
            assertThat(queue.poll(completions, 512)).isEqualTo(512);
            assertThat(completions.workId(511)).isEqualTo(511);
            assertThat(queue.poll(completions)).isEqualTo(88);
            assertThat(completions.workId(87)).isEqualTo(599);
            assertThat(fake.mostPolled()).isEqualTo(256);
        }
    }

    @Test
    void aQueueThatFindsNoMemoryNamesTheLimitOfLockedMemory() {
        open("mlx5");
        fake.fail("ibv_create_cq", ENOMEM);
        namesTheLimit(() -> context.createCompletionQueue(CompletionQueueOptions.ofCapacity(1)));
        fake.fail("ibv_create_qp", ENOMEM);
        namesTheLimit(this::pair);
        fake.fail("ibv_create_srq", ENOMEM);
        namesTheLimit(() -> domain.createSharedReceiveQueue(SharedReceiveQueueOptions.ofDepth(1)));
    }

    private static void namesTheLimit(ThrowingCallable creation) {
        assertThatThrownBy(creation).hasMessageMatching("(?s).*(RLIMIT_MEMLOCK.*ulimit -l|has no memory).*");
    }

    @Test
    void aSharedReceiveQueueWhoseLimitCannotBeArmedIsDestroyed() {
        open("mlx5");
        fake.log();
        fake.fail("ibv_modify_srq", 22);
        SharedReceiveQueueOptions options = SharedReceiveQueueOptions.ofDepth(8).withLimit(4);
        assertThatThrownBy(() -> domain.createSharedReceiveQueue(options)).hasMessageContaining("EINVAL");
        assertThat(fake.log()).anyMatch(call -> call.startsWith("destroy_srq"));
    }

    @Test
    void irdmaHasDatagramsOverRoceAndNoUnreliableConnections() {
        fake.kind(INFINIBAND, IRDMA);
        context = fake.open();
        assertThat(context.supports(Capability.UNRELIABLE_DATAGRAM)).isTrue();
        assertThat(context.supports(Capability.UNRELIABLE_CONNECTED)).isFalse();
    }

    @Test
    void aQueuePairWithTooManyInlineBytesSaysSo() {
        open("mlx5");
        fake.fail("ibv_create_qp", EINVAL);
        assertThatThrownBy(() -> domain.createQueuePair(QueuePairOptions.reliable(queue)))
                .hasMessageContaining("inlineBytes=64")
                .hasMessageContaining("withInline(0)");
        fake.fail("ibv_create_qp", EINVAL);
        assertThatThrownBy(this::pair).hasMessageContaining("EINVAL").hasMessageNotContaining("withInline");
    }

    @Test
    void aFailedQueuePairOfAnIwarpAdapterIsAskedForItsState() throws Exception {
        fake.kind(IWARP, IRDMA);
        context = fake.open();
        domain = context.allocateProtectionDomain();
        queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(16));
        QueuePair pair = pair();
        try (ConnectionManager manager = ConnectionManager.open(context);
                Arena arena = Arena.ofShared()) {
            manager.connect(
                    new InetSocketAddress(InetAddress.ofLiteral("10.0.0.9"), 7174),
                    pair,
                    ConnectionParameters.defaults(),
                    Duration.ofMinutes(1));
            fake.log();
            fake.status(10);
            pair.post(SendBatch.create(arena, 1, 1).send(1));
            assertThat(queue.poll(Completions.create(arena, 4))).isEqualTo(1);
            assertThat(pair.state()).isEqualTo(QueuePairState.ERROR);
            assertThat(fake.log()).as("not changed").noneMatch(call -> call.startsWith("modify_qp"));
        }
    }

    @Test
    void manaGrantsNoInlineData() {
        open("mana");
        QueueSizes sizes = QueueSizes.defaults().withInline(8);
        assertThatThrownBy(() ->
                        domain.createQueuePair(QueuePairOptions.reliable(queue).withSizes(sizes)))
                .isInstanceOfSatisfying(
                        VerbException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL))
                .hasMessageContaining("inline");
        assertThat(pair().sizes().inlineBytes()).isZero();
    }

    @Test
    void manaClaimsNeitherReregistrationNorUnreliableQueuePairs() {
        open("mana");
        assertThat(Stream.of(
                        Capability.REREGISTER_MEMORY, Capability.UNRELIABLE_CONNECTED, Capability.UNRELIABLE_DATAGRAM))
                .noneMatch(context::supports);
        MemoryRegion region = domain.allocate(64, Set.of());
        assertThatThrownBy(() -> region.reregister(null, null, Set.of(AccessFlag.LOCAL_WRITE)))
                .isInstanceOf(UnsupportedVerbException.class);
    }
}
