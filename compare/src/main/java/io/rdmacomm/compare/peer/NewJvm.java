package io.rdmacomm.compare.peer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// Requests in a JVM that has just started, at both ends: how long the first answer takes to come, or the mean of the
/// first ones, while the JVM still interprets and compiles the code.
final class NewJvm implements Peer {
    /// So many requests are the first ones.
    static final int FIRST = 10_000;

    private static final double TICK_MILLIS = 10;
    // The 22nd field is the 20th after the name.
    private static final int START_TIME = 19;

    private final Kind kind;
    private final boolean firstOnly;

    /// A library whose start is measured.
    interface Kind {
        /// Answers the requests of one client.
        void serve(Task task) throws IOException, InterruptedException;

        /// Connects to the server.
        Connection connect(Task task) throws IOException;
    }

    /// The client's end of a connection.
    interface Connection extends AutoCloseable {
        /// Sends a request and waits for the answer.
        void request() throws IOException;

        @Override
        void close() throws IOException;
    }

    /// @param firstOnly whether the time from the start of the JVM to the first answer is measured
    NewJvm(Kind kind, boolean firstOnly) {
        this.kind = kind;
        this.firstOnly = firstOnly;
    }

    @Override
    public void serve(Task task) throws IOException, InterruptedException {
        kind.serve(task);
    }

    /// @return milliseconds to the first answer, or the mean of the first ones in microseconds
    @Override
    public double measure(Task task) throws IOException {
        try (Connection connection = kind.connect(task)) {
            if (firstOnly) {
                connection.request();
                return millisSinceStart();
            }
            long begin = System.nanoTime();
            for (int i = 0; i < FIRST; i++) {
                connection.request();
            }
            return (System.nanoTime() - begin) / 1e3 / FIRST;
        }
    }

    /// Steps of 10 ms since the machine was started (proc_pid_stat(5), proc_uptime(5)). [ProcessHandle]
    /// adds the time of that start, which it knows in whole seconds only.
    private static double millisSinceStart() throws IOException {
        String stat = Files.readString(Path.of("/proc/self/stat"));
        // The second field is the name in parentheses, which may contain anything.
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        String uptime = Files.readString(Path.of("/proc/uptime")).split(" ", -1)[0];
        return Double.parseDouble(uptime) * 1e3 - Long.parseLong(fields[START_TIME]) * TICK_MILLIS;
    }
}
