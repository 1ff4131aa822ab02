package io.rdmacomm.ibverbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.MemoryWindow;
import io.rdmacomm.verbs.MemoryWindowType;
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
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkRequestException;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Posting and polling through function pointers of the context.
class DataPathTest {
    private static final int EINVAL = 22;
    private static final int ENOMEM = 12;
    private static final int ROUNDS = 100_000;

    private final Arena arena = Arena.ofShared();
    private final Completions completions = Completions.create(arena, 16);
    private FakeVerbs fake;
    private Context context;
    private ProtectionDomain domain;
    private CompletionQueue queue;
    private MemoryRegion region;
    private QueuePair pair;

    @BeforeAll
    static void needsCompiler() {
        CCompiler.require();
    }

    @BeforeEach
    void open() {
        fake = FakeVerbs.fresh();
        openDevice();
    }

    private void openDevice() {
        context = fake.open();
        domain = context.allocateProtectionDomain();
        queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(64));
        region = domain.allocate(4096, AccessFlag.allRemote());
        pair = connected(QueuePairOptions.reliable(queue).withSizes(new QueueSizes(6, 8, 2, 2, 16)));
        fake.log();
    }

    @AfterEach
    void close() {
        context.close();
        arena.close();
    }

    private QueuePair connected(QueuePairOptions options) {
        QueuePair queuePair = domain.createQueuePair(options);
        queuePair.connect(FakeVerbs.PEER);
        return queuePair;
    }

    private SendBatch sends(int count) {
        SendBatch batch = SendBatch.create(arena, count, 2, 16);
        for (int i = 0; i < count; i++) {
            batch.write(i, region.address() + 8, region.remoteKey())
                    .with(region, 0, 8)
                    .signaled();
        }
        return batch;
    }

    private ReceiveBatch receives(int count) {
        ReceiveBatch batch = ReceiveBatch.create(arena, count, 1);
        for (int i = 0; i < count; i++) {
            batch.receive(100 + i).with(region, 1024, 64);
        }
        return batch;
    }

    @Test
    void passesRequestsAndCompletionsOnUnchanged() {
        assertThat(pair.post(receives(2))).isEqualTo(2);
        region.segment().set(JAVA_LONG, 0, 0x1122334455667788L);
        SendBatch batch = SendBatch.create(arena, 2, 2, 16);
        batch.write(1, region.address() + 8, region.remoteKey()).with(region, 0, 8);
        batch.sendWithImmediate(2, 0xcafe)
                .with(region, 8, 4)
                .with(region, 12, 4)
                .signaled()
                .solicited()
                .fenced();
        assertThat(pair.post(batch)).isEqualTo(2);

        assertThat(queue.poll(completions)).isEqualTo(2);
        assertThat(completions.workId(0)).isEqualTo(100);
        assertThat(completions.isReceive(0)).isTrue();
        assertThat(completions.byteLength(0)).isEqualTo(8);
        assertThat(completions.immediate(0)).isEqualTo(0xcafe);
        assertThat(completions.queuePairNumber(0)).isEqualTo(pair.number());
        assertThat(completions.workId(1)).isEqualTo(2);
        assertThat(region.segment().get(JAVA_LONG, 1024)).isEqualTo(0x1122334455667788L);
        assertThat(queue.poll(completions)).isZero();

        String remote = Long.toHexString(region.address() + 8);
        assertThat(fake.log())
                .contains("post_recv qp4 id=100 sge=1")
                .contains("post_send qp4 id=1 op=0 flags=0 sge=1 remote=" + remote + " key="
                        + Integer.toHexString(region.remoteKey()) + " imm=0")
                .anyMatch(
                        line -> line.startsWith("post_send qp4 id=2 op=3 flags=7 sge=2") && line.endsWith("imm=cafe"));
    }

    @Test
    void aReadHasNoMoreElementsThanTheDeviceAllows() {
        QueueSizes wide = QueueSizes.defaults().withElements(32, 1);
        QueuePair other =
                domain.createQueuePair(QueuePairOptions.reliable(queue).withSizes(wide));
        other.connect(other.info());
        SendBatch batch = SendBatch.create(arena, 3, 32);
        batch.send(1);
        elements(batch, 32);
        batch.read(2, region.address(), region.remoteKey());
        elements(batch, 31);
        batch.read(3, region.address(), region.remoteKey());
        elements(batch, 32);
        assertThatThrownBy(() -> other.post(batch))
                .isInstanceOfSatisfying(
                        WorkRequestException.class,
                        refused -> assertThat(refused.index()).isEqualTo(2))
                .hasMessageContaining("32 scatter/gather elements of a READ");
        assertThat(fake.log()).anyMatch(line -> line.contains("id=2 op=4")).noneMatch(line -> line.contains("id=3"));
    }

    private void elements(SendBatch batch, int count) {
        for (int i = 0; i < count; i++) {
            batch.with(region, i * 8L, 8);
        }
    }

    @Test
    void neverPostsMoreThanTheQueueHolds() {
        SendBatch batch = sends(20);
        assertThat(pair.sizes().sends()).isEqualTo(8);
        assertThat(pair.post(batch)).isEqualTo(8);
        assertThat(pair.post(batch, 8)).isZero();
        assertThat(fake.log()).hasSize(8);
        assertThat(queue.poll(completions)).isEqualTo(8);
        assertThat(pair.post(batch, 8)).isEqualTo(8);
    }

    @Test
    void returnsHowManyAFullQueueAccepted() {
        fake.refuse(2, ENOMEM);
        SendBatch batch = sends(4);
        assertThat(pair.post(batch)).isEqualTo(2);
        assertThat(pair.post(batch, 2)).isEqualTo(2);
        fake.refuse(0, ENOMEM);
        assertThat(pair.post(batch)).isZero();
        // A driver that returns a negative errno.
        fake.refuse(1, -ENOMEM);
        assertThat(pair.post(batch)).isEqualTo(1);
        assertThat(queue.poll(completions)).isEqualTo(5);
        assertThat(pair.post(sends(8))).as("all slots are free again").isEqualTo(8);
    }

    @Test
    void namesTheRequestThatTheDriverRejects() {
        fake.refuse(1, EINVAL);
        SendBatch batch = sends(3);
        assertThat(pair.post(batch)).as("those before it").isEqualTo(1);
        fake.refuse(0, EINVAL);
        assertThatThrownBy(() -> pair.post(batch, 1))
                .isInstanceOfSatisfying(WorkRequestException.class, e -> {
                    assertThat(e.errno()).isEqualTo(Errno.EINVAL);
                    assertThat(e.index()).isEqualTo(1);
                })
                .hasMessageContainingAll("ibv_post_send", "work request 1 of the batch", "queue pair 0x");
        assertThat(queue.poll(completions)).isEqualTo(1);
        assertThat(pair.post(sends(8))).as("all slots are free again").isEqualTo(8);
    }

    @Test
    void reportsADoorbellThatFailsAfterAllRequestsWereAccepted() {
        fake.refuse(-1, EINVAL);
        assertThatThrownBy(() -> pair.post(sends(1))).hasMessageContaining("does not begin them");
    }

    @Test
    void postsReceivesAndSharedReceives() {
        assertThat(pair.post(receives(20))).isEqualTo(8);
        fake.log();
        SharedReceiveQueue shared = domain.createSharedReceiveQueue(SharedReceiveQueueOptions.ofDepth(4));
        assertThat(shared.post(receives(6))).isEqualTo(4);
        fake.refuse(0, -EINVAL);
        assertThatThrownBy(() -> shared.post(receives(1)))
                .isInstanceOf(WorkRequestException.class)
                .hasMessageContainingAll("ibv_post_srq_recv", "EINVAL");
        QueuePair user = connected(QueuePairOptions.reliable(queue).withSharedReceives(shared));
        SendBatch batch = SendBatch.create(arena, 1, 1).send(7).with(region, 0, 8);
        assertThat(user.post(batch)).isEqualTo(1);
        assertThat(queue.poll(completions)).isEqualTo(1);
        assertThat(completions.workId(0)).isEqualTo(100);
        fake.refuse(0, EINVAL);
        QueuePair other = connected(QueuePairOptions.reliable(queue));
        assertThatThrownBy(() -> other.post(receives(1)))
                .isInstanceOf(WorkRequestException.class)
                .hasMessageContainingAll("ibv_post_recv", "EINVAL");
    }

    @Test
    void receivesThatArePostedInErrorAreFollowedByAnotherChangeToErrorOnRxeAlone() {
        pair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
        fake.log();
        assertThat(pair.post(receives(1))).isEqualTo(1);
        assertThat(fake.log()).singleElement().asString().startsWith("post_recv");
        context.close();

        fake.kind(0, 0xffffff);
        openDevice();
        assertThat(pair.post(receives(1))).isEqualTo(1);
        assertThat(fake.log()).as("not failed").singleElement().asString().startsWith("post_recv");
        pair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
        fake.log();
        assertThat(pair.post(receives(1))).isEqualTo(1);
        assertThat(fake.log())
                .satisfiesExactly(
                        call -> assertThat(call).startsWith("post_recv"),
                        call -> assertThat(call).startsWith("modify_qp").contains(" state=6 "));
    }

    @Test
    void noticesThatTheQueuePairFailed() {
        fake.status(WorkStatus.REMOTE_ACCESS_ERROR.code());
        assertThat(pair.post(sends(1))).isEqualTo(1);
        assertThat(pair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(queue.poll(completions)).isEqualTo(1);
        assertThat(completions.status(0)).isEqualTo(WorkStatus.REMOTE_ACCESS_ERROR);
        assertThat(completions.vendorError(0)).isEqualTo(77);
        assertThat(pair.state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    void aFailedBindingRestoresTheKeyOfTheWindow() {
        MemoryRegion bindable = domain.allocate(64, Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.WINDOW_BIND));
        MemoryWindow window = domain.allocateWindow(MemoryWindowType.TYPE_1);
        int key = window.remoteKey();
        pair.bind(9, window, bindable, 0, 8, Set.of(AccessFlag.REMOTE_READ), SendRequestLayout.FLAG_SIGNALED);
        pair.bind(10, window, bindable, 8, 8, Set.of(AccessFlag.REMOTE_READ), SendRequestLayout.FLAG_SIGNALED);
        assertThat(window.remoteKey()).isNotEqualTo(key);
        // The fake library completes no bindings: a request with the same id stands for the first one.
        fake.status(WorkStatus.WINDOW_BIND_ERROR.code());
        pair.post(SendBatch.create(arena, 1, 1)
                .write(9, region.address(), region.remoteKey())
                .signaled());
        assertThat(queue.poll(completions)).isEqualTo(1);
        assertThat(window.remoteKey()).isEqualTo(key);
    }

    @Test
    void aWindowOfType2HasTheKeyOfItsLastBinding() {
        MemoryRegion bindable = domain.allocate(64, Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.WINDOW_BIND));
        MemoryWindow window = domain.allocateWindow(MemoryWindowType.TYPE_2);
        int next = MemoryWindow.nextKey(window.remoteKey());
        SendBatch batch = SendBatch.create(arena, 1, 1)
                .bindWindow(9, window, next, bindable, 0, 8, Set.of(AccessFlag.REMOTE_READ))
                .signaled();
        assertThat(pair.post(batch)).isEqualTo(1);
        assertThat(window.remoteKey()).isEqualTo(next);
    }

    @Test
    void throwsWhenTheQueueIsBroken() {
        fake.fail("poll_cq", 5);
        assertThatThrownBy(() -> queue.poll(completions))
                .isInstanceOfSatisfying(
                        VerbException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EIO))
                .hasMessageContaining("ibv_poll_cq");
    }

    @Test
    void rejectsFreedMemory() {
        Arena closed = Arena.ofConfined();
        Completions freed = Completions.create(closed, 1);
        closed.close();
        assertThatThrownBy(() -> queue.poll(freed)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void allocatesNothing() {
        fake.logOff();
        SendBatch batch = SendBatch.create(arena, 1, 1);
        batch.send(1).with(region, 0, 8).signaled();
        ReceiveBatch receive = receives(1);
        assertThat(leastAllocated(() -> exchange(batch, receive)))
                .as("bytes allocated by %d posts of each kind and polls", ROUNDS)
                .isLessThan(1_000);
    }

    @Test
    void armingAllocatesNothing() {
        fake.logOff();
        CompletionQueue armed = context.createCompletionQueue(
                CompletionQueueOptions.ofCapacity(8).withChannel(context.createCompletionChannel()));
        assertThat(leastAllocated(() -> arm(armed)))
                .as("bytes allocated by %d armings", ROUNDS)
                .isLessThan(1_000);
    }

    /// The least of a few runs after a first one: the JVM itself allocates a little while it still compiles.
    private static long leastAllocated(Runnable run) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        run.run();
        long least = Long.MAX_VALUE;
        for (int attempt = 0; attempt < 5 && least > 0; attempt++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            run.run();
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        return least;
    }

    private static void arm(CompletionQueue armed) {
        for (int i = 0; i < ROUNDS; i++) {
            armed.arm();
        }
    }

    private void exchange(SendBatch batch, ReceiveBatch receive) {
        for (int i = 0; i < ROUNDS; i++) {
            int posted = pair.post(receive) + pair.post(batch);
            int polled = queue.poll(completions);
            if (posted != 2 || polled != 2) {
                throw new AssertionError("round " + i + ": posted " + posted + ", polled " + polled);
            }
        }
    }
}
