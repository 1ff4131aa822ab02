package io.rdmacomm.soft.mapped;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BellTest {
    private static final int QUEUE = 70;
    private static final int WORD = 0;

    private ShmDirectory directory;
    private ControlFile control;
    private Bell bell;
    private long armed;

    @BeforeEach
    void create() throws IOException {
        directory = ShmDirectory.claim();
        control = ControlFile.create(directory, 1, 2);
        bell = Bell.create(control);
        armed = Bell.name(bell.offset(), QUEUE) | CompletionSlots.ANY;
    }

    @AfterEach
    void close() throws IOException {
        control.close();
        directory.close();
    }

    private int ring() {
        return Bell.ring(control.memory(), armed);
    }

    @Test
    void nobodyIsWokenWhileAllAreAwake() {
        assertThat(ring()).isZero();
        assertThat(bell.isRung()).isTrue();
        assertThat(bell.take()).isEqualTo(1L << (QUEUE - 64));
        assertThat(bell.isRung()).isFalse();
        assertThat(bell.take()).isZero();
    }

    @Test
    void theFirstToRingWakesThoseInTheKernel() {
        bell.enter(Bell.IN_KERNEL);
        assertThat(ring()).isEqualTo(Bell.IN_KERNEL);
        assertThat(ring()).isZero();
        int mine = bell.enter(Bell.IN_KERNEL);
        bell.call();
        assertThat(bell.word()).isNotEqualTo(mine);
        assertThat(ring()).isZero();
    }

    /// One message wakes one of the threads that wait for a message.
    @Test
    void eachRingSendsAMessageWhileThreadsWaitForOne() {
        bell.enter(Bell.FOR_MESSAGE);
        bell.enter(Bell.IN_KERNEL);
        assertThat(ring()).isEqualTo(Bell.IN_KERNEL | Bell.FOR_MESSAGE);
        assertThat(ring()).isEqualTo(Bell.FOR_MESSAGE);
        bell.nobodySleeps(bell.word());
        assertThat(ring()).isZero();
    }

    /// futex(2) compares the word with this one.
    @Test
    void aThreadThatWasCalledOnItsWayToSleepDoesNotSleep() {
        int mine = bell.enter(Bell.IN_KERNEL);
        assertThat(bell.word()).isEqualTo(mine);
        ring();
        assertThat(bell.word()).isNotEqualTo(mine);
        bell.enter(Bell.IN_KERNEL);
        assertThat(bell.word()).isNotEqualTo(mine);
    }

    @Test
    void aThreadThatLeavesForgetsNobodyThatEntersMeanwhile() {
        bell.enter(Bell.IN_KERNEL);
        int seen = bell.word();
        bell.enter(Bell.IN_KERNEL);
        bell.nobodySleeps(seen);
        assertThat(ring()).isEqualTo(Bell.IN_KERNEL);
        bell.enter(Bell.IN_KERNEL);
        bell.nobodySleeps(bell.word());
        assertThat(ring()).isZero();
    }

    @Test
    void aWordNamesItsBell() {
        assertThat(Bell.named(armed)).isEqualTo(bell.offset());
        assertThat(Bell.named(CompletionSlots.SOLICITED)).isZero();
        for (int i = 0; i < 1_000_000; i++) {
            long word = ThreadLocalRandom.current().nextLong();
            long named = Bell.named(word);
            assertThat(named == 0 || ControlLayout.isInHeap(named, ControlLayout.LINE))
                    .as("%x", word)
                    .isTrue();
        }
    }

    @Test
    void aWordThatKeepsChangingHoldsNobody() throws InterruptedException {
        MemorySegment memory = control.memory();
        Thread hostile = Thread.ofPlatform().daemon().start(() -> {
            for (int i = 0; !Thread.interrupted(); i++) {
                SharedWords.releaseInt(memory, bell.offset() + WORD, i);
            }
        });
        for (int i = 0; i < 10_000; i++) {
            bell.enter(Bell.IN_KERNEL);
            ring();
            bell.nobodySleeps(bell.word());
        }
        hostile.interrupt();
        hostile.join();
    }
}
