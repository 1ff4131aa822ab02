package io.rdmacomm.nio.rsocket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/// The limit for the memory of all connections.
class MemoryBudgetTest {
    @Test
    void aConnectionBeyondTheLimitIsRejectedAndTakesNothing() {
        MemoryBudget budget = new MemoryBudget(100);
        budget.take(60);

        assertThatThrownBy(() -> budget.take(41))
                .isInstanceOfSatisfying(
                        VerbException.class,
                        failure -> assertThat(failure.errno()).isEqualTo(Errno.ENOBUFS))
                .hasMessageContaining("41 bytes more than the 60");
        budget.take(40);
        budget.giveBack(60);
        budget.take(60);
    }

    @Test
    void threadsTogetherNeverTakeMoreThanTheLimit() throws InterruptedException {
        MemoryBudget budget = new MemoryBudget(1_000);
        AtomicLong taken = new AtomicLong();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            threads.add(Thread.ofPlatform().start(() -> {
                for (int n = 0; n < 1_000; n++) {
                    try {
                        budget.take(3);
                        var _ = taken.addAndGet(3);
                    } catch (VerbException e) {
                        // The limit is reached.
                    }
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }

        assertThat(taken).hasValueLessThanOrEqualTo(1_000);
        budget.giveBack(taken.get());
        budget.take(1_000);
    }
}
