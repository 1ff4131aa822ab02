package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class PendingFreesTest {
    private final PendingFrees pendingFrees = new PendingFrees();
    private final AtomicBoolean firstGone = new AtomicBoolean();
    private final AtomicBoolean secondGone = new AtomicBoolean();
    private final List<String> freed = new ArrayList<>();

    private void free(String place) {
        pendingFrees.free(place, () -> freed.add(place));
    }

    @Test
    void whatNobodyHoldsIsFreedAtOnce() {
        free("ring");
        assertThat(freed).containsExactly("ring");
        assertThat(pendingFrees.freeReleased()).isTrue();
    }

    @Test
    void whatIsHeldIsFreedWhenItsLastHolderIsGone() {
        pendingFrees.hold(firstGone::get, "ring", "queue");
        pendingFrees.hold(secondGone::get, "queue");
        free("ring");
        free("other");
        free("queue");
        assertThat(freed).containsExactly("other");
        assertThat(pendingFrees.freeReleased()).isFalse();

        firstGone.set(true);
        assertThat(pendingFrees.freeReleased()).as("nothing is held").isFalse();
        assertThat(freed).containsExactly("other", "ring");

        secondGone.set(true);
        assertThat(pendingFrees.freeReleased()).isTrue();
        assertThat(pendingFrees.freeReleased()).isTrue();
        assertThat(freed).containsExactly("other", "ring", "queue");
    }

    @Test
    void aHolderThatIsGoneBeforeTheOwnerKeepsNothing() {
        pendingFrees.hold(firstGone::get, "ring");
        firstGone.set(true);
        free("ring");
        assertThat(freed).containsExactly("ring");
    }
}
