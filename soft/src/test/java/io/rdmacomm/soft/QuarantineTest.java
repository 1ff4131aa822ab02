package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class QuarantineTest {
    private final Quarantine quarantine = new Quarantine();
    private final AtomicBoolean firstGone = new AtomicBoolean();
    private final AtomicBoolean secondGone = new AtomicBoolean();
    private final List<String> freed = new ArrayList<>();

    private void free(String place) {
        quarantine.free(place, () -> freed.add(place));
    }

    @Test
    void whatNobodyHoldsIsFreedAtOnce() {
        free("ring");
        assertThat(freed).containsExactly("ring");
        assertThat(quarantine.look()).isTrue();
    }

    @Test
    void whatIsHeldIsFreedWhenItsLastHolderIsGone() {
        quarantine.hold(firstGone::get, "ring", "queue");
        quarantine.hold(secondGone::get, "queue");
        free("ring");
        free("other");
        free("queue");
        assertThat(freed).containsExactly("other");
        assertThat(quarantine.look()).isFalse();

        firstGone.set(true);
        assertThat(quarantine.look()).as("nothing is held").isFalse();
        assertThat(freed).containsExactly("other", "ring");

        secondGone.set(true);
        assertThat(quarantine.look()).isTrue();
        assertThat(quarantine.look()).isTrue();
        assertThat(freed).containsExactly("other", "ring", "queue");
    }

    @Test
    void aHolderThatIsGoneBeforeTheOwnerKeepsNothing() {
        quarantine.hold(firstGone::get, "ring");
        firstGone.set(true);
        free("ring");
        assertThat(freed).containsExactly("ring");
    }
}
