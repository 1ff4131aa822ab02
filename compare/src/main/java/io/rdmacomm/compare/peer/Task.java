package io.rdmacomm.compare.peer;

import io.rdmacomm.cli.bench.trial.LatencySamples;
import java.io.IOException;

/// The work of a pair of processes.
///
/// @param port on which the server listens; a number that no other pair uses
/// @param bytes the message size
/// @param warmUpNanos the time to warm up
/// @param nanos the time to measure
/// @param median whether latencies are medians of groups of operations, and not means
/// @param serverCommand starts the other process, separated by spaces, for peers whose client does that
record Task(int port, int bytes, long warmUpNanos, long nanos, boolean median, String serverCommand) {
    /// Operations between two clock readings.
    private static final int GROUP = 64;

    /// Something that is repeated.
    @FunctionalInterface
    interface Operation {
        void run() throws IOException, InterruptedException;
    }

    /// Repeats `operation` for the warm-up and then for the time to measure. The clock is read once in 64 operations.
    ///
    /// @return the time of an operation in microseconds: the median of the groups of 64, or the mean
    double micros(Operation operation) throws IOException, InterruptedException {
        repeat(operation, warmUpNanos);
        LatencySamples groups = repeat(operation, nanos);
        return median ? groups.percentileMicros(50) : groups.averageMicros();
    }

    private static LatencySamples repeat(Operation operation, long nanos) throws IOException, InterruptedException {
        LatencySamples groups = new LatencySamples(1, GROUP);
        long begin = System.nanoTime();
        long[] readings = {begin, begin};
        while (readings[1] - begin < nanos) {
            readings[0] = readings[1];
            for (int i = 0; i < GROUP; i++) {
                operation.run();
            }
            readings[1] = System.nanoTime();
            groups.add(readings, 1);
        }
        return groups;
    }
}
