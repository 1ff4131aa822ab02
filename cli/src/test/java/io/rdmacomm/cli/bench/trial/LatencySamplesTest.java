package io.rdmacomm.cli.bench.trial;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class LatencySamplesTest {
    @Test
    void samplesAreDifferencesBetweenReadings() {
        LatencySamples samples = new LatencySamples(1, 1);

        samples.add(new long[] {5000, 6000, 9000, 99_000}, 2);

        assertThat(samples.count()).isEqualTo(2);
        assertThat(samples.minMicros()).isEqualTo(1);
        assertThat(samples.maxMicros()).isEqualTo(3);
        assertThat(samples.averageMicros()).isEqualTo(2);
        assertThat(samples.deviationMicros()).isEqualTo(1);
    }

    @Test
    void roundTripsAreHalvedWithoutRounding() {
        LatencySamples samples = new LatencySamples(2, 1);

        samples.add(new long[] {0, 333}, 1);

        assertThat(samples.minMicros()).isEqualTo(0.1665);
        assertThat(samples.percentileMicros(50)).isEqualTo(0.1665);
    }

    @Test
    void percentilesAreExactToThreeDigits() {
        LatencySamples samples = new LatencySamples(1, 1);
        long[] readings = new long[10_001];
        for (int i = 1; i < readings.length; i++) {
            readings[i] = readings[i - 1] + i;
        }

        samples.add(readings, 10_000);

        assertThat(samples.percentileMicros(50)).isCloseTo(5, within(0.005));
        assertThat(samples.percentileMicros(99)).isCloseTo(9.9, within(0.0099));
        assertThat(samples.percentileMicros(99.9)).isCloseTo(9.99, within(0.00999));
        assertThat(samples.percentileMicros(100)).isEqualTo(10);
    }
}
