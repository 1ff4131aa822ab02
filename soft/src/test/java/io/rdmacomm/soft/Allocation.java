package io.rdmacomm.soft;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/// Shows that work allocates nothing, to the byte, also on a busy machine.
///
/// The JVM allocates a little on behalf of a thread while it compiles or links what the thread runs, and before it
/// has compiled it. So a round in which bytes were allocated is repeated as long as the JVM shows signs of that.
/// Only a JVM that has been quiet for a while and still sees allocations fails the test.
public final class Allocation {
    private static final int QUIET_ROUNDS = 3;
    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private Allocation() {}

    /// Bytes that a thread has allocated so far.
    public static LongSupplier of(Thread thread) {
        long id = thread.threadId();
        return () -> THREADS.getThreadAllocatedBytes(id);
    }

    /// Runs `round` until the calling thread allocates nothing in it.
    ///
    /// @throws AssertionError if it continues to allocate
    public static void assertNone(String what, Runnable round) {
        assertNone(what, of(Thread.currentThread()), round);
    }

    /// Runs `round` until `allocated` stays the same in it.
    ///
    /// @throws AssertionError if it continues to grow
    static void assertNone(String what, LongSupplier allocated, Runnable round) {
        long start = System.nanoTime();
        long quietSince = start;
        int quietRounds = 0;
        long activity = activity();
        while (true) {
            long before = allocated.getAsLong();
            round.run();
            long bytes = allocated.getAsLong() - before;
            if (bytes == 0) {
                return;
            }
            long now = System.nanoTime();
            long activityNow = activity();
            if (activityNow != activity) {
                activity = activityNow;
                quietSince = now;
                quietRounds = 0;
            } else {
                quietRounds++;
            }
            boolean quiet = quietRounds >= QUIET_ROUNDS && now - quietSince > QUIET_NANOS;
            if (quiet || now - start > PATIENCE_NANOS) {
                throw new AssertionError(what + ": " + bytes + " bytes allocated in the last of several rounds, "
                        + (quiet ? "while the JVM compiled nothing" : "and the JVM never stopped compiling"));
            }
        }
    }

    /// Grows when the JVM compiles or loads a class.
    private static long activity() {
        return ManagementFactory.getCompilationMXBean().getTotalCompilationTime()
                + ManagementFactory.getClassLoadingMXBean().getTotalLoadedClassCount();
    }
}
