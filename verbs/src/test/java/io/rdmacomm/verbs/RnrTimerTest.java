package io.rdmacomm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RnrTimerTest {
    /// Milliseconds of each code, from ibv_modify_qp(3).
    private static final double[] MILLIS = {
        655.36, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12, 0.16, 0.24, 0.32, 0.48, 0.64, 0.96, 1.28, 1.92, 2.56, 3.84,
        5.12, 7.68, 10.24, 15.36, 20.48, 30.72, 40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52
    };

    @Test
    void everyCodeHasItsTime() {
        assertThat(IntStream.range(0, 32).mapToLong(code -> new RnrTimer(code).nanos()))
                .containsExactly(IntStream.range(0, 32)
                        .mapToObj(code -> Math.round(MILLIS[code] * 1e6))
                        .toArray(Long[]::new));
    }

    @Test
    void roundsUpToTheNextTime() {
        assertThat(RnrTimer.atLeast(Duration.ofNanos(1)).code()).isEqualTo(1);
        assertThat(RnrTimer.atLeast(Duration.ofNanos(10_000)).code()).isEqualTo(1);
        assertThat(RnrTimer.atLeast(Duration.ofNanos(10_001)).code()).isEqualTo(2);
        assertThat(RnrTimer.atLeast(Duration.ofMillis(5)).code()).isEqualTo(18);
        assertThat(RnrTimer.atLeast(Duration.ofMillis(492)).code()).isZero();
    }

    @Test
    void everyCodeIsItsOwnDuration() {
        for (int code = 0; code < 32; code++) {
            assertThat(RnrTimer.atLeast(new RnrTimer(code).duration()).code()).isEqualTo(code);
        }
    }

    @Test
    void aCodeFromAPeerCannotLeaveTheTable() {
        assertThat(RnrTimer.nanos(-1)).isEqualTo(new RnrTimer(31).nanos());
    }

    @Test
    void rejectsCodesAndDurationsOutOfRange() {
        assertThatIllegalArgumentException().isThrownBy(() -> new RnrTimer(32)).withMessageContaining("0 to 31");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RnrTimer.atLeast(Duration.ofMillis(656)))
                .withMessageContaining("at most");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RnrTimer.atLeast(Duration.ZERO))
                .withMessageContaining("must be positive");
    }
}
