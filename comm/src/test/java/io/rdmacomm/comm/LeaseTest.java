package io.rdmacomm.comm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/// When a lease is over, and what that does to READs. `LeaseStepsTest` shows that it is over in time.
final class LeaseTest {
    private static final Duration SHORT = Duration.ofMillis(1);

    private static Lease over() {
        Lease lease = Lease.begin(SHORT);
        while (!lease.isOver()) {
            Thread.onSpinWait();
        }
        return lease;
    }

    @Test
    void aReadThatEndsInTimeHasItsResult() {
        Lease lease = Lease.begin(Duration.ofHours(1));
        CompletableFuture<String> read = new CompletableFuture<>();
        CompletableFuture<String> guarded = lease.guard(read);
        read.complete("content");

        assertThat(lease.isOver()).isFalse();
        assertThatCode(lease::check).doesNotThrowAnyException();
        assertThat(guarded.join()).isEqualTo("content");
    }

    @Test
    void aReadThatEndsLateFails() {
        Lease lease = over();

        assertThatThrownBy(lease::check)
                .isInstanceOf(LeaseExpiredException.class)
                .hasMessage("the lease of 1 ms was over before the READ had ended, so it may have found other content;"
                        + " ask the owner again");
        assertThatThrownBy(lease.guard(CompletableFuture.completedFuture(1))::join)
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(LeaseExpiredException.class);
    }

    @Test
    void aReadThatFailsFailsInItsOwnWay() {
        assertThatThrownBy(over().guard(CompletableFuture.failedFuture(new ArithmeticException()))::join)
                .hasCauseInstanceOf(ArithmeticException.class);
    }

    @Test
    void termsAreChecked() {
        for (Duration wrong : new Duration[] {Duration.ZERO, Duration.ofNanos(999_999), Duration.ofMinutes(61)}) {
            assertThatThrownBy(() -> Lease.begin(wrong)).hasMessageContaining("term of a lease");
            assertThatThrownBy(() -> Lease.grace(wrong)).isInstanceOf(IllegalArgumentException.class);
        }
        assertThat(Lease.grace(Duration.ofMillis(40))).isEqualTo(Duration.ofMillis(50));
    }
}
