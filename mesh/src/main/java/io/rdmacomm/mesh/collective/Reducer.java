package io.rdmacomm.mesh.collective;

import java.lang.foreign.MemorySegment;

/// Combines numbers, block by block: it copies a block of each side into an array, combines the arrays, and copies
/// the result out. The compiler vectorizes loops over arrays, but not loops over several native segments, of which
/// it cannot know that they are apart. The blocks stay in the first-level cache. Decision 33 has the figures.
///
/// Not thread-safe: the arrays are reused.
@FunctionalInterface
interface Reducer {
    /// The length of a block in bytes.
    int BLOCK_BYTES = 4096;

    /// `out[i] = a[i] op b[i]`; `out` may be `a` or `b`.
    ///
    /// @param aOffset where `a` begins, in bytes
    /// @param bytes the length, a multiple of that of an element
    void combine(
            MemorySegment a, long aOffset, MemorySegment b, long bOffset, MemorySegment out, long outOffset, int bytes);

    /// A new reducer of numbers of a type.
    ///
    /// @throws IllegalArgumentException for bytes
    static Reducer of(ElementType type, Reduction reduction) {
        return switch (type) {
            case BYTE -> throw new IllegalArgumentException("bytes cannot be reduced; use INT, LONG, FLOAT or DOUBLE");
            case INT -> new IntReducer(reduction);
            case LONG -> new LongReducer(reduction);
            case FLOAT -> new FloatReducer(reduction);
            case DOUBLE -> new DoubleReducer(reduction);
        };
    }
}
