package io.rdmacomm.testing;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/// Shows that work allocates nothing, to the byte, also on a busy machine.
///
/// The JVM allocates a little on behalf of a thread while it compiles or links what the thread runs, and before it
/// has compiled it. So a round in which bytes were allocated is repeated as long as the JVM shows signs of that.
/// Only a JVM that has been quiet for a while and still sees allocations fails the test.
public final class Allocation {
    private static final int ROUNDS_OF_TWO = 20;
    private static final int QUIET_ROUNDS = 3;
    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private Allocation() {}

    /// Bytes that a thread has allocated so far.
    public static LongSupplier of(Thread thread) {
        long id = thread.threadId();
        return () -> THREADS.getThreadAllocatedBytes(id);
    }

    /// Runs the same work in two threads at the same time, in several rounds. In the first rounds, and now and
    /// then, the JVM allocates something itself.
    ///
    /// @param work prepares one thread and returns its work; only the work is measured
    /// @return the bytes that both threads allocated in each round
    public static List<Long> ofTwoThreads(Supplier<Runnable> work) throws InterruptedException, ExecutionException {
        List<Long> allocated = new ArrayList<>();
        try (ExecutorService both = Executors.newFixedThreadPool(2)) {
            for (int round = 0; round < ROUNDS_OF_TWO; round++) {
                CyclicBarrier ready = new CyclicBarrier(2);
                Callable<Long> measured = () -> {
                    Runnable own = work.get();
                    LongSupplier bytes = of(Thread.currentThread());
                    ready.await();
                    long before = bytes.getAsLong();
                    own.run();
                    return bytes.getAsLong() - before;
                };
                Future<Long> one = both.submit(measured);
                Future<Long> other = both.submit(measured);
                allocated.add(one.get() + other.get());
            }
        }
        return allocated;
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
    public static void assertNone(String what, LongSupplier allocated, Runnable round) {
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
            if (quiet || now - start > TIMEOUT_NANOS) {
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
