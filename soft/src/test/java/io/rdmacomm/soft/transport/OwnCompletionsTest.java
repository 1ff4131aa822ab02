package io.rdmacomm.soft.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.mapped.CompletionRing;
import io.rdmacomm.soft.mapped.ControlFile;
import io.rdmacomm.soft.mapped.ShmDirectory;
import io.rdmacomm.verbs.spi.CompletionLayout;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OwnCompletionsTest {
    private static final int LID = 0x1234;
    private static final int PUSHES = 20_000;

    private final AtomicInteger announced = new AtomicInteger();
    private final AtomicInteger overrun = new AtomicInteger();
    private ShmDirectory directory;
    private ControlFile control;
    private Arena arena;
    private MemorySegment into;
    private CompletionRing ring;
    private OwnCompletions own;

    @BeforeEach
    void open() throws IOException {
        directory = ShmDirectory.claim();
        control = ControlFile.create(directory, 1, 2);
        arena = Arena.ofConfined();
        into = arena.allocate(64L * CompletionLayout.BYTES, 8);
        ring = CompletionRing.create(control, 4, 7, true);
        own = new OwnCompletions(4, ring.producer(LID), announced::incrementAndGet, overrun::incrementAndGet);
    }

    @AfterEach
    void close() throws IOException {
        arena.close();
        control.close();
        directory.close();
    }

    private void push(long workId) {
        own.push(workId, 0, 0, 8, 1, 0);
    }

    private List<Long> poll(int max) {
        int count = own.poll(into, 0, max);
        List<Long> ids = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ids.add(into.get(ValueLayout.JAVA_LONG, (long) i * CompletionLayout.BYTES));
        }
        return ids;
    }

    @Test
    void returnsWhatWasPushedInOrder() {
        for (int round = 0; round < 10; round++) {
            push(1);
            push(2);
            push(3);
            assertThat(poll(2)).containsExactly(1L, 2L);
            assertThat(poll(64)).containsExactly(3L);
            assertThat(poll(64)).isEmpty();
        }
        assertThat(overrun).hasValue(0);
    }

    @Test
    void everyFieldArrivesWhole() {
        into.fill((byte) -1);
        own.push(-5, 22, 130, -2, 0xffffff, -3);
        assertThat(own.poll(into, 0, 1)).isEqualTo(1);
        assertThat(into.get(ValueLayout.JAVA_LONG, CompletionLayout.WORK_ID)).isEqualTo(-5);
        assertThat(field(CompletionLayout.STATUS)).isEqualTo(22);
        assertThat(field(CompletionLayout.OPCODE)).isEqualTo(130);
        assertThat(field(CompletionLayout.VENDOR_ERROR)).isEqualTo(-3);
        assertThat(field(CompletionLayout.BYTE_LENGTH)).isEqualTo(-2);
        assertThat(field(CompletionLayout.IMMEDIATE)).isZero();
        assertThat(field(CompletionLayout.QUEUE_PAIR_NUMBER)).isEqualTo(0xffffff);
        assertThat(field(CompletionLayout.SOURCE_QUEUE_PAIR)).isZero();
        assertThat(field(CompletionLayout.FLAGS)).isZero();
        assertThat(into.get(ValueLayout.JAVA_LONG, CompletionLayout.PARTITION_KEY_INDEX))
                .isZero();
        assertThat(into.get(ValueLayout.JAVA_LONG, CompletionLayout.BYTES))
                .as("behind it")
                .isEqualTo(-1);
    }

    private int field(long at) {
        return into.get(ValueLayout.JAVA_INT, at);
    }

    @Test
    void pollsBehindWhatIsThere() {
        push(7);
        assertThat(own.poll(into, 1, 8)).isEqualTo(2);
        assertThat(into.get(ValueLayout.JAVA_LONG, CompletionLayout.BYTES)).isEqualTo(7);
        assertThat(own.poll(into, 3, 3)).as("no room").isEqualTo(3);
    }

    @Test
    void tooManyBreakTheQueueAndTheRestStays() {
        for (int i = 0; i < own.capacity(); i++) {
            push(i);
        }
        assertThat(ring.isBroken()).isFalse();
        push(99);
        assertThat(overrun).hasValue(1);
        assertThat(ring.isBroken()).isTrue();
        assertThat(poll(64)).containsExactly(0L, 1L, 2L, 3L);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void announcesOnceWhatTheOwnerWaitsFor(boolean solicited) {
        push(1);
        assertThat(announced).as("not armed").hasValue(0);
        ring.arm(solicited, null);
        push(2);
        assertThat(announced).as("armed").hasValue(solicited ? 0 : 1);
        own.push(3, 5, 0, 0, 1, 0);
        own.push(4, 5, 0, 0, 1, 0);
        assertThat(announced).as("an error is solicited").hasValue(1);
    }

    @Test
    void growsAndShrinksWithCompletionsInIt() {
        push(1);
        push(2);
        assertThat(own.resize(16)).isTrue();
        assertThat(own.capacity()).isEqualTo(16);
        for (int i = 3; i < 16; i++) {
            push(i);
        }
        assertThat(own.resize(8)).as("15 do not fit").isFalse();
        assertThat(poll(8)).containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L);
        assertThat(own.resize(8)).isTrue();
        push(16);
        assertThat(poll(64)).containsExactly(9L, 10L, 11L, 12L, 13L, 14L, 15L, 16L);
        assertThat(own.resize(2)).isTrue();
        assertThat(own.resize(4)).as("over an empty ring").isTrue();
        push(17);
        assertThat(poll(64)).containsExactly(17L);
        assertThat(overrun).hasValue(0);
    }

    /// Each of two threads finds its completions in order, while the queue is polled and resized all the time.
    @Test
    void manyPushWhileOneResizes() throws InterruptedException {
        Semaphore room = new Semaphore(4);
        CompletableFuture<Void> both =
                CompletableFuture.allOf(pushing(room, 0), pushing(room, 1)).orTimeout(60, TimeUnit.SECONDS);
        long[] next = {0, 0};
        int polled = 0;
        while (!both.isDone() || polled < 2 * PUSHES) {
            assertThat(both.isCompletedExceptionally()).isFalse();
            for (long id : poll(3)) {
                int thread = (int) (id & 1);
                assertThat(id >> 1).isEqualTo(next[thread]++);
                polled++;
                room.release();
            }
            assertThat(own.resize(4 << polled % 3)).isTrue();
        }
        assertThat(next).containsExactly(PUSHES, PUSHES);
        assertThat(overrun).hasValue(0);
    }

    private CompletableFuture<Void> pushing(Semaphore room, int thread) {
        return CompletableFuture.runAsync(
                () -> {
                    for (long i = 0; i < PUSHES; i++) {
                        room.acquireUninterruptibly();
                        push(i << 1 | thread);
                    }
                },
                task -> Thread.ofPlatform().daemon().start(task));
    }
}
