package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.ProtectionDomain;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

/// A stream of large WRITEs over TCP allocates nothing: neither at the sender nor at the target, where the engine's
/// thread places all of it.
class StreamAllocationTest {
    private static final int BYTES = 1 << 20;
    private static final int WARM_UP = 3000;
    private static final int COUNT = 500;
    private static final int ROUNDS = 5;
    private static final long PATIENCE_NANOS = 60_000_000_000L;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @Test
    void nobodyAllocatesAnything() {
        SoftDevice device = new SoftDevice("soft", DeviceSettings.parse("tcp1=127.0.0.1?sharedMemory=false"));
        try (Arena arena = Arena.ofShared();
                SoftContext here = (SoftContext) device.open();
                SoftContext there = (SoftContext) device.open()) {
            ProtectionDomain domain = here.allocateProtectionDomain();
            ProtectionDomain otherDomain = there.allocateProtectionDomain();
            CompletionQueue target = there.createCompletionQueue(CompletionQueueOptions.ofCapacity(1));
            WriteStream stream = new WriteStream(arena, domain, otherDomain, target, BYTES);
            stream.write(WARM_UP, deadline());
            Thread engine = engine(there);
            long sender = Thread.currentThread().threadId();
            long sent = -1;
            long placed = -1;
            // The JVM itself allocates a little while it still compiles: one of a few rounds must be clean.
            for (int round = 0; round < ROUNDS && (sent != 0 || placed != 0); round++) {
                sent = -THREADS.getThreadAllocatedBytes(sender);
                placed = -THREADS.getThreadAllocatedBytes(engine.threadId());
                stream.write(COUNT, deadline());
                sent += THREADS.getThreadAllocatedBytes(sender);
                placed += THREADS.getThreadAllocatedBytes(engine.threadId());
            }
            assertThat(sent)
                    .as("bytes at the sender of %d WRITEs of 1 MiB", COUNT)
                    .isZero();
            assertThat(placed).as("bytes at the target").isZero();
        }
    }

    private static Thread engine(SoftContext context) {
        String name = "tcp1-" + Integer.toUnsignedString(context.port(1).lid());
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals(name))
                .findAny()
                .orElseThrow();
    }

    private static long deadline() {
        return System.nanoTime() + PATIENCE_NANOS;
    }
}
