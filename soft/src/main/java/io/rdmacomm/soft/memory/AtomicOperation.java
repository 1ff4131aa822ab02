package io.rdmacomm.soft.memory;

import io.rdmacomm.soft.mapped.SharedWords;
import java.lang.foreign.MemorySegment;

/// An atomic operation on 8 bytes of memory with CPU instructions: atomic to all threads and processes.
public final class AtomicOperation {
    private AtomicOperation() {}

    /// Whether the 8 bytes are aligned in memory, as the instructions require. The address in a zero-based region
    /// does not tell, because its memory may be misaligned.
    public static boolean isAligned(MemorySegment memory, long offset) {
        return ((memory.address() + offset) & 7) == 0;
    }

    /// The same for a list of one piece; true if this process cannot access it.
    public static boolean isAligned(ElementList target) {
        MemorySegment memory = target.segments[0];
        return memory == null || isAligned(memory, target.offsets[0]);
    }

    /// Executes the operation on a list of one piece, which this process can access.
    ///
    /// @return the old value
    public static long execute(ElementList target, boolean compare, long operand, long swap) {
        MemorySegment memory = target.segments[0];
        if (memory == null) {
            throw new IllegalStateException("cannot change memory of another process directly");
        }
        long old = execute(memory, target.offsets[0], compare, operand, swap);
        target.throwFault();
        return old;
    }

    /// Executes the operation.
    ///
    /// @param compare whether to compare with `operand` and swap; otherwise `operand` is added
    /// @return the old value
    public static long execute(MemorySegment memory, long offset, boolean compare, long operand, long swap) {
        return compare
                ? SharedWords.compareAndExchange(memory, offset, operand, swap)
                : SharedWords.getAndAdd(memory, offset, operand);
    }
}
