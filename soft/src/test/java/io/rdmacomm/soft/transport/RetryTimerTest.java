package io.rdmacomm.soft.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.AckTimeout;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.WorkStatus;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/// How long a request waits for a peer that is not there.
class RetryTimerTest {
    private static final int RETRIES = 2;
    /// 4 ms.
    private static final AckTimeout TIMEOUT = new AckTimeout(10);

    private final RetryTimer timer = new RetryTimer(new Retries(() -> {}), new FreeLock(), () -> {});

    private static final class FreeLock implements SendLock {
        @Override
        public void enter() {}

        @Override
        public boolean tryEnter() {
            return true;
        }

        @Override
        public void leave() {}
    }

    private void configure(AckTimeout timeout) {
        timer.configure(new QueuePairAttributes().timeout(timeout).retryCount(RETRIES));
    }

    private static void pause(long nanos) {
        long end = System.nanoTime() + nanos;
        for (long left = nanos; left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    @Test
    void aProcessThatWasNotRunningHasNotTried() {
        configure(TIMEOUT);
        assertThat(timer.peerMissing(false)).isZero();
        pause(20 * TIMEOUT.nanos());
        assertThat(timer.peerMissing(false))
                .as("one retry, however long it took")
                .isZero();
        assertThat(timer.peerMissing(false)).as("at once").isZero();
    }

    @Test
    void theTimeForAnAnswerDoublesUpToFourTimeouts() {
        configure(TIMEOUT);
        assertThat(timer.timeoutNanos()).isEqualTo(TIMEOUT.nanos());
        assertThat(timer.repeats()).isZero();
        assertThat(timer.timeoutNanos()).isEqualTo(2 * TIMEOUT.nanos());
        assertThat(timer.repeats()).isZero();
        assertThat(timer.timeoutNanos()).isEqualTo(4 * TIMEOUT.nanos());
        assertThat(timer.repeats()).isEqualTo(WorkStatus.RETRY_EXCEEDED.code());
        timer.progressed();
        assertThat(timer.timeoutNanos()).isEqualTo(TIMEOUT.nanos());
    }

    @Test
    void aRequestThatIsRepeatedForEverNeverFails() {
        configure(AckTimeout.INFINITE);
        for (int i = 0; i < 100; i++) {
            assertThat(timer.repeats()).isZero();
            assertThat(timer.timeoutNanos()).isEqualTo(Long.MAX_VALUE);
        }
    }

    @Test
    void theRequestFailsWhenAllRetriesHadTheirTime() {
        configure(TIMEOUT);
        long begin = System.nanoTime();
        int tries = 0;
        while (timer.peerMissing(false) == 0) {
            tries++;
            pause(TIMEOUT.nanos() / 4);
        }
        assertThat(timer.peerMissing(false)).isEqualTo(WorkStatus.RETRY_EXCEEDED.code());
        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo((RETRIES + 1) * TIMEOUT.nanos());
        assertThat(tries).isGreaterThan(RETRIES);
    }

    @Test
    void aHostThatHasAnsweredHasMoreTime() {
        configure(TIMEOUT);
        for (int i = 0; i < 2 * RETRIES; i++) {
            assertThat(timer.peerMissing(true)).isZero();
            pause(TIMEOUT.nanos());
        }
        assertThat(timer.peerMissing(false)).isEqualTo(WorkStatus.RETRY_EXCEEDED.code());
    }

    @Test
    void withoutATimeoutItWaitsForever() {
        configure(AckTimeout.INFINITE);
        for (int i = 0; i < 10; i++) {
            assertThat(timer.peerMissing(false)).isZero();
            pause(TimeUnit.MILLISECONDS.toNanos(1));
        }
    }

    @Test
    void progressBeginsTheCountAgain() {
        configure(TIMEOUT);
        for (int i = 0; i < RETRIES; i++) {
            assertThat(timer.peerMissing(false)).isZero();
            pause(TIMEOUT.nanos());
        }
        timer.progressed();
        assertThat(timer.peerMissing(false)).isZero();
        pause(TIMEOUT.nanos());
        assertThat(timer.peerMissing(false)).isZero();
    }
}
