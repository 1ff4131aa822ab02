package io.rdmacomm.cli.interop;

import java.util.List;
import java.util.stream.IntStream;

/// One row of rstream: in each iteration the client sends all transfers, and then the server does.
///
/// @param name the name in the table
/// @param bytes the size of a transfer
/// @param transfers the transfers of an iteration in one direction
/// @param iterations the number of iterations
record StreamTest(String name, int bytes, int transfers, int iterations) {
    static final int DEFAULT_BYTES = 1000;
    static final int DEFAULT_TRANSFERS = 1000;
    static final int DEFAULT_ITERATIONS = 1;

    private static final int SMALLEST_SHIFT = 6;
    private static final int LARGEST_SHIFT = 22;
    private static final List<Integer> USUAL = List.of(1 << 6, 1 << 12, 1 << 16, 1 << 20);

    /// A test that the user has chosen.
    static StreamTest custom(int bytes, int transfers, int iterations) {
        return new StreamTest("custom", bytes, transfers, iterations);
    }

    /// The tests of the first connection of rstream: one transfer there and one back, many times.
    ///
    /// @param all whether to use all sizes instead of a few
    static List<StreamTest> latency(boolean all) {
        return sizes(all).stream()
                .map(bytes -> new StreamTest(sizeName(bytes) + "_lat", bytes, 1, count(bytes)))
                .toList();
    }

    /// The tests of its second connection: many transfers there, and then as many back.
    static List<StreamTest> bandwidth(boolean all) {
        return sizes(all).stream()
                .map(bytes -> new StreamTest(sizeName(bytes) + "_bw", bytes, count(bytes), 1))
                .toList();
    }

    private static List<Integer> sizes(boolean all) {
        if (!all) {
            return USUAL;
        }
        return IntStream.rangeClosed(SMALLEST_SHIFT, LARGEST_SHIFT)
                .flatMap(shift -> shift == SMALLEST_SHIFT
                        ? IntStream.of(1 << shift)
                        : IntStream.of(1 << shift, (1 << shift) + (1 << (shift - 1))))
                .boxed()
                .toList();
    }

    /// The size as rstream writes it: `64`, `1.5k`, `4m`.
    private static String sizeName(int bytes) {
        int unit = bytes >= 1 << 20 ? 1 << 20 : bytes >= 1 << 10 ? 1 << 10 : 1;
        String suffix = unit == 1 ? "" : unit == 1 << 10 ? "k" : "m";
        int tenths = bytes / unit < 10 ? bytes % unit * 10 / unit : 0;
        return bytes / unit + (tenths == 0 ? "" : "." + tenths) + suffix;
    }

    /// How many transfers rstream makes with a size.
    private static int count(int bytes) {
        if (bytes >= 1 << 20) {
            return 100;
        }
        return bytes >= 1 << 16 ? 1000 : bytes >= 1 << 10 ? 10_000 : 100_000;
    }

    /// The transfers of both directions.
    long totalTransfers() {
        return 2L * iterations * transfers;
    }

    /// The bytes of both directions.
    long totalBytes() {
        return totalTransfers() * bytes;
    }
}
