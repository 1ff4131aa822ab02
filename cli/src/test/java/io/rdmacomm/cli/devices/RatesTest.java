package io.rdmacomm.cli.devices;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.statistics.ChannelStatistics;
import io.rdmacomm.verbs.statistics.PublishedChannel;
import org.junit.jupiter.api.Test;

/// The rates between two publications.
final class RatesTest {
    private static PublishedChannel record(long operations, long messages, long notices, long bytesIn, long bytesRead) {
        return new PublishedChannel(
                1,
                "session",
                "peer",
                "data-0",
                10 - operations,
                new ChannelStatistics(operations, 0, 0, 0, bytesRead, messages, notices, bytesIn));
    }

    @Test
    void theyArePerSecondOfTheProcess() {
        assertThat(Rates.between(record(2, 3, 4, 5, 6), record(6, 5, 8, 105, 56), 2))
                .isEqualTo(new Rates(2, 3, 75, 0, 0, 0));
    }

    @Test
    void countersThatShrinkAreAnotherChannels() {
        assertThat(Rates.between(record(2, 3, 4, 5, 6), record(6, 5, 3, 105, 56), 2))
                .isNull();
    }

    @Test
    void withoutTimeThereIsNoRate() {
        for (double seconds : new double[] {0, -1, Double.NaN}) {
            assertThat(Rates.between(record(1, 1, 1, 1, 1), record(2, 2, 2, 2, 2), seconds))
                    .isNull();
        }
    }
}
