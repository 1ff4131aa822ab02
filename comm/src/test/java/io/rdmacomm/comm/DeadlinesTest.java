package io.rdmacomm.comm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class DeadlinesTest {
    @Test
    void eachIsChangedAlone() {
        Duration other = Duration.ofSeconds(77);
        Deadlines all = Deadlines.defaults();

        assertThat(all.withConnect(other))
                .isEqualTo(new Deadlines(other, all.handshake(), all.close(), all.operation(), all.silence()));
        assertThat(all.withHandshake(other))
                .isEqualTo(new Deadlines(all.connect(), other, all.close(), all.operation(), all.silence()));
        assertThat(all.withClose(other))
                .isEqualTo(new Deadlines(all.connect(), all.handshake(), other, all.operation(), all.silence()));
        assertThat(all.withOperation(other))
                .isEqualTo(new Deadlines(all.connect(), all.handshake(), all.close(), other, all.silence()));
        assertThat(all.withSilence(other))
                .isEqualTo(new Deadlines(all.connect(), all.handshake(), all.close(), all.operation(), other));
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT0.000999999S", "PT24H0.000000001S", "PT-1S"})
    void timesOutOfRangeAreNamed(Duration bad) {
        assertThatThrownBy(() -> Deadlines.defaults().withClose(bad))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("close deadline is " + bad);
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT3.999999999S", "PT9H0.000000001S"})
    void aSilenceThatTcpCannotNoticeIsRejected(Duration bad) {
        assertThatThrownBy(() -> Deadlines.defaults().withSilence(bad))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("silence deadline is " + bad + ", must be 4 s to 9 h");
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0.001S", "PT24H"})
    void theBoundsAreAllowed(Duration bound) {
        assertThat(Deadlines.defaults().withConnect(bound).connect()).isEqualTo(bound);
    }
}
