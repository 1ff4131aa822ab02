package io.rdmacomm.comm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ReconnectTest {
    @Test
    void eachIsChangedAlone() {
        Duration first = Duration.ofMillis(7);
        Duration most = Duration.ofSeconds(7);
        Duration giveUp = Duration.ofDays(7);
        Reconnect all = Reconnect.defaults()
                .withPauses(first, most)
                .withFactor(7)
                .withJitter(0.7)
                .withGiveUpAfter(giveUp)
                .withAfterPeerDone(true);

        assertThat(all)
                .hasToString("Reconnect[first=PT0.007S, most=PT7S, factor=7.0, jitter=0.7, giveUpAfter=PT168H, "
                        + "afterPeerDone=true]");
        assertThat(all).isEqualTo(all.withFactor(7)).isNotEqualTo(all.withFactor(8));
        assertThat(all).hasSameHashCodeAs(all.withFactor(7));
        assertThat(Reconnect.defaults().afterPeerDone()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT24H0.000000001S", "PT-1S"})
    void pausesOutOfRangeAreNamed(Duration bad) {
        assertThatThrownBy(() -> Reconnect.defaults().withPauses(bad, Duration.ofDays(1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("first pause is " + bad);
        assertThatThrownBy(() -> Reconnect.defaults().withPauses(Duration.ofMillis(1), bad))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("longest pause is " + bad);
    }

    @Test
    void theLongestPauseIsNotShorterThanTheFirst() {
        assertThatThrownBy(() -> Reconnect.defaults().withPauses(Duration.ofSeconds(11), Duration.ofSeconds(10)))
                .hasMessage("longest pause is PT10S, shorter than the first, PT11S");
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.99, 100.1, -1, Double.NaN, Double.POSITIVE_INFINITY})
    void factorsOutOfRangeAreNamed(double bad) {
        assertThatThrownBy(() -> Reconnect.defaults().withFactor(bad))
                .hasMessage("factor is " + bad + ", must be 1.0 to 100.0");
    }

    @ParameterizedTest
    @ValueSource(doubles = {-0.01, 1.01, Double.NaN})
    void jitterOutOfRangeIsNamed(double bad) {
        assertThatThrownBy(() -> Reconnect.defaults().withJitter(bad))
                .hasMessage("jitter is " + bad + ", must be 0.0 to 1.0");
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT876000H1S"})
    void timesToGiveUpOutOfRangeAreNamed(Duration bad) {
        assertThatThrownBy(() -> Reconnect.defaults().withGiveUpAfter(bad))
                .hasMessageContaining("time to give up after is " + bad);
    }

    @Test
    void aHundredYearsAreAllowed() {
        Duration years = Duration.ofDays(36_500);
        assertThat(Reconnect.defaults().withGiveUpAfter(years).giveUpAfter()).isEqualTo(years);
    }
}
