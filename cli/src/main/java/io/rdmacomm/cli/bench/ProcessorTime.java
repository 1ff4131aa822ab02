package io.rdmacomm.cli.bench;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/// How long processors have worked for the threads of this process, to the nanosecond. What the JVM does for
/// itself, compiling and collecting garbage, is not in it.
final class ProcessorTime {
    private static final ThreadMXBean THREADS = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);

    private ProcessorTime() {}

    /// Nanoseconds of all threads that still run.
    static long nanos() {
        long sum = 0;
        for (long nanos : THREADS.getThreadCpuTime(THREADS.getAllThreadIds())) {
            sum += Math.max(0, nanos);
        }
        return sum;
    }
}
