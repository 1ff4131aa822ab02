package io.rdmacomm.soft.memory;

import io.rdmacomm.soft.mapped.SharedWords;
import java.lang.foreign.MemorySegment;

/// An atomic operation on 8 bytes of memory, with the processor's own instructions: atomic to everybody.
public final class AtomicOperation {
    private AtomicOperation() {}

    /// Whether the 8 bytes are aligned in memory, as the instructions want it. Those of a zero-based region of
    /// misaligned memory are not, whatever their address in it is.
    public static boolean isAligned(MemorySegment memory, long offset) {
        return ((memory.address() + offset) & 7) == 0;
    }

    /// The same for the only piece of a list, where this process can reach it.
    public static boolean isAligned(ElementList target) {
        MemorySegment memory = target.segments[0];
        return memory == null || isAligned(memory, target.offsets[0]);
    }

    /// Carries it out on the only piece of a list, which this process can reach.
    ///
    /// @return what was there before
    public static long execute(ElementList target, boolean compare, long operand, long swap) {
        MemorySegment memory = target.segments[0];
        if (memory == null) {
            throw new IllegalStateException("memory of another process was to be changed directly");
        }
        return execute(memory, target.offsets[0], compare, operand, swap);
    }

    /// Carries it out.
    ///
    /// @param compare whether to compare with `operand` and swap; otherwise `operand` is added
    /// @return what was there before
    public static long execute(MemorySegment memory, long offset, boolean compare, long operand, long swap) {
        return compare
                ? SharedWords.compareAndExchange(memory, offset, operand, swap)
                : SharedWords.getAndAdd(memory, offset, operand);
    }
}
