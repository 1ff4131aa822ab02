package io.rdmacomm.cli.bench.trial;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A thread with the name of a compiler thread stands for a compilation that does not end.
class CompilerTimeTest {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final long WORK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long SEEN_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long TIMEOUT_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final int TRIES = 20;

    private volatile boolean compiling = true;
    private final Thread compiler = Thread.ofPlatform()
            .name("C2 CompilerThread7")
            .daemon()
            .unstarted(() -> {
                while (compiling) {
                    Thread.onSpinWait();
                }
            });

    @BeforeEach
    void begin() {
        compiler.start();
    }

    @AfterEach
    void end() throws InterruptedException {
        compiling = false;
        compiler.join();
    }

    /// The JVM's own count does not change while a compilation is running. A benchmark took that for the end of all
    /// compilations, and measured code that was not compiled.
    @Test
    void anIncompleteCompilationCounts() throws InterruptedException {
        long most = 0;
        // The time of a real compiler thread disappears if the thread exits in between.
        for (int i = 0; i < TRIES && most < SEEN_NANOS; i++) {
            long before = CompilerTime.nanos();
            work(WORK_NANOS);
            most = Math.max(most, CompilerTime.nanos() - before);
        }

        assertThat(most).isGreaterThanOrEqualTo(SEEN_NANOS);
        assertThat(compiler.isAlive()).isTrue();
    }

    @Test
    void theWaitForBusyCompilersIsLimited() {
        CompilerTime.awaitIdle(WORK_NANOS);

        assertThat(compiler.isAlive()).isTrue();
    }

    /// Returns when the thread has used this much CPU time.
    private void work(long nanos) throws InterruptedException {
        long begin = System.nanoTime();
        long end = THREADS.getThreadCpuTime(compiler.threadId()) + nanos;
        while (THREADS.getThreadCpuTime(compiler.threadId()) < end) {
            assertThat(System.nanoTime() - begin).as("time without a processor").isLessThan(TIMEOUT_NANOS);
            Thread.sleep(1);
        }
    }
}
