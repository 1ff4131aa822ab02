package io.rdmacomm.comm;

/// The sizes of the places for pieces: multiples of 64 bytes up to 256, then four for each power of two. So a
/// place is at most a quarter longer than its piece, if that has more than 256 bytes, and each begins at a
/// multiple of 64.
final class PieceSizes {
    /// The smallest place, in bytes: a line of the cache, so that pieces of different threads share none.
    static final int SMALLEST = 64;

    private static final int SHIFT = 6;
    private static final int STEPS = 4;
    private static final int FIRST_POWER = SHIFT + 2;

    private PieceSizes() {}

    /// The number of the smallest size that is enough for `bytes`, from 0.
    static int index(long bytes) {
        long last = bytes - 1;
        if (last < STEPS * SMALLEST) {
            return (int) (last >>> SHIFT);
        }
        int power = 63 - Long.numberOfLeadingZeros(last);
        int step = (int) (last >>> (power - 2)) & (STEPS - 1);
        return STEPS * (power - FIRST_POWER + 1) + step;
    }

    /// The size with that number, in bytes.
    static long bytes(int index) {
        if (index < STEPS) {
            return (long) (index + 1) << SHIFT;
        }
        int power = FIRST_POWER + index / STEPS - 1;
        return (long) (STEPS + index % STEPS + 1) << (power - 2);
    }
}
