package io.rdmacomm.comm.progress;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class CheckPaceTest {
    private final CheckPace pace = new CheckPace();
    private long now = 1_000_001;

    /// How many checks there are in `nanos`.
    private int checks(long nanos) {
        int checks = 0;
        for (long end = now + nanos; now < end; now += pace.nextNanos(now)) {
            checks++;
        }
        return checks;
    }

    @Test
    void looksBecomeRareWhileNothingComes() {
        assertThat(checks(1_000_000)).as("in the first millisecond").isBetween(5, 10);
        assertThat(checks(100_000_000)).isLessThan(50);
        assertThat(checks(1_000_000_000)).as("in a second").isBetween(190, 210);
    }

    @Test
    void theyBeginAnewWhenSomethingHasCome() {
        checks(1_000_000_000);
        pace.restart();

        assertThat(pace.nextNanos(now)).isEqualTo(CheckPace.SHORTEST_NANOS);
        assertThat(pace.nextNanos(now + 100_000)).isEqualTo(CheckPace.SHORTEST_NANOS);
    }

    @Test
    void aLookIsNeverLaterThanAQuarterOfTheWait() {
        pace.nextNanos(now);
        assertThat(pace.nextNanos(now + 8_000_000)).isEqualTo(2_000_000);
        assertThat(pace.nextNanos(now + Long.MAX_VALUE / 2)).isEqualTo(CheckPace.LONGEST_NANOS);
    }
}
