package io.rdmacomm.cli.bench.trial;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// The CPU time of this process's JIT compilers. While it increases, the measured code is not yet in its final
/// form.
///
/// The figures come from the kernel (proc_pid_stat(5)). The JVM counts a compilation only when it is complete,
/// which takes seconds on two slow processors with a spinning thread on each.
public final class CompilerTime {
    private static final Path THREADS = Path.of("/proc/self/task");
    /// HotSpot's compiler threads have names like `C1 CompilerThread0`, of which Linux keeps 15 characters.
    static final String NAME = " CompilerThre";

    private static final String END_OF_NAME = NAME + ")";

    private static final int USER_FIELD = 11;
    private static final long TICK_NANOS = TimeUnit.SECONDS.toNanos(1) / 100;
    private static final long INTERVAL_NANOS = 15_000_000;
    private static final long LIMIT_NANOS = 250_000_000;

    private CompilerTime() {}

    /// The CPU time of all live compiler threads in nanoseconds, in steps of ten milliseconds. It decreases when
    /// one of them exits. 0 if the kernel does not report it.
    public static long nanos() {
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
            int name = line.lastIndexOf(END_OF_NAME);
            if (name < 0) {
                return 0;
            }
            String[] fields = line.substring(name + END_OF_NAME.length() + 1).split(" ", USER_FIELD + 3);
            return Long.parseLong(fields[USER_FIELD]) + Long.parseLong(fields[USER_FIELD + 1]);
        } catch (IOException | NumberFormatException | IndexOutOfBoundsException _) {
            return 0; // The thread has just exited.
        }
    }

    /// Sleeps until the compilers are idle, but no longer than a quarter of a second. Otherwise two sides that spin
    /// on two processors would leave the compilers hardly any time.
    public static void awaitIdle() {
        awaitIdle(LIMIT_NANOS);
    }

    static void awaitIdle(long limitNanos) {
        long begin = System.nanoTime();
        long before;
        long now = nanos();
        do {
            before = now;
            LockSupport.parkNanos(INTERVAL_NANOS);
            now = nanos();
        } while (now != before && System.nanoTime() - begin < limitNanos);
    }
}
