package io.rdmacomm.soft.memory;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;

/// Stores the old value that an atomic operation found into the request's elements, in host order.
public final class AtomicResult {
    private AtomicResult() {}

    public static void store(ElementList into, long value) {
        MemorySegment first = into.segments[0];
        if (first != null && into.lengths[0] >= Long.BYTES) {
            first.set(JAVA_LONG_UNALIGNED, into.offsets[0], value);
            into.throwFault();
            return;
        }
        long bytes = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? value : Long.reverseBytes(value);
        int done = 0;
        for (int i = 0; i < into.count && done < Long.BYTES; i++) {
            MemorySegment segment = into.segments[i];
            for (long at = 0; segment != null && at < into.lengths[i] && done < Long.BYTES; at++) {
                segment.set(JAVA_BYTE, into.offsets[i] + at, (byte) (bytes >>> (8 * done)));
                done++;
            }
        }
        into.throwFault();
    }
}
