package io.rdmacomm.cli.bench.trial;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.PrimitiveIterator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// With a clock that only the test moves.
final class BestPartTest {
    private static final int WARM_UP = 10_000_000;
    private static final int WARM_UPS = 3;

    private long now = -1_000_000;
    private int readings;
    private int parts;
    private int pauses;

    private long best(int unbeaten, int most, IntStream times) {
        PrimitiveIterator.OfInt each = times.iterator();
        pauses = 0;
        BestPart best = new BestPart(Duration.ofNanos(unbeaten), Duration.ofNanos(most), this::pause, this::read);
        return best.nanos(() -> {
            if (pauses < WARM_UPS) {
                now += WARM_UP;
                return;
            }
            now += each.nextInt();
            parts++;
        });
    }

    private void pause() {
        pauses++;
        readings = 0;
    }

    private long read() {
        readings++;
        return now;
    }

    @Test
    void theFastestPartCounts() {
        assertThat(best(1000, 10_000, IntStream.of(900, 500, 100, 40, 700, 41, 300)))
                .isEqualTo(40);
        assertThat(parts).isEqualTo(7);
    }

    @Test
    void theClockIsReadBetweenPartsOnly() {
        best(100, 10_000, IntStream.generate(() -> 10));

        assertThat(parts).isEqualTo(11);
        assertThat(readings).isEqualTo(parts + 1);
    }

    /// As while the compiler works.
    @Test
    void itGoesOnWhilePartsBecomeFaster() {
        assertThat(best(
                        100,
                        1_000_000,
                        IntStream.concat(
                                IntStream.iterate(99, time -> time > 10, time -> time - 2),
                                IntStream.generate(() -> 30))))
                .isEqualTo(11);
    }

    @Test
    void aLittleFasterDoesNotProlongIt() {
        assertThat(best(10_000, 1_000_000, IntStream.iterate(1000, time -> Math.max(time - 1, 991))))
                .isEqualTo(991);
        assertThat(parts).isLessThan(15);
    }

    /// On a busy machine each word of a cache line may cost a time slice.
    @Test
    void slowPartsAreFew() {
        BestPart best = new BestPart(Duration.ofMillis(200), Duration.ofSeconds(2), this::pause, this::read);
        best.nanos(() -> {
            now += Duration.ofSeconds(3).toNanos();
            parts++;
        });
        assertThat(parts).isEqualTo(2);
    }

    /// Parts of the warm-up are faster here, as when a first part does less.
    @Test
    void theWarmUpDoesNotCountAndLeavesTimeForTheCompilers() {
        assertThat(best(WARM_UP, 10 * WARM_UP, IntStream.generate(() -> 2 * WARM_UP)))
                .isEqualTo(2 * WARM_UP);
        assertThat(pauses).isEqualTo(WARM_UPS);
    }

    @Test
    void itEndsAtTheLimitAfterOnePartAtLeast() {
        assertThat(best(1000, 500, IntStream.iterate(300, time -> time / 2))).isEqualTo(75);
        assertThat(best(1000, 500, IntStream.of(60_000))).isEqualTo(60_000);
    }
}
