package io.rdmacomm.soft.mapped;

/// Allocates queue pair numbers of 24 random bits. Strangers can send to any number, so numbers must be hard to
/// guess. The low 12 bits are the index of a free block of the control file, so every process finds the block of a
/// number without a table.
///
/// A freed number is not reused until 2,048 others were freed, so that a late peer of the old queue pair does not
/// reach a new one.
public final class QueuePairNumbers {
    private static final int INDEX_MASK = ControlLayout.QUEUE_PAIR_COUNT - 1;
    private static final int INDEX_BITS = Integer.bitCount(INDEX_MASK);
    /// Half of the numbers of a block, so that a block always has others.
    private static final int RESTING = 1 << (INDEX_BITS - 1);
    /// Reserved numbers (IBTA 9.6.1): those below this one, for management, and the one of multicast.
    private static final int FIRST = 2;
    private static final int MULTICAST = 0xffffff;

    private final SecretNumbers secrets = new SecretNumbers();
    private final short[] free = new short[ControlLayout.QUEUE_PAIR_COUNT];
    private int freeCount = free.length;
    private final int[] resting = new int[RESTING];
    private int oldest;

    /// No number is taken yet.
    public QueuePairNumbers() {
        for (int i = 0; i < free.length; i++) {
            free[i] = (short) i;
        }
    }

    /// A free number, or 0 when there is none.
    public synchronized int allocate() {
        if (freeCount == 0) {
            return 0;
        }
        while (true) {
            int secret = secrets.next();
            int at = Integer.remainderUnsigned(secret >>> INDEX_BITS, freeCount);
            int number = ((secret & INDEX_MASK) << INDEX_BITS) | free[at];
            if (number >= FIRST && number != MULTICAST && !rests(number)) {
                free[at] = free[--freeCount];
                return number;
            }
        }
    }

    private boolean rests(int number) {
        for (int other : resting) {
            if (other == number) {
                return true;
            }
        }
        return false;
    }

    public synchronized void free(int number) {
        free[freeCount++] = (short) index(number);
        resting[oldest] = number;
        oldest = (oldest + 1) % RESTING;
    }

    /// The index of the block of a queue pair, unique while the queue pair exists.
    public static int index(int number) {
        return number & INDEX_MASK;
    }
}
