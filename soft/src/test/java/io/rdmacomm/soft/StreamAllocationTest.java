package io.rdmacomm.soft;

import io.rdmacomm.testing.Allocation;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.ProtectionDomain;
import java.lang.foreign.Arena;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

/// A stream of large WRITEs over TCP allocates nothing: neither at the sender nor at the target, where the engine's
/// thread places all of it.
class StreamAllocationTest {
    private static final int BYTES = 1 << 20;
    private static final int COUNT = 500;
    private static final long TIMEOUT_NANOS = 60_000_000_000L;

    @Test
    void nobodyAllocatesAnything() {
        Device device = Soft.device("tcp1=127.0.0.1?sharedMemory=false");
        try (Arena arena = Arena.ofShared();
                Context here = device.open();
                Context there = device.open()) {
            ProtectionDomain domain = here.allocateProtectionDomain();
            ProtectionDomain otherDomain = there.allocateProtectionDomain();
            CompletionQueue target = there.createCompletionQueue(CompletionQueueOptions.ofCapacity(1));
            WriteStream stream = new WriteStream(arena, domain, otherDomain, target, BYTES);
            LongSupplier sent = Allocation.of(Thread.currentThread());
            LongSupplier placed = Allocation.of(engine(there));
            Allocation.assertNone(
                    COUNT + " WRITEs of 1 MiB, at the sender and at the target",
                    () -> sent.getAsLong() + placed.getAsLong(),
                    () -> stream.write(COUNT, deadline()));
        }
    }

    private static Thread engine(Context context) {
        String name = "tcp1-" + Integer.toUnsignedString(context.port(1).lid());
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals(name))
                .findAny()
                .orElseThrow();
    }

    private static long deadline() {
        return System.nanoTime() + TIMEOUT_NANOS;
    }
}
