package io.rdmacomm.compare.peer;

import java.io.IOException;

/// The work of a pair of processes.
///
/// @param port on which the server listens; a number that no other pair uses
/// @param bytes the message size
/// @param warmUpNanos the time to warm up
/// @param nanos the time to measure
/// @param serverCommand starts the other process, separated by spaces, for peers whose client does that
record Task(int port, int bytes, long warmUpNanos, long nanos, String serverCommand) {
    /// Operations between two clock readings.
    private static final int BATCH = 64;

    /// Something that is repeated.
    @FunctionalInterface
    interface Operation {
        void run() throws IOException, InterruptedException;
    }

    /// Repeats `operation` for the warm-up and then for the time to measure. The clock is read once in 64 operations.
    ///
    /// @return the mean time of an operation in microseconds
    double meanMicros(Operation operation) throws IOException, InterruptedException {
        repeat(operation, warmUpNanos);
        return repeat(operation, nanos);
    }

    private static double repeat(Operation operation, long nanos) throws IOException, InterruptedException {
        long begin = System.nanoTime();
        long operations = 0;
        long now = begin;
        while (now - begin < nanos) {
            for (int i = 0; i < BATCH; i++) {
                operation.run();
            }
            operations += BATCH;
            now = System.nanoTime();
        }
        return (now - begin) / 1000.0 / operations;
    }
}
