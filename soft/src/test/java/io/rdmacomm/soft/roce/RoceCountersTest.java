package io.rdmacomm.soft.roce;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.testing.Allocation;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

class RoceCountersTest {
    private static final int COUNTS = 200_000;

    /// Both ends of a connection in one process count at the same time.
    @Test
    void twoThreadsAtOnceAllocateNothing() throws InterruptedException, ExecutionException {
        RoceCounters counters = new RoceCounters();

        List<Long> allocated = Allocation.ofTwoThreads(() -> () -> count(counters));

        assertThat(allocated).contains(0L);
        assertThat(counters.values()).containsEntry("roce_packets_sent", 2L * COUNTS * allocated.size());
    }

    private static void count(RoceCounters counters) {
        for (int i = 0; i < COUNTS; i++) {
            counters.sent.getAndIncrement();
        }
    }
}
