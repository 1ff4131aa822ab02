package io.rdmacomm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.Test;

class AckTimeoutTest {
    @Test
    void isFourMicrosecondsAndAPowerOfTwo() {
        assertThat(new AckTimeout(1).nanos()).isEqualTo(8_192);
        assertThat(new AckTimeout(14).duration()).isEqualTo(Duration.ofNanos(67_108_864));
        assertThat(new AckTimeout(31).duration()).isEqualTo(Duration.ofSeconds(8796, 93_022_208));
    }

    @Test
    void codeZeroWaitsForever() {
        assertThat(AckTimeout.INFINITE.code()).isZero();
        assertThat(AckTimeout.INFINITE.nanos()).isEqualTo(Long.MAX_VALUE);
        assertThat(AckTimeout.INFINITE.duration()).isEqualTo(ChronoUnit.FOREVER.getDuration());
    }

    @Test
    void roundsUpToTheNextCode() {
        assertThat(AckTimeout.atLeast(Duration.ofNanos(1)).code()).isEqualTo(1);
        assertThat(AckTimeout.atLeast(Duration.ofNanos(8_192)).code()).isEqualTo(1);
        assertThat(AckTimeout.atLeast(Duration.ofNanos(8_193)).code()).isEqualTo(2);
        assertThat(AckTimeout.atLeast(Duration.ofMillis(67)).code()).isEqualTo(14);
        assertThat(AckTimeout.atLeast(Duration.ofMillis(68)).code()).isEqualTo(15);
    }

    @Test
    void everyCodeIsItsOwnDuration() {
        for (int code = 0; code <= 31; code++) {
            assertThat(AckTimeout.atLeast(new AckTimeout(code).duration()).code())
                    .isEqualTo(code);
        }
    }

    @Test
    void durationsBeyondTheLongestCodeWaitForever() {
        assertThat(AckTimeout.atLeast(Duration.ofHours(3))).isEqualTo(AckTimeout.INFINITE);
    }

    @Test
    void rejectsCodesAndDurationsOutOfRange() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new AckTimeout(32))
                .withMessageContaining("0 to 31");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new AckTimeout(-1))
                .withMessageContaining("0 to 31");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> AckTimeout.atLeast(Duration.ZERO))
                .withMessageContaining("must be positive");
    }
}
