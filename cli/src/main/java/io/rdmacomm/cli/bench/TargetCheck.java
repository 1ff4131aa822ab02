package io.rdmacomm.cli.bench;

import java.lang.foreign.MemorySegment;

/// Looks whether the target of a test holds what the source of the peer holds.
final class TargetCheck {
    private TargetCheck() {}

    /// What is wrong with the first `bytes` bytes of the first `buffers` buffers of the target; empty when
    /// they are right.
    static String complaint(TestBed bed, int buffers, long bytes) {
        for (int i = 0; i < buffers; i++) {
            MemorySegment memory = bed.targetSlice(i).segment();
            long at = Pattern.mismatch(memory, bytes, bed.plan().seed());
            if (at >= 0) {
                return "byte " + at + " of buffer " + i + " at the target is not what was sent";
            }
        }
        return "";
    }
}
