package io.rdmacomm.soft.mapped;

import java.util.Arrays;
import java.util.BitSet;

/// Hands out queue pair numbers: the low 12 bits are a block of the control file, the high 12 bits change each
/// time the block is used again, so that a late peer of the old queue pair does not reach the new one.
public final class QueuePairNumbers {
    private static final int INDEX_MASK = ControlLayout.QUEUE_PAIR_COUNT - 1;
    private static final int INDEX_BITS = Integer.bitCount(INDEX_MASK);

    private final BitSet used = new BitSet();
    private final int[] generations = new int[ControlLayout.QUEUE_PAIR_COUNT];
    private int next;

    /// No number is taken yet.
    public QueuePairNumbers() {
        SecretNumbers secrets = new SecretNumbers();
        Arrays.setAll(generations, index -> secrets.next() & 0xfff);
    }

    /// A free number, or 0 when there is none.
    public synchronized int allocate() {
        for (int tried = 0; tried <= INDEX_MASK; tried++) {
            int index = next++ & INDEX_MASK;
            if (!used.get(index)) {
                used.set(index);
                generations[index] = generations[index] == 0xfff ? 1 : generations[index] + 1;
                return (generations[index] << INDEX_BITS) | index;
            }
        }
        return 0;
    }

    public synchronized void free(int number) {
        used.clear(index(number));
    }

    /// The index of the block of a queue pair, which no other one has meanwhile.
    public static int index(int number) {
        return number & INDEX_MASK;
    }
}
