package io.rdmacomm.soft.mapped;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.spi.CompletionLayout;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CompletionRingTest {
    private static final int LID = 0x1234;

    private RingFixture fixture;
    private Arena arena;
    private MemorySegment into;

    @BeforeEach
    void open() throws IOException {
        fixture = new RingFixture();
        arena = Arena.ofConfined();
        into = arena.allocate(64L * CompletionLayout.BYTES, 8);
    }

    @AfterEach
    void close() throws IOException {
        arena.close();
        fixture.close();
    }

    private CompletionRing ring(int capacity, boolean channel) throws IOException {
        return CompletionRing.create(fixture.control, capacity, 7, channel);
    }

    private long push(CompletionRing ring, long workId, boolean solicited) {
        CompletionFields fields = new CompletionFields();
        fields.set(workId, 0, 0, 0, 1);
        fields.solicited = solicited;
        MemorySegment memory = fixture.control.memory();
        return ring.producer(LID).push(memory, 0, fields);
    }

    private List<Long> poll(CompletionRing ring, int max) {
        int count = ring.poll(into, 0, max);
        List<Long> ids = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ids.add(into.get(ValueLayout.JAVA_LONG, (long) i * CompletionLayout.BYTES));
        }
        return ids;
    }

    @Test
    void returnsWhatWasPushedInOrder() throws IOException {
        CompletionRing ring = ring(4, false);
        for (int round = 0; round < 10; round++) {
            push(ring, 1, false);
            push(ring, 2, false);
            push(ring, 3, false);
            assertThat(poll(ring, 2)).containsExactly(1L, 2L);
            assertThat(poll(ring, 64)).containsExactly(3L);
            assertThat(poll(ring, 64)).isEmpty();
        }
    }

    @Test
    void givesItsMemoryBack() throws IOException {
        long first = ring(4, false).offset();
        CompletionRing ring = ring(4, false);
        ring.free();
        CompletionRing again = ring(4, false);
        assertThat(again.offset()).isGreaterThan(first).isLessThanOrEqualTo(ring.offset());
    }

    /// Claims the next slot, as a producer does that is stopped then.
    private long claim(CompletionRing ring, long position) {
        MemorySegment memory = fixture.control.memory();
        long at = SharedWords.acquire(memory, ring.offset());
        long slot = CompletionSlots.slot(at, ring.capacity() - 1, position);
        SharedWords.release(memory, slot, CompletionSlots.word(position, LID, CompletionSlots.CLAIMED));
        SharedWords.release(memory, at + CompletionSlots.RING_TAIL, position + 1);
        return slot;
    }

    private void fill(long slot, long position, long workId) {
        MemorySegment memory = fixture.control.memory();
        memory.set(ValueLayout.JAVA_LONG, slot + CompletionSlots.SLOT_BODY, workId);
        SharedWords.release(memory, slot, CompletionSlots.word(position, 0, CompletionSlots.FULL));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void aStoppedProducerThatWasGivenUpHoldsNobodyUp(int behind) throws IOException {
        CompletionRing ring = ring(4, false);
        push(ring, 1, false);
        long slot = claim(ring, 1);
        for (int i = 0; i < behind - 1; i++) {
            push(ring, 10 + i, false);
        }
        assertThat(poll(ring, 64)).containsExactly(1L);
        assertThat(poll(ring, 64)).isEmpty();

        assertThat(ring.passClaims(LID)).isTrue();

        List<Long> polled = new ArrayList<>(poll(ring, 64));
        for (long i = 100; i < 110; i++) {
            push(ring, i, false);
            polled.addAll(poll(ring, 64));
        }
        assertThat(polled).hasSize(10 + Math.max(0, behind - 1)).endsWith(109L).doesNotHaveDuplicates();
        fill(slot, 1, 2);
        assertThat(poll(ring, 64)).containsExactly(2L);
        push(ring, 3, false);
        assertThat(poll(ring, 64)).containsExactly(3L);
        assertThat(ring.isBroken()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aFullQueueGoesOnBehindAStoppedProducer(boolean filledFirst) throws IOException {
        CompletionRing ring = ring(4, false);
        long slot = claim(ring, 0);
        for (int i = 1; i < 4; i++) {
            push(ring, i, false);
        }
        ring.passClaims(LID);
        assertThat(poll(ring, 1)).containsExactly(1L);
        if (filledFirst) {
            fill(slot, 0, 9);
            assertThat(poll(ring, 64)).containsExactly(9L, 2L, 3L);
        }
        push(ring, 4, false);
        assertThat(poll(ring, 64)).endsWith(4L);
        assertThat(ring.isBroken()).isFalse();
    }

    @Test
    void theClaimOfADeadProducerThatWasPassedIsFilledOrSkipped() throws IOException {
        CompletionRing ring = ring(8, false);
        claim(ring, 0);
        claim(ring, 1);
        push(ring, 3, false);
        ring.passClaims(LID);
        assertThat(poll(ring, 64)).containsExactly(3L);
        assertThat(ring.fillClaim(0, LID, 7, 5, 1)).isTrue();
        ring.skipClaims(LID);
        assertThat(poll(ring, 64)).containsExactly(7L);
        assertThat(poll(ring, 64)).isEmpty();
        assertThat(ring.passClaims(LID)).isFalse();
    }

    @Test
    void breaksWhenItOverrunsAndKeepsWhatItHad() throws IOException {
        CompletionRing ring = ring(4, false);
        for (int i = 0; i < ring.capacity(); i++) {
            assertThat(push(ring, i, false)).isEqualTo(CompletionRing.PUSHED);
        }
        assertThat(ring.isBroken()).isFalse();
        assertThat(push(ring, 99, false)).isEqualTo(CompletionRing.OVERRUN);
        assertThat(ring.isBroken()).isTrue();
        assertThat(poll(ring, 64)).containsExactly(0L, 1L, 2L, 3L);
    }

    @Test
    void notifiesOnceAfterItWasArmed() throws IOException {
        CompletionRing ring = ring(16, true);
        assertThat(push(ring, 1, false)).isEqualTo(CompletionRing.PUSHED);
        ring.arm(false, null);
        assertThat(push(ring, 2, false)).isPositive();
        assertThat(push(ring, 3, false)).isEqualTo(CompletionRing.PUSHED);
    }

    @Test
    void notifiesForSolicitedOnlyWhenArmedForThem() throws IOException {
        CompletionRing ring = ring(16, true);
        ring.arm(true, null);
        assertThat(push(ring, 1, false)).isEqualTo(CompletionRing.PUSHED);
        assertThat(push(ring, 2, true)).isPositive();
    }

    @Test
    void armingForAnyIsNotWeakenedByArmingForSolicited() throws IOException {
        CompletionRing ring = ring(16, true);
        ring.arm(false, null);
        ring.arm(true, null);
        assertThat(push(ring, 1, false)).isPositive();
    }

    @Test
    void growsWithCompletionsInIt() throws IOException {
        CompletionRing ring = ring(4, false);
        push(ring, 1, false);
        push(ring, 2, false);
        assertThat(ring.resize(32)).isTrue();
        for (long i = 3; i <= 20; i++) {
            push(ring, i, false);
        }
        assertThat(poll(ring, 64)).hasSize(20).startsWith(1L, 2L, 3L).endsWith(20L);
        assertThat(ring.capacity()).isEqualTo(32);
    }

    /// A slot has the lowest 44 bits of a position: a busy queue gets there in weeks.
    @Test
    void goesOnWhenPositionsNoLongerFitIntoASlot() throws IOException {
        long end = 1L << 44;
        CompletionRing ring = CompletionRing.create(fixture.control, 4, 7, false, end - 10);
        for (long i = 0; i < 20; i += 2) {
            assertThat(push(ring, i, false)).isEqualTo(CompletionRing.PUSHED);
            assertThat(push(ring, i + 1, false)).isEqualTo(CompletionRing.PUSHED);
            assertThat(poll(ring, 64)).containsExactly(i, i + 1);
        }
    }

    @Test
    void overrunsAndIsReplacedWhenPositionsNoLongerFitIntoASlot() throws IOException {
        for (long before = 1; before <= 6; before++) {
            CompletionRing ring = CompletionRing.create(fixture.control, 4, 7, false, (1L << 44) - before);
            for (long i = 0; i < 4; i++) {
                assertThat(push(ring, i, false)).isEqualTo(CompletionRing.PUSHED);
            }
            assertThat(poll(ring, 2)).containsExactly(0L, 1L);
            assertThat(ring.resize(8)).isTrue();
            for (long i = 4; i < 10; i++) {
                assertThat(push(ring, i, false)).isEqualTo(CompletionRing.PUSHED);
            }
            assertThat(poll(ring, 64)).containsExactly(2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
            for (long i = 0; i < 8; i++) {
                assertThat(push(ring, i, false)).isEqualTo(CompletionRing.PUSHED);
            }
            assertThat(push(ring, 8, false)).isEqualTo(CompletionRing.OVERRUN);
        }
    }

    @Test
    void doesNotShrinkBelowItsContent() throws IOException {
        CompletionRing ring = ring(16, false);
        for (long i = 0; i < 10; i++) {
            push(ring, i, false);
        }
        assertThat(ring.resize(4)).isFalse();
        assertThat(poll(ring, 64)).hasSize(10);
    }

    @Test
    void skipsTheSlotOfAProducerThatDiedHalfWay() throws IOException {
        CompletionRing ring = ring(8, false);
        push(ring, 1, false);
        claimAndDie(ring, 1);
        push(ring, 3, false);
        assertThat(poll(ring, 64)).containsExactly(1L);
        assertThat(poll(ring, 64)).isEmpty();
        ring.skipClaims(0x4321);
        assertThat(poll(ring, 64)).isEmpty();
        ring.skipClaims(LID);
        assertThat(poll(ring, 64)).containsExactly(3L);
    }

    @Test
    void completesTheSlotOfADeadProducerOnce() throws IOException {
        CompletionRing ring = ring(8, false);
        claimAndDie(ring, 0);
        assertThat(ring.fillClaim(0, LID, 42, 5, 1)).isTrue();
        assertThat(ring.fillClaim(0, LID, 42, 5, 1)).isFalse();
        assertThat(poll(ring, 64)).containsExactly(42L);
    }

    @Test
    void completesTheSlotOfADeadProducerInARingThatWasReplaced() throws IOException {
        CompletionRing ring = ring(8, false);
        push(ring, 1, false);
        claimAndDie(ring, 1);
        assertThat(ring.resize(32)).isTrue();
        push(ring, 3, false);
        assertThat(ring.fillClaim(1, LID, 42, 5, 1)).isTrue();
        assertThat(poll(ring, 64)).containsExactly(1L, 42L, 3L);
    }

    /// The trace of a producer that was killed between claiming its slot and filling it: FREE becomes CLAIMED.
    private void claimAndDie(CompletionRing ring, long position) {
        MemorySegment memory = fixture.control.memory();
        long slots = memory.get(ValueLayout.JAVA_LONG, ring.offset());
        long slot = slots + 128 + (position & (ring.capacity() - 1)) * 64;
        long free = memory.get(ValueLayout.JAVA_LONG, slot);
        assertThat(SharedWords.compareAndSet(memory, slot, free, free | ((long) LID << 4) | 1))
                .isTrue();
    }

    @Test
    void losesNothingWithManyProducersAndResizes() throws Exception {
        CompletionRing ring = ring(64, false);
        int producers = 4;
        long each = 50_000;
        AtomicLong overruns = new AtomicLong();
        Semaphore room = new Semaphore(48);
        List<Thread> threads = new ArrayList<>();
        for (int p = 0; p < producers; p++) {
            long base = p * each;
            threads.add(Thread.ofPlatform().start(() -> {
                for (long i = 0; i < each; i++) {
                    room.acquireUninterruptibly();
                    if (push(ring, base + i, false) == CompletionRing.OVERRUN) {
                        overruns.incrementAndGet();
                    }
                }
            }));
        }
        long[] nextOf = new long[producers];
        long total = 0;
        long deadline = System.nanoTime() + 60_000_000_000L;
        while (total < producers * each && overruns.get() == 0 && System.nanoTime() < deadline) {
            List<Long> ids = poll(ring, 64);
            for (long id : ids) {
                assertThat(id % each).isEqualTo(nextOf[(int) (id / each)]++);
            }
            total += ids.size();
            if (!ids.isEmpty() && total % 1024 < 8) {
                ring.resize(total % 2048 < 1024 ? 64 : 128);
            }
            room.release(ids.size());
        }
        for (Thread thread : threads) {
            room.release((int) (producers * each));
            thread.join();
        }
        assertThat(overruns).hasValue(0);
        assertThat(total).isEqualTo(producers * each);
    }
}
