package io.rdmacomm.cli.bench;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// How long the compilers of this process have worked: while that grows, the code that is measured is not what it
/// is going to be.
final class CompilerTime {
    private static final @Nullable CompilationMXBean COMPILER = ManagementFactory.getCompilationMXBean();

    private CompilerTime() {}

    /// Nanoseconds, in steps of a millisecond, of all compilations that have ended; 0 where nobody knows.
    static long nanos() {
        return COMPILER == null || !COMPILER.isCompilationTimeMonitoringSupported()
                ? 0
                : TimeUnit.MILLISECONDS.toNanos(COMPILER.getTotalCompilationTime());
    }
}
