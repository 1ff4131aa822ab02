package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.DriverEvent;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// How a queue pair uses its transport and handles the events of the transport.
class TransportSeamTest {
    private static final int NO_SUCH_LID = 1;
    private static final int PSN = 7;
    private static final int REMOTE_ACCESS = WorkStatus.REMOTE_ACCESS_ERROR.code();

    private final Arena arena = Arena.ofShared();
    private final Context context = Soft.open("seam0=127.0.0.1?sharedMemory=false");
    private final CompletionQueue completions = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(64));
    private final Completions done = Completions.create(arena, 64);
    private QueuePair queuePair;
    private SoftQueuePair driver;
    private FakeTransport transport;

    /// Connects to a peer that does not exist, patiently.
    @BeforeEach
    void connect() {
        queuePair = context.allocateProtectionDomain().createQueuePair(QueuePairOptions.reliable(completions));
        queuePair.connect(
                new QueuePairInfo(5, PSN, NO_SUCH_LID, Soft.of(context).queryGid(1, 0), PathMtu.MTU_4096),
                ConnectionOptions.defaults().withTimeout(Duration.ofSeconds(4), 7));
        driver = Soft.of(queuePair);
        transport = new FakeTransport(driver.resources());
    }

    @AfterEach
    void close() {
        context.close();
        arena.close();
    }

    private void begin() {
        begin(Set.of());
    }

    private void begin(Set<SendOpcode> missing) {
        driver.enter();
        try {
            driver.begin(transport, missing, "the peer is a fake");
        } finally {
            driver.leave();
        }
    }

    private int post(int requests) {
        SendBatch batch = SendBatch.create(arena, requests, 1);
        for (int i = 0; i < requests; i++) {
            batch.write(i, 0, 0).signaled();
        }
        return queuePair.post(batch);
    }

    private WorkStatus next() {
        assertThat(completions.poll(done, 1)).isEqualTo(1);
        return done.status(0);
    }

    @Test
    void requestsWaitUntilThereIsATransport() {
        assertThat(post(2)).isEqualTo(2);
        begin();
        assertThat(transport.calls).containsExactly("resume");
        transport.drive(transport::succeed);
        transport.drive(transport::succeed);
        assertThat(next()).isEqualTo(WorkStatus.SUCCESS);
        assertThat(next()).isEqualTo(WorkStatus.SUCCESS);
    }

    @Test
    void postGoesToTheTransport() {
        begin();
        assertThat(post(3)).isEqualTo(3);
        assertThat(transport.calls).containsExactly("resume", "post 3");
    }

    /// The transport would notice if it was stopped while it posts.
    @Test
    void aFailureDuringPostIsActedOnAfterwards() {
        begin();
        queuePair.post(ReceiveBatch.create(arena, 1, 1).receive(9));
        transport.onPost = () -> transport.fail(REMOTE_ACCESS, 3);
        assertThat(post(2)).isEqualTo(2);
        assertThat(queuePair.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(transport.calls).containsExactly("resume", "post 2", "stop");
        assertThat(next()).isEqualTo(WorkStatus.REMOTE_ACCESS_ERROR);
        assertThat(done.vendorError(0)).isEqualTo(3);
        assertThat(next()).as("the second request").isEqualTo(WorkStatus.FLUSHED);
        assertThat(done.vendorError(0)).isZero();
        assertThat(next()).as("the receive, after all sends").isEqualTo(WorkStatus.FLUSHED);
        assertThat(done.workId(0)).isEqualTo(9);
    }

    @Test
    void aFailureIsActedOnWhenTheDrivingThreadLeaves() {
        begin();
        post(1);
        transport.drive(() -> {
            transport.fail(REMOTE_ACCESS, 0);
            assertThat(queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        });
        assertThat(queuePair.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(next()).isEqualTo(WorkStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void requestsOutliveATransportWhosePeerIsGone() {
        begin();
        post(2);
        transport.drive(transport::peerGone);
        assertThat(transport.calls).containsExactly("resume", "post 2", "stop", "close");
        assertThat(driver.transport()).isNull();
        assertThat(queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(completions.poll(done)).isZero();

        transport = new FakeTransport(driver.resources());
        begin();
        transport.drive(transport::succeed);
        assertThat(next()).isEqualTo(WorkStatus.SUCCESS);
    }

    @Test
    void aReceiveThatComesBackIsFlushedFirst() {
        begin();
        queuePair.post(ReceiveBatch.create(arena, 1, 1).receive(9));
        transport.drive(() -> {
            driver.resources().receives().giveBack(8);
            transport.fail(REMOTE_ACCESS, 0);
        });
        assertThat(next()).isEqualTo(WorkStatus.FLUSHED);
        assertThat(done.workId(0)).isEqualTo(8);
        assertThat(next()).isEqualTo(WorkStatus.FLUSHED);
        assertThat(done.workId(0)).isEqualTo(9);
    }

    @Test
    void resetClosesTheTransport() {
        begin();
        post(1);
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        assertThat(transport.calls).endsWith("close");
        assertThat(driver.transport()).isNull();
        assertThat(completions.poll(done)).as("what was discarded").isZero();
    }

    @Test
    void theSendQueueIsDrainedWhenWhatWasBegunHasEnded() throws InterruptedException {
        begin();
        post(1);
        transport.drained = false;
        queuePair.modify(
                new QueuePairAttributes().state(QueuePairState.SEND_QUEUE_DRAIN).drainNotification(true));
        assertThat(Soft.of(context).asyncEvents().await(0)).isNull();
        transport.drive(() -> {
            transport.succeed();
            transport.drained = true;
        });
        DriverEvent event = Soft.of(context).asyncEvents().await(0);
        assertThat(event).isNotNull();
        assertThat(event.type()).isEqualTo(AsyncEventType.SEND_QUEUE_DRAINED);
    }

    @Test
    void localMemoryIsCheckedWithoutAPeer() {
        SendBatch batch = SendBatch.create(arena, 1, 1);
        batch.write(1, 0, 0).with(0x1000, 8, 0x7777).signaled();
        queuePair.post(batch);
        assertThat(queuePair.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(next()).isEqualTo(WorkStatus.LOCAL_PROTECTION_ERROR);
    }
}
