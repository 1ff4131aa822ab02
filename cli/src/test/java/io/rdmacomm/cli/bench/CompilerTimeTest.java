package io.rdmacomm.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A compilation that does not end is played by a thread with the name of a compiler.
class CompilerTimeTest {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final long WORK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long SEEN_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(1);
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

    /// Where a compilation takes seconds, the JVM's count stands still for as long: a benchmark took that for the
    /// end of all compiling, and measured code that was not compiled.
    @Test
    void compilationThatHasNotEndedCounts() throws InterruptedException {
        long most = 0;
        // A real compiler's thread may end in between, and takes its time with it.
        for (int i = 0; i < TRIES && most < SEEN_NANOS; i++) {
            long before = CompilerTime.nanos();
            work(WORK_NANOS);
            most = Math.max(most, CompilerTime.nanos() - before);
        }

        assertThat(most).isGreaterThanOrEqualTo(SEEN_NANOS);
        assertThat(compiler.isAlive()).isTrue();
    }

    @Test
    void compilersThatNeverRestAreNotAwaitedForEver() {
        CompilerTime.awaitRest(WORK_NANOS);

        assertThat(compiler.isAlive()).isTrue();
    }

    /// Returns when the thread has had a processor for so long, of which nobody tells: it has to be looked for.
    private void work(long nanos) throws InterruptedException {
        long begin = System.nanoTime();
        long end = THREADS.getThreadCpuTime(compiler.threadId()) + nanos;
        while (THREADS.getThreadCpuTime(compiler.threadId()) < end) {
            assertThat(System.nanoTime() - begin).as("time without a processor").isLessThan(PATIENCE_NANOS);
            Thread.sleep(1);
        }
    }
}
