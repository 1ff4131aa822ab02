package io.rdmacomm.soft;

import io.rdmacomm.soft.shm.SharedWords;
import java.lang.foreign.MemorySegment;

/// An atomic operation on 8 bytes of memory, with the processor's own instructions: atomic to everybody.
final class AtomicOperation {
    private AtomicOperation() {}

    /// Whether the 8 bytes are aligned in memory, as the instructions want it. Those of a zero-based region of
    /// misaligned memory are not, whatever their address in it is.
    static boolean isAligned(MemorySegment memory, long offset) {
        return ((memory.address() + offset) & 7) == 0;
    }

    /// Carries it out.
    ///
    /// @param compare whether to compare with `operand` and swap; otherwise `operand` is added
    /// @return what was there before
    static long execute(MemorySegment memory, long offset, boolean compare, long operand, long swap) {
        return compare
                ? SharedWords.compareAndExchange(memory, offset, operand, swap)
                : SharedWords.getAndAdd(memory, offset, operand);
    }
}
