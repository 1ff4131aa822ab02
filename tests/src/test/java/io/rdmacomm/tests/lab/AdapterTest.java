package io.rdmacomm.tests.lab;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.tests.fixture.Activity;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.LocalEnd;
import io.rdmacomm.tests.fixture.LocalMemory;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.AsyncEvent;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkRequestException;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/// Behavior of adapters in hardware, on rxe behind adapter.c.
///
/// `-Drdma.test.rounds=1000` closes that often under traffic, which takes minutes.
@EnabledIfSystemProperty(
        named = AdapterTest.LIBRARY,
        matches = ".*/adapters/lib.*",
        disabledReason = "it needs rxe that behaves like an adapter: lab/suite --devices mlx5 lab.AdapterTest")
class AdapterTest {
    static final String LIBRARY = "rdmacomm.ibverbs.library";

    private static final int ROUNDS = Integer.getInteger("rdma.test.rounds", 5);
    private static final int SHORT = 8;
    private static final int RECEIVES = 16;
    private static final long SOON_MILLIS = 60_000;

    private LocalEnd here;
    private LocalEnd there;

    @BeforeEach
    void open() {
        here = LocalEnd.open(device());
        there = LocalEnd.open(device());
    }

    @AfterEach
    void close() {
        there.close();
        here.close();
    }

    private static String profile() {
        return System.getProperty(LIBRARY).replaceFirst(".*/lib(.*)\\.so$", "$1");
    }

    private static String device() {
        return profile() + "like0";
    }

    private static void connect(LocalQueue one, LocalQueue other) {
        ConnectionOptions patient = ConnectionOptions.defaults().withTimeout(Duration.ofMillis(268), 7);
        one.connect(other.info(), patient);
        other.connect(one.info(), patient);
    }

    private LocalQueue[] connected() {
        LocalQueue[] pair = {here.queue(Spec.usual()), there.queue(Spec.usual())};
        connect(pair[0], pair[1]);
        return pair;
    }

    private static Outcome one(LocalQueue queue) {
        return queue.drain(1).getFirst();
    }

    @Test
    void aMessageIsThereWhenItsCompletionWasPolled() {
        LocalQueue[] pair = connected();
        LocalMemory target = here.allocate(64, Set.of(AccessFlag.LOCAL_WRITE));
        LocalMemory source = there.allocate(64, Set.of());
        for (int length : new int[] {1, 8, 32, 33, 64}) {
            target.fill(0);
            source.fill(length);
            pair[0].receive(1, target.piece(0, 5), target.piece(5, 59));
            pair[1].post(Work.send(2, source.piece(0, length)));
            assertThat(one(pair[1]).status()).isEqualTo(WorkStatus.SUCCESS);
            if (profile().equals("mlx5") && length <= 32) {
                assertThat(target.read(0, 64)).as("before it was polled").containsOnly(0);
            }
            assertThat(one(pair[0]).status()).isEqualTo(WorkStatus.SUCCESS);
            assertThat(target.read(0, length)).containsOnly(length);
        }
    }

