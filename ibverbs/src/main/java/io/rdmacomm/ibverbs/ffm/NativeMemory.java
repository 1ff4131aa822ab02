package io.rdmacomm.ibverbs.ffm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Turns addresses from C into memory that can be read.
public final class NativeMemory {
    private NativeMemory() {}

    /// The `bytes` bytes at `address`: a struct that lives until the call that destroys it.
    @SuppressWarnings("restricted") // the length is the struct's, which a test compares with the C headers
    public static MemorySegment at(long address, long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    /// The `bytes` bytes at `address`, until `arena` is closed. Closing it does not free them.
    @SuppressWarnings("restricted") // the caller has allocated them
    public static MemorySegment at(long address, long bytes, Arena arena) {
        return MemorySegment.ofAddress(address).reinterpret(bytes, arena, null);
    }

    /// The string in at most `bytes` bytes from `offset` on.
    public static String string(MemorySegment struct, long offset, int bytes) {
        byte[] text = struct.asSlice(offset, bytes).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
        int length = 0;
        while (length < text.length && text[length] != 0) {
            length++;
        }
        return new String(text, 0, length, java.nio.charset.StandardCharsets.UTF_8);
    }
}
