package io.rdmacomm.verbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
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

    /// Writes a scatter/gather element (`struct ibv_sge`) at `at`.
    static void putElement(MemorySegment segment, long at, long address, long length, int localKey) {
        Checks.range("length of an element", length, 0, 0xffff_ffffL);
        segment.set(JAVA_LONG, at + ReceiveRequestLayout.ELEMENT_ADDRESS, address);
        segment.set(JAVA_LONG, at + ReceiveRequestLayout.ELEMENT_LENGTH, pair((int) length, localKey));
    }

    private static long join(int high, int low) {
        return (long) high << Integer.SIZE | Integer.toUnsignedLong(low);
    }
}
