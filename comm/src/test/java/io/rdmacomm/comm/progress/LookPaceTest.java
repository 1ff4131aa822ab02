package io.rdmacomm.comm.progress;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class LookPaceTest {
    private final LookPace pace = new LookPace();
    private long now = 1_000_001;

    /// How many looks there are in `nanos`.
    private int looks(long nanos) {
        int looks = 0;
        for (long end = now + nanos; now < end; now += pace.nextNanos(now)) {
            looks++;
        }
        return looks;
    }

    @Test
    void looksBecomeRareWhileNothingComes() {
        assertThat(looks(1_000_000)).as("in the first millisecond").isBetween(5, 10);
        assertThat(looks(100_000_000)).isLessThan(50);
        assertThat(looks(1_000_000_000)).as("in a second").isBetween(190, 210);
    }

    @Test
    void theyBeginAnewWhenSomethingHasCome() {
        looks(1_000_000_000);
        pace.restart();

        assertThat(pace.nextNanos(now)).isEqualTo(LookPace.SHORTEST_NANOS);
        assertThat(pace.nextNanos(now + 100_000)).isEqualTo(LookPace.SHORTEST_NANOS);
    }

    @Test
    void aLookIsNeverLaterThanAQuarterOfTheWait() {
        pace.nextNanos(now);
        assertThat(pace.nextNanos(now + 8_000_000)).isEqualTo(2_000_000);
        assertThat(pace.nextNanos(now + Long.MAX_VALUE / 2)).isEqualTo(LookPace.LONGEST_NANOS);
    }
}
