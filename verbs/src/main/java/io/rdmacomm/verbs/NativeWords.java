package io.rdmacomm.verbs;

import java.nio.ByteOrder;

/// Words in memory, in the order of the processor.
final class NativeWords {
    private static final boolean LITTLE_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    private NativeWords() {}

    /// Eight bytes that hold two ints, so that one store writes both.
    ///
    /// @param first the one at the lower address
    static long pair(int first, int second) {
        return LITTLE_ENDIAN ? join(second, first) : join(first, second);
    }

    private static long join(int high, int low) {
        return (long) high << Integer.SIZE | Integer.toUnsignedLong(low);
    }
}
