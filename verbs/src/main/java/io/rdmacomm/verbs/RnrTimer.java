package io.rdmacomm.verbs;

/// The 32 codes of the receiver-not-ready timer (ibv_modify_qp(3), `min_rnr_timer`).
public final class RnrTimer {
    /// Hundredths of a millisecond for each code (InfiniBand Architecture Specification, encoding of the RNR NAK
    /// timer).
    private static final int[] TEN_MICROSECONDS = {
        65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096,
        6144, 8192, 12288, 16384, 24576, 32768, 49152
    };

    private RnrTimer() {}

    /// The wait that `code` (0 to 31) stands for, in nanoseconds.
    public static long nanos(int code) {
        return TEN_MICROSECONDS[code & 31] * 10_000L;
    }
}
