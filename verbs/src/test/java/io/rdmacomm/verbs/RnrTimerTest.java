package io.rdmacomm.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RnrTimerTest {
    /// Milliseconds of each code, from ibv_modify_qp(3).
    private static final double[] MILLIS = {
        655.36, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12, 0.16, 0.24, 0.32, 0.48, 0.64, 0.96, 1.28, 1.92, 2.56, 3.84,
        5.12, 7.68, 10.24, 15.36, 20.48, 30.72, 40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52
    };

    @Test
    void everyCodeStandsForItsTime() {
        assertThat(IntStream.range(0, 32).mapToLong(RnrTimer::nanos))
                .containsExactly(IntStream.range(0, 32)
                        .mapToObj(code -> Math.round(MILLIS[code] * 1e6))
                        .toArray(Long[]::new));
    }
}
