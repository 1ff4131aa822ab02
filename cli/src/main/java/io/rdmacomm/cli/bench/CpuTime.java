package io.rdmacomm.cli.bench;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/// The CPU time of this process's Java threads. It excludes the JVM's own threads, which compile and collect
/// garbage.
final class CpuTime {
    private static final ThreadMXBean THREADS = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);

    private CpuTime() {}

    /// The nanoseconds that all live threads have used so far.
    static long nanos() {
        long sum = 0;
        for (long nanos : THREADS.getThreadCpuTime(THREADS.getAllThreadIds())) {
            sum += Math.max(0, nanos);
        }
        return sum;
    }
}
