package io.rdmacomm.comm;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class ReconnectPausesTest {
    private static double half() {
        return 0.5;
    }

    private static Reconnect pauses(long first, long most) {
        return Reconnect.defaults()
                .withPauses(Duration.ofMillis(first), Duration.ofMillis(most))
                .withJitter(0);
    }

    private static long millis(ReconnectPauses pauses) {
        return Duration.ofNanos(pauses.nextNanos()).toMillis();
    }

    @Test
    void eachPauseIsLongerUpToTheLongest() {
        ReconnectPauses pauses = new ReconnectPauses(pauses(100, 1_000), ReconnectPausesTest::half);

        assertThat(new long[] {
                    millis(pauses), millis(pauses), millis(pauses), millis(pauses), millis(pauses), millis(pauses)
                })
                .containsExactly(100, 200, 400, 800, 1_000, 1_000);
    }

    @Test
    void resetBeginsWithTheFirstAgain() {
        ReconnectPauses pauses = new ReconnectPauses(pauses(10, 1_000).withFactor(10), ReconnectPausesTest::half);
        assertThat(new long[] {millis(pauses), millis(pauses)}).containsExactly(10, 100);

        pauses.reset();

        assertThat(new long[] {millis(pauses), millis(pauses)}).containsExactly(10, 100);
    }

    @Test
    void aFactorOfOneKeepsThePause() {
        ReconnectPauses pauses = new ReconnectPauses(pauses(30, 1_000).withFactor(1), ReconnectPausesTest::half);

        assertThat(new long[] {millis(pauses), millis(pauses), millis(pauses)}).containsExactly(30, 30, 30);
    }

    @Test
    void jitterShortensAPauseButNotTheNext() {
        double[] random = {0, 0.5, 0.25};
        int[] asked = {0};
        ReconnectPauses pauses = new ReconnectPauses(pauses(100, 1_000).withJitter(0.5), () -> random[asked[0]++]);

        assertThat(new long[] {millis(pauses), millis(pauses), millis(pauses)}).containsExactly(100, 150, 350);
    }

    @Test
    void pausesStayWithinTheirBoundsForAnyRandomNumber() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        for (int round = 0; round < 1_000; round++) {
            long first = 1 + random.nextLong(1_000);
            long most = first + random.nextLong(100_000);
            double jitter = random.nextDouble();
            double factor = 1 + 99 * random.nextDouble();
            ReconnectPauses pauses =
                    new ReconnectPauses(pauses(first, most).withJitter(jitter).withFactor(factor), random::nextDouble);
            for (int i = 0; i < 50; i++) {
                assertThat(pauses.nextNanos())
                        .isGreaterThanOrEqualTo(Math.max(1_000_000, (long) (first * 1e6 * (1 - jitter))))
                        .isLessThanOrEqualTo(most * 1_000_000);
            }
        }
    }

    /// A pause of nothing would be a busy loop.
    @Test
    void aPauseIsNeverShorterThanAMillisecond() {
        ReconnectPauses pauses = new ReconnectPauses(pauses(1, 1).withJitter(1), () -> Math.nextDown(1.0));

        assertThat(pauses.nextNanos()).isEqualTo(1_000_000);
    }

    @Test
    void theLongestPausesDoNotOverflow() {
        ReconnectPauses pauses =
                new ReconnectPauses(pauses(86_400_000, 86_400_000).withFactor(100), ReconnectPausesTest::half);

        for (int i = 0; i < 10_000; i++) {
            assertThat(millis(pauses)).isEqualTo(86_400_000);
        }
    }
}