    @Test
    void aMessageForAnOffsetIsRejectedByThePostOrArrives() {
        LocalQueue[] pair = connected();
        LocalMemory source = there.allocate(SHORT, Set.of());
        source.fill(3);
        LocalMemory target = here.allocate(4096, Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.ZERO_BASED));
        if (profile().equals("mlx5")) {
            assertThatThrownBy(() -> pair[0].receive(1, target.piece(64, SHORT)))
                    .isInstanceOf(WorkRequestException.class)
                    .hasMessageContaining("MLX5_SCATTER_TO_CQE=0");
            return;
        }
        pair[0].receive(1, target.piece(64, SHORT));
        pair[1].post(Work.send(2, source.piece(0, SHORT)));
        assertThat(one(pair[1]).status()).isEqualTo(WorkStatus.SUCCESS);
        assertThat(one(pair[0]).status()).isEqualTo(WorkStatus.SUCCESS);
        assertThat(target.read(64, SHORT)).containsOnly(3);
    }

    @Test
    void messagesThatArePolledAfterTheirRegionWasClosedHurtNobody() {
        LocalQueue[] pair = connected();
        LocalMemory source = there.allocate(SHORT, Set.of());
        LocalMemory target = here.allocate(64, Set.of(AccessFlag.LOCAL_WRITE));
        pair[0].receive(1, target.piece(0, 64));
        pair[0].receive(2, target.piece(0, 64));
        pair[1].post(Work.send(3, source.piece(0, SHORT)));
        assertThat(one(pair[1]).status()).isEqualTo(WorkStatus.SUCCESS);
        target.close();
        assertThat(one(pair[0]).status()).isEqualTo(WorkStatus.SUCCESS);
    }

    @Test
    @Timeout(value = 30, unit = TimeUnit.MINUTES)
    void closingUnderTrafficHurtsNobody() {
        LocalMemory source = there.allocate(SHORT, Set.of());
        for (int round = 0; round < ROUNDS; round++) {
            LocalQueue[] pair = connected();
            LocalMemory target = here.allocate(1 << 16, Set.of(AccessFlag.LOCAL_WRITE));
            for (int i = 0; i < RECEIVES; i++) {
                pair[0].receive(i, target.piece(64L * i, 64));
            }
            Activity flood = pair[1].flood(Work.send(0, source.piece(0, SHORT)), RECEIVES);
            Deadline.await("traffic", () -> again(pair[0], target) > 0 || flood.done() > RECEIVES / 2);
            // Completions of these receives are polled below, and more messages arrive.
            target.close();
            LocalMemory other = here.allocate(1 << 16, Set.of(AccessFlag.LOCAL_WRITE));
            other.fill(0x33);
            pair[0].poll();
            if (round % 2 == 0) {
                pair[0].close();
                assertThat(other.read(0, 1 << 16)).containsOnly(0x33);
            } else {
                pair[0].modify(QueuePairState.ERROR);
                pair[0].poll();
                assertThat(other.read(0, 1 << 16)).containsOnly(0x33);
                pair[0].close();
            }
            flood.stop();
            pair[1].modify(QueuePairState.ERROR);
            flood.await(SOON_MILLIS);
            pair[1].close();
            other.close();
        }
        System.out.println(profile() + ": " + ROUNDS + " rounds of closing under traffic");
    }

    private static int again(LocalQueue queue, LocalMemory target) {
        int count = 0;
        for (Outcome outcome : queue.poll()) {
            assertThat(outcome.status()).isEqualTo(WorkStatus.SUCCESS);
            queue.receive(outcome.id(), target.piece(64L * outcome.id(), 64));
            count++;
        }
        return count;
    }

    /// Polling finds nothing any more, so only the event tells.
    @Test
    @SuppressWarnings("restricted") // the descriptor is that of adapter.c
    void aDeviceThatDiesSaysSoByItsEvent() throws Throwable {
        LocalQueue[] pair = connected();
        int contexts = (int) Linker.nativeLinker()
                .downcallHandle(
                        SymbolLookup.libraryLookup(System.getProperty(LIBRARY), Arena.global())
                                .findOrThrow("adapter_dies"),
                        FunctionDescriptor.of(JAVA_INT))
                .invokeExact();
        assertThat(contexts).isGreaterThanOrEqualTo(2);
        AsyncEvent event = here.context().awaitAsyncEvent(Duration.ofMillis(SOON_MILLIS));
        assertThat(event).isEqualTo(new AsyncEvent(AsyncEventType.DEVICE_FATAL, null, 0));
        pair[0].post(Work.send(1));
        assertThat(pair[0].collect(1, 100)).isEmpty();
        assertThatThrownBy(() -> here.context().createCompletionQueue(CompletionQueueOptions.ofCapacity(1)))
                .isInstanceOfSatisfying(
                        VerbException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EIO));
    }
}
