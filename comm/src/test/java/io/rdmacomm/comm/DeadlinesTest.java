package io.rdmacomm.comm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class DeadlinesTest {
    @Test
    void eachIsChangedAlone() {
        Duration other = Duration.ofSeconds(77);
        Deadlines all = Deadlines.defaults();
        List<Function<Deadlines, Duration>> parts = List.of(
                Deadlines::connect, Deadlines::handshake, Deadlines::close, Deadlines::operation, Deadlines::silence);
        List<Deadlines> changed = List.of(
                all.withConnect(other),
                all.withHandshake(other),
                all.withClose(other),
                all.withOperation(other),
                all.withSilence(other));

        for (int i = 0; i < parts.size(); i++) {
            for (int part = 0; part < parts.size(); part++) {
                Function<Deadlines, Duration> of = parts.get(part);
                assertThat(of.apply(changed.get(i))).isEqualTo(part == i ? other : of.apply(all));
            }
        }
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
