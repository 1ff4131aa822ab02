package io.rdmacomm.cli.bench;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// How long processors have worked for the compilers of this process: while that changes, the code that is
/// measured is not what it is going to be.
///
/// The kernel is asked (proc_pid_stat(5)), not the JVM, which counts a compilation when it has ended: where both
/// ends spin on two slow processors one takes seconds, in which nothing would seem to be compiled.
final class CompilerTime {
    private static final Path THREADS = Path.of("/proc/self/task");
    /// HotSpot's compilers are called `C1 CompilerThread0` and the like; Linux keeps 15 characters.
    private static final String NAME = " CompilerThre)";

    private static final int USER_FIELD = 11;
    private static final long TICK_NANOS = TimeUnit.SECONDS.toNanos(1) / 100;
    private static final long LOOK_NANOS = 15_000_000;

    private CompilerTime() {}

    /// Nanoseconds of all compiler threads that there are now, in steps of ten milliseconds: fewer than before
    /// when one of them has ended. 0 where nobody knows.
    static long nanos() {
        long ticks = 0;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(THREADS)) {
            for (Path thread : threads) {
                ticks += ticks(thread);
            }
        } catch (IOException _) {
            return 0;
        }
        return ticks * TICK_NANOS;
    }

    private static long ticks(Path thread) {
        try {
            String line = Files.readString(thread.resolve("stat"));
            int name = line.lastIndexOf(NAME);
            if (name < 0) {
                return 0;
            }
            String[] fields = line.substring(name + NAME.length() + 1).split(" ", USER_FIELD + 3);
            return Long.parseLong(fields[USER_FIELD]) + Long.parseLong(fields[USER_FIELD + 1]);
        } catch (IOException | NumberFormatException | IndexOutOfBoundsException _) {
            return 0; // The thread has just ended.
        }
    }

    /// Leaves the processors to the compilers: returns when they rest, or when the time is up. Two ends that spin
    /// on two processors leave them next to nothing.
    static void awaitRest(long limitNanos) {
        long begin = System.nanoTime();
        long before;
        long now = nanos();
        do {
            before = now;
            LockSupport.parkNanos(LOOK_NANOS);
            now = nanos();
        } while (now != before && System.nanoTime() - begin < limitNanos);
    }
}
