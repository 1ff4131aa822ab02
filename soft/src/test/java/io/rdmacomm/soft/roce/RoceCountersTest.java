package io.rdmacomm.soft.roce;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.Allocation;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

class RoceCountersTest {
    private static final int ROUNDS = 20;
    private static final int COUNTS = 200_000;

    /// Both ends of a connection in one process count at the same time. In the first rounds, and now and then, the
    /// JVM allocates something itself.
    @Test
    void twoThreadsAtOnceAllocateNothing() throws InterruptedException, ExecutionException {
        List<Long> allocated = new ArrayList<>();
        try (ExecutorService both = Executors.newFixedThreadPool(2)) {
            for (int round = 0; round < ROUNDS; round++) {
                RoceCounters counters = new RoceCounters();
                AtomicInteger ready = new AtomicInteger();
                Callable<Long> work = () -> count(counters, ready);
                Future<Long> one = both.submit(work);
                Future<Long> other = both.submit(work);
                allocated.add(one.get() + other.get());
                assertThat(counters.values()).containsEntry("roce_packets_sent", 2L * COUNTS);
            }
        }
        assertThat(allocated).contains(0L);
    }

    private static long count(RoceCounters counters, AtomicInteger ready) {
        LongSupplier allocated = Allocation.of(Thread.currentThread());
        ready.incrementAndGet();
        while (ready.get() < 2) {
            Thread.onSpinWait();
        }
        long before = allocated.getAsLong();
        for (int i = 0; i < COUNTS; i++) {
            counters.sent.getAndIncrement();
        }
        return allocated.getAsLong() - before;
    }
}
