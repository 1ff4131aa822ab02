package io.rdmacomm.ibverbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SharedReceiveQueue;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;
import io.rdmacomm.verbs.WorkRequestException;
import java.lang.foreign.Arena;
import java.util.Set;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Adapters that put a short message into its completion, so that polling copies it to the memory of the receive.
class InlineScatterTest {
    /// So many that malloc(3) would map them, and unmap them when they are freed.
    private static final long BYTES = 64 << 20;

    /// Another thread of the JVM may map memory where some was just freed.
    private static final int TRIES = 5;

    private static final Set<AccessFlag> LOCAL = Set.of(AccessFlag.LOCAL_WRITE);

    private final Arena arena = Arena.ofShared();
    private final Completions completions = Completions.create(arena, 16);
    private FakeVerbs fake;
    private Context context;
    private ProtectionDomain domain;
    private CompletionQueue queue;
    private MemoryRegion region;

    @BeforeAll
    static void needsCompiler() {
        CCompiler.require();
    }

    @BeforeEach
    void open() {
        fake = FakeVerbs.fresh();
        fake.profile("mlx5");
        context = fake.open();
        domain = context.allocateProtectionDomain();
        queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(64));
        region = domain.allocate(BYTES, LOCAL);
    }

    @AfterEach
    void close() {
        context.close();
        arena.close();
    }

    private QueuePair connected(QueuePairOptions options) {
        QueuePair pair = domain.createQueuePair(options);
        pair.connect(FakeVerbs.PEER);
        return pair;
    }

    private ReceiveBatch receive() {
        return ReceiveBatch.create(arena, 1, 1).receive(100).with(region, BYTES / 2, 64);
    }

    private void sendTo(QueuePair pair) {
        try (MemoryRegion source = domain.allocate(64, LOCAL)) {
            source.segment().set(JAVA_LONG, 0, 77);
            pair.post(SendBatch.create(arena, 1, 1).send(1).with(source, 0, 8));
        }
    }

    @Test
    void aMessageThatWasPolledIsInItsPlace() {
        QueuePair pair = connected(QueuePairOptions.reliable(queue));
        pair.post(receive());
        sendTo(pair);
        assertThat(queue.poll(completions)).isEqualTo(1);
        assertThat(region.segment().get(JAVA_LONG, BYTES / 2)).isEqualTo(77);
    }

    @Test
    void aMessageThatIsPolledAfterItsRegionWasClosedHurtsNobody() {
        QueuePair pair = connected(QueuePairOptions.reliable(queue));
        pair.post(receive());
        sendTo(pair);
        region.close();
        assertThat(queue.poll(completions)).isEqualTo(1);
        assertThat(fake.wildCopies()).isZero();
    }

    @Test
    void theSameWithASharedReceiveQueue() {
        SharedReceiveQueue shared = domain.createSharedReceiveQueue(SharedReceiveQueueOptions.ofDepth(4));
        shared.post(receive());
        QueuePair pair = connected(QueuePairOptions.reliable(queue).withSharedReceives(shared));
        sendTo(pair);
        region.close();
        assertThat(queue.poll(completions)).isEqualTo(1);
        assertThat(fake.wildCopies()).isZero();
    }

    @Test
    void aClosedRegionTakesUpNoMemoryAndItsAddressesAreFreeWhenTheQueuePairsAreGone() {
        assertThat(IntStream.range(0, TRIES).anyMatch(_ -> freesWithTheLastQueuePair()))
                .as("a later queue pair has no work for it")
                .isTrue();
    }

    private boolean freesWithTheLastQueuePair() {
        MemoryRegion closed = domain.allocate(BYTES, LOCAL);
        long address = closed.address();
        QueuePair first = connected(QueuePairOptions.reliable(queue));
        QueuePair second = connected(QueuePairOptions.reliable(queue));
        closed.segment().set(JAVA_LONG, 0, 1);
        assertThat(fake.isResident(address)).isTrue();
        closed.close();
        assertThat(fake.isResident(address)).isFalse();
        QueuePair later = connected(QueuePairOptions.reliable(queue));
        first.close();
        assertThat(fake.isMapped(address)).isTrue();
        second.close();
        boolean free = !fake.isMapped(address);
        later.close();
        return free;
    }

    private static void isRejected(int index, ThrowingCallable post) {
        assertThatThrownBy(post)
                .isInstanceOfSatisfying(
                        WorkRequestException.class,
                        rejected -> assertThat(rejected.index()).isEqualTo(index))
                .hasMessageContaining("the addresses of its memory region are not addresses of this process");
    }

    private MemoryRegion zeroBased() {
        return domain.allocate(4096, Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.ZERO_BASED));
    }

    @Test
    void aReceiveIntoAZeroBasedRegionIsRejected() {
        assertThat(context.supports(Capability.ARRIVAL_AT_OFFSETS)).isFalse();
        QueuePair pair = connected(
                QueuePairOptions.reliable(queue).withSizes(QueueSizes.defaults().withElements(2, 2)));
        MemoryRegion offsets = zeroBased();
        ReceiveBatch receives = ReceiveBatch.create(arena, 3, 2)
                .receive(1)
                .with(region, 0, 64)
                .receive(2)
                .with(region, 0, 8)
                .with(offsets, 64, 64)
                .receive(3)
                .with(region, 0, 64);
        assertThat(pair.post(receives)).as("those before it").isEqualTo(1);
        ReceiveBatch bad = ReceiveBatch.create(arena, 1, 1).receive(2).with(64, 64, offsets.localKey());
        isRejected(0, () -> pair.post(bad));
        assertThatThrownBy(() -> pair.post(bad)).hasMessageContaining("MLX5_SCATTER_TO_CQE=0");
        sendTo(pair);
        assertThat(queue.poll(completions)).isEqualTo(1);
        assertThat(completions.workId(0)).isEqualTo(1);
        assertThat(fake.wildCopies()).isZero();

        offsets.close();
        assertThat(pair.post(receive())).isEqualTo(1);
    }

    @Test
    void aSharedReceiveIntoAZeroBasedRegionIsRejected() {
        SharedReceiveQueue shared = domain.createSharedReceiveQueue(SharedReceiveQueueOptions.ofDepth(4));
        MemoryRegion offsets = zeroBased();
        isRejected(
                0, () -> shared.post(ReceiveBatch.create(arena, 1, 1).receive(2).with(offsets, 64, 64)));
        assertThat(shared.post(receive())).isEqualTo(1);
    }

    @Test
    void theAnswerOfARequestThatIsSignaledByItsQueuePairIsRejectedInAZeroBasedRegion() {
        MemoryRegion offsets = zeroBased();
        QueuePair all = connected(QueuePairOptions.reliable(queue).withSignalAll(true));
        RemoteMemory remote = region.remote().slice(0, 8);
        SendBatch sends = SendBatch.create(arena, 2, 1)
                .write(1, remote)
                .with(region, 8, 8)
                .read(2, remote)
                .with(offsets, 0, 8);
        fake.keep(true);
        assertThat(all.post(sends)).as("those before it").isEqualTo(1);
        isRejected(1, () -> all.post(sends, 1));
        QueuePair some = connected(QueuePairOptions.reliable(queue));
        assertThat(some.post(sends)).isEqualTo(2);
    }

    @Test
    void aReceiveIntoADmaBufferIsRejected() {
        MemoryRegion buffer = domain.registerDmaBuffer(0, 0, 4096, 0x7000, LOCAL);
        QueuePair pair = connected(QueuePairOptions.reliable(queue));
        isRejected(
                0, () -> pair.post(ReceiveBatch.create(arena, 1, 1).receive(2).with(buffer, 64, 64)));
        fake.keep(true);
        assertThat(pair.post(SendBatch.create(arena, 1, 1).send(1).with(buffer, 0, 8)))
                .isEqualTo(1);
        buffer.close();
        assertThat(pair.post(receive())).isEqualTo(1);
    }

    @Test
    void onOtherAdaptersAZeroBasedRegionReceives() {
        context.close();
        fake.profile("software");
        context = fake.open();
        domain = context.allocateProtectionDomain();
        queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(64));
        assertThat(context.supports(Capability.ARRIVAL_AT_OFFSETS)).isTrue();
        QueuePair pair = connected(QueuePairOptions.reliable(queue));
        assertThat(pair.post(ReceiveBatch.create(arena, 1, 1).receive(2).with(zeroBased(), 64, 64)))
                .isEqualTo(1);
        assertInlineIsRejected(pair);
    }

    @Test
    void noDriverCopiesInlineDataFromAZeroBasedRegion() {
        assertInlineIsRejected(connected(QueuePairOptions.reliable(queue)));
    }

    private void assertInlineIsRejected(QueuePair pair) {
        fake.keep(true);
        SendBatch sends = SendBatch.create(arena, 1, 1).send(1).with(zeroBased(), 0, 8);
        assertThat(pair.post(sends)).isEqualTo(1);
        isRejected(
                0, () -> pair.post(sends.clear().send(1).with(zeroBased(), 0, 8).inline()));
    }

    @Test
    void withoutQueuePairsClosingFreesAtOnce() {
        assertThat(IntStream.range(0, TRIES).anyMatch(_ -> freesAtOnce())).isTrue();
    }

    private boolean freesAtOnce() {
        MemoryRegion closed = domain.allocate(BYTES, LOCAL);
        long address = closed.address();
        closed.close();
        return !fake.isMapped(address);
    }
}
