package io.rdmacomm.comm.progress;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

final class WaiterTest {
    private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(120);

    /// A condition that becomes true right after the first look at it. The waiting thread then uses up the wake-up
    /// before it goes to sleep, as it does when it waits for the lock of the polling turn.
    private static final class TrueAfterFirstLook implements BooleanSupplier {
        private boolean looked;
        private Runnable wake = () -> {};

        @Override
        public boolean getAsBoolean() {
            if (!looked) {
                looked = true;
                wake.run();
                LockSupport.parkNanos(1);
                return false;
            }
            return true;
        }
    }

    @Test
    void aWakeUpIsNotLostIfTheThreadParksElsewhereBeforeItSleeps() throws Exception {
        FutureTask<Boolean> waiting = new FutureTask<>(() -> {
            Waiter waiter = new Waiter(null);
            TrueAfterFirstLook condition = new TrueAfterFirstLook();
            condition.wake = waiter::wake;
            return waiter.await(condition, System.nanoTime() + LONG_NANOS);
        });
        Thread.ofVirtual().start(waiting);

        assertThat(waiting.get(20, TimeUnit.SECONDS)).isTrue();
    }
}
