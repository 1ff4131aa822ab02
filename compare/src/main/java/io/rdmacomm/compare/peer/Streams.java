package io.rdmacomm.compare.peer;

import java.io.IOException;

/// Measures streams by their confirmed end.
final class Streams {
    private static final long FIRST = 16;
    private static final double MIN_NANOS = 1000;

    private Streams() {}

    /// A stream of a known length.
    @FunctionalInterface
    interface Stream {
        /// Sends `messages` messages and waits until the other side has received all of them.
        void send(long messages) throws IOException, InterruptedException;
    }

    /// Streams for the warm-up, each longer than the one before, and then one for the time to measure.
    ///
    /// @return messages per microsecond
    static double rate(Task task, Stream stream) throws IOException, InterruptedException {
        long begin = System.nanoTime();
        long messages = FIRST;
        double nanosEach;
        do {
            nanosEach = time(stream, messages) / messages;
            // A tenth of the time, so that the last one before the measurement is long enough to go by.
            messages = Math.clamp((long) (task.nanos() / 10.0 / nanosEach), 1, messages * 8);
        } while (System.nanoTime() - begin < task.warmUpNanos());
        messages = Math.max(1, (long) (task.nanos() / nanosEach));
        return 1000.0 * messages / time(stream, messages);
    }

    private static double time(Stream stream, long messages) throws IOException, InterruptedException {
        long begin = System.nanoTime();
        stream.send(messages);
        return Math.max(MIN_NANOS, (double) (System.nanoTime() - begin));
    }
}
