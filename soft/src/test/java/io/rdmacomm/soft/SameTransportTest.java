package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Two queue pairs of one host use the same transport, however a call of one and the states of the other coincide.
class SameTransportTest {
    private static final ConnectionOptions OPTIONS =
            ConnectionOptions.defaults().withTimeout(Duration.ofSeconds(1), 3);

    private final Arena arena = Arena.ofShared();
    private final CountDownLatch answers = new CountDownLatch(1);
    private End caller;
    private End called;

    /// A context with a queue pair.
    private static final class End {
        private final Context context;
        private final ProtectionDomain domain;
        private final CompletionQueue queue;
        private final QueuePair pair;

        End(String settings) {
            context = Soft.open(settings);
            domain = context.allocateProtectionDomain();
            queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(4));
            pair = domain.createQueuePair(QueuePairOptions.reliable(queue));
        }

        boolean isAgreed() {
            SoftQueuePair driver = Soft.of(pair);
            driver.enter();
            try {
                return driver.transport() != null && driver.transport().isAgreed();
            } finally {
                driver.leave();
            }
        }
    }

    @AfterEach
    void close() {
        answers.countDown();
        caller.context.close();
        called.context.close();
        arena.close();
    }

    /// The caller's call waits until the test lets the other side's engine answer.
    private void call() {
        Soft.of(called.context).engine().execute(() -> {
            try {
                answers.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        called.pair.initialize(OPTIONS);
        caller.pair.connect(called.pair.info(), OPTIONS);
        MemoryRegion from = caller.domain.allocate(8, AccessFlag.allRemote());
        MemoryRegion to = called.domain.register(arena.allocate(8, 8), AccessFlag.allRemote());
        caller.pair.post(SendBatch.create(arena, 1, 1)
                .write(1, to.remote())
                .with(from, 0, 8)
                .signaled());
        await("a call", () -> Soft.of(caller.pair).setup().isReached());
    }

    private WorkStatus status() {
        Completions done = Completions.create(arena, 1);
        await("a completion", () -> caller.queue.poll(done) == 1);
        return done.status(0);
    }

    private static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + 20_000_000_000L;
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as(what).isLessThan(deadline);
            LockSupport.parkNanos(100_000);
        }
    }

    /// Before READY_TO_SEND a queue pair does not know the number of its own first packet, which its peer expects.
    @Test
    void aCallToAQueuePairThatIsOnlyReadyToReceiveLeavesBothInSharedMemory() {
        caller = new End("caller=127.0.0.1");
        called = new End("called=127.0.0.1");
        call();
        called.pair.readyToReceive(caller.pair.info(), OPTIONS);

        answers.countDown();

        assertThat(status()).isEqualTo(WorkStatus.SUCCESS);
        called.pair.readyToSend(OPTIONS);
        assertThat(called.isAgreed()).isTrue();
        assertThat(Soft.counter(called.context, "tcp_links")).isZero();
    }

    /// The peer looks like one that uses shared memory while its answer is on the way.
    @Test
    void aCallThatIsAcceptedLateLeavesBothOnTcp() {
        caller = new End("caller=127.0.0.1");
        called = new End("called=127.0.0.1?sharedMemory=false");
        Soft.of(called.context).control().share();
        call();
        called.pair.readyToReceive(caller.pair.info(), OPTIONS);
        Soft.of(called.pair).resources().block().onHost(true);
        await("the choice of shared memory", caller::isAgreed);
        Soft.of(called.pair).resources().block().onHost(false);

        answers.countDown();

        assertThat(status()).isEqualTo(WorkStatus.SUCCESS);
        assertThat(Soft.counter(called.context, "tcp_links")).isEqualTo(1);
    }
}
