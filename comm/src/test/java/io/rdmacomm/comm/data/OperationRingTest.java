package io.rdmacomm.comm.data;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class OperationRingTest {
    private final OperationRing<String> ring = new OperationRing<>(4);

    private void add(String handler) {
        ring.add(Operation.WRITE, 8, handler, 0, 0);
    }

    @ParameterizedTest
    @CsvSource({"1, 4", "2, 4", "3, 8", "6, 8", "7, 16", "128, 256", "65536, 131072"})
    void theRingHasTwoSlotsMoreThanTheWindowAtLeast(int window, int slots) {
        assertThat(OperationRing.slots(window)).isEqualTo(slots).isGreaterThanOrEqualTo(window + 2);
    }

    @Test
    void theWindowFillsAndEmpties() {
        assertThat(ring.hasRoom(4)).isTrue();
        assertThat(ring.hasRoom(5)).isFalse();
        for (int i = 0; i < 4; i++) {
            add("" + i);
        }
        assertThat(ring.hasRoom(1)).isFalse();
        assertThat(ring.inFlight()).isEqualTo(4);

        ring.advance();

        assertThat(ring.hasRoom(1)).isTrue();
        assertThat(ring.hasRoom(2)).isFalse();
        assertThat(ring.inFlight()).isEqualTo(3);
    }

    @Test
    void theLibrarysOwnOperationsTakeNothingFromTheWindow() {
        ring.creditUpdateInFlight(true);
        add("credit update");
        ring.arrivalReadInFlight(true);
        add("arrival read");

        assertThat(ring.inFlight()).isZero();
        assertThat(ring.isEmpty()).isFalse();
        assertThat(ring.hasRoom(4)).isTrue();
        assertThat(ring.hasRoom(5)).isFalse();
    }

    @Test
    void whatIsTakenBackWasNeverThere() {
        add("one");
        add("two");
        ring.undo(1);

        assertThat(ring.next()).isEqualTo(1);
        assertThat(ring.inFlight()).isEqualTo(1);
        add("three");
        assertThat(ring.get(1).handler).isEqualTo("three");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 1000})
    void operationsAreFoundByNumberHoweverOftenTheRingHasTurned(int rounds) {
        for (int i = 0; i < rounds; i++) {
            add("operation " + i);
            assertThat(ring.oldest()).isEqualTo(i);
            assertThat(ring.get(i).handler).isEqualTo("operation " + i);
            assertThat(ring.hasEnded(i)).isTrue();
            assertThat(ring.hasEnded(i + 1)).isFalse();
            ring.advance();
            assertThat(ring.hasEnded(i + 1)).isTrue();
        }
        assertThat(ring.isEmpty()).isTrue();
    }
}
