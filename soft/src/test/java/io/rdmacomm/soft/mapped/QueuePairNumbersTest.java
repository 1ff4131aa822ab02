package io.rdmacomm.soft.mapped;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// The limits below hold for random numbers, but for one run in a million.
class QueuePairNumbersTest {
    private static final int MOST = ControlLayout.QUEUE_PAIR_COUNT;
    private static final int BITS = 24;
    private static final int ROUNDS = 10_000;

    private final QueuePairNumbers numbers = new QueuePairNumbers();

    @Test
    void eachBlockHasOneQueuePairAndThenThereIsNone() {
        Set<Integer> blocks = new HashSet<>();
        List<Integer> taken = new ArrayList<>();
        for (int i = 0; i < MOST; i++) {
            int number = numbers.allocate();
            taken.add(number);
            assertThat(blocks.add(QueuePairNumbers.index(number))).isTrue();
        }
        assertThat(numbers.allocate()).isZero();
        int back = taken.get(7);
        numbers.free(back);
        int next = numbers.allocate();
        assertThat(QueuePairNumbers.index(next)).isEqualTo(QueuePairNumbers.index(back));
        assertThat(next).isNotEqualTo(back);
        assertThat(numbers.allocate()).isZero();
    }

    @Test
    void numbersWithAMeaningOfTheirOwnAreNotGivenAway() {
        for (int i = 0; i < ROUNDS * 10; i++) {
            int number = numbers.allocate();
            assertThat(number).isBetween(2, 0xfffffe);
            numbers.free(number);
        }
    }

    @Test
    void aNumberDoesNotComeAgainSoon() {
        // With one free block, one new number in 4,096 would be the one before.
        for (int i = 1; i < MOST; i++) {
            assertThat(numbers.allocate()).isNotZero();
        }
        Set<Integer> seen = new HashSet<>();
        for (int i = 0; i < 2_048; i++) {
            int number = numbers.allocate();
            assertThat(seen.add(number)).isTrue();
            numbers.free(number);
        }
        // Not all of them rest: there is always one left.
        for (int i = 0; i < ROUNDS; i++) {
            numbers.free(numbers.allocate());
        }
    }

    /// A counter, in whatever bits, would be equal or follow more often than that.
    @Test
    void successiveNumbersShareNoCounter() {
        int[] ones = new int[BITS];
        int[] changes = new int[BITS];
        int[] equalSteps = new int[BITS + 1];
        int last = numbers.allocate();
        int lastStep = 0;
        for (int i = 0; i < ROUNDS; i++) {
            int number = numbers.allocate();
            numbers.free(last);
            int step = number - last;
            for (int bit = 0; bit < BITS; bit++) {
                ones[bit] += (number >>> bit) & 1;
                changes[bit] += ((number ^ last) >>> bit) & 1;
            }
            for (int bits = 8; bits <= BITS; bits++) {
                int mask = (1 << bits) - 1;
                equalSteps[bits] += (step & mask) == (lastStep & mask) ? 1 : 0;
            }
            last = number;
            lastStep = step;
        }
        for (int bit = 0; bit < BITS; bit++) {
            assertThat(ones[bit]).as("ones in bit %d", bit).isBetween(4_700, 5_300);
            assertThat(changes[bit]).as("changes of bit %d", bit).isBetween(4_700, 5_300);
        }
        // 39 are expected of 8 bits.
        for (int bits = 8; bits <= BITS; bits++) {
            assertThat(equalSteps[bits])
                    .as("equal steps of the low %d bits", bits)
                    .isLessThan(90);
        }
    }

    /// Those who know many numbers know nothing about the next one.
    @Test
    void numbersOfLiveQueuePairsAreSpreadOverAll() {
        int[] groups = new int[16];
        int[] blocks = new int[16];
        for (int i = 0; i < MOST / 2; i++) {
            int number = numbers.allocate();
            groups[number >>> 20]++;
            blocks[(number >>> 8) & 15]++;
        }
        // 128 are expected, and the deviation is 11.
        assertThat(Arrays.stream(groups).boxed()).allMatch(count -> count > 60 && count < 200);
        assertThat(Arrays.stream(blocks).boxed()).allMatch(count -> count > 60 && count < 200);
    }

    @Test
    void devicesBeginAtDifferentNumbers() {
        Set<Integer> first = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            first.add(new QueuePairNumbers().allocate() & 0xfff);
        }
        // 98.8 are expected.
        assertThat(first).hasSizeGreaterThan(85);
    }
}
