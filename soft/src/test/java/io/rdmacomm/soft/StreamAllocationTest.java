package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.SendBatch;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

/// A stream of large WRITEs over TCP allocates nothing: neither at the sender nor at the target, where the engine's
/// thread places all of it.
class StreamAllocationTest {
    private static final int BYTES = 1 << 20;
    private static final int WINDOW = 4;
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
            CompletionQueue queue = here.createCompletionQueue(CompletionQueueOptions.ofCapacity(WINDOW));
            CompletionQueue otherQueue = there.createCompletionQueue(CompletionQueueOptions.ofCapacity(WINDOW));
            QueuePair one = domain.createQueuePair(QueuePairOptions.reliable(queue));
            QueuePair other = otherDomain.createQueuePair(QueuePairOptions.reliable(otherQueue));
            one.connect(other.info(), ConnectionOptions.defaults());
            other.connect(one.info(), ConnectionOptions.defaults());
            MemoryRegion source = domain.allocate(BYTES, AccessFlag.allRemote());
            MemoryRegion target = otherDomain.allocate(BYTES, AccessFlag.allRemote());
            SendBatch write = SendBatch.create(arena, 1, 1)
                    .write(1, target.address(), target.remoteKey())
                    .with(source, 0, BYTES)
                    .signaled();
            Completions completions = Completions.create(arena, WINDOW);
            stream(one, write, queue, completions, WARM_UP);
            Thread engine = engine(there);
            long sender = Thread.currentThread().threadId();
            long sent = -1;
            long placed = -1;
            // The JVM itself allocates a little while it still compiles: one of a few rounds must be clean.
            for (int round = 0; round < ROUNDS && (sent != 0 || placed != 0); round++) {
                sent = -THREADS.getThreadAllocatedBytes(sender);
                placed = -THREADS.getThreadAllocatedBytes(engine.threadId());
                stream(one, write, queue, completions, COUNT);
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

    private static void stream(QueuePair one, SendBatch write, CompletionQueue queue, Completions room, int count) {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        int posted = 0;
        int done = 0;
        while (done < count) {
            if (posted < count && posted - done < WINDOW) {
                posted += one.post(write);
            }
            int found = queue.poll(room);
            for (int i = 0; i < found; i++) {
                if (!room.isSuccess(i)) {
                    throw new AssertionError("status " + room.statusCode(i));
                }
            }
            done += found;
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError(done + " of " + count + " WRITEs have ended");
            }
        }
    }
}
