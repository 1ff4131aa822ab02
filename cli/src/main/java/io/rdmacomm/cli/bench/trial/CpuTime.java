package io.rdmacomm.cli.bench.trial;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/// The CPU time of this process.
final class CpuTime {
    private static final ThreadMXBean THREADS = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);
    private static final OperatingSystemMXBean SYSTEM =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    private static final Path TASKS = Path.of("/proc/self/task");

    private CpuTime() {}

    /// The nanoseconds that all live threads of the process have used so far. Leaves out the JIT compilers, which
    /// run long after a warm-up. If the kernel does not count nanoseconds, the result has steps of hundredths of a
    /// second and includes the compilers.
    static long ofProcess() {
        long sum = 0;
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(TASKS)) {
            for (Path task : tasks) {
                sum += ofTask(task);
            }
        } catch (IOException _) {
            sum = 0;
        }
        return sum == 0 ? SYSTEM.getProcessCpuTime() : sum;
    }

    /// Reads the time on a CPU, the first of the three numbers in the file.
    private static long ofTask(Path task) {
        try {
            if (Files.readString(task.resolve("comm")).contains(CompilerTime.NAME)) {
                return 0;
            }
            String line = Files.readString(task.resolve("schedstat"));
            return Long.parseLong(line.substring(0, line.indexOf(' ')));
        } catch (IOException | NumberFormatException | IndexOutOfBoundsException _) {
            return 0; // The thread has just ended, or the kernel does not count.
        }
    }

    /// The nanoseconds that all live Java threads have used so far, without the JVM's own threads, which compile
    /// and collect garbage.
    static long ofJavaThreads() {
        long sum = 0;
        for (long nanos : THREADS.getThreadCpuTime(THREADS.getAllThreadIds())) {
            sum += Math.max(0, nanos);
        }
        return sum;
    }
}
