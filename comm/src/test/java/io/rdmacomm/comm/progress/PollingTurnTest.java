package io.rdmacomm.comm.progress;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

final class PollingTurnTest {
    private final PollingTurn turn = new PollingTurn();

    /// A waiter whose thread parks until it is woken.
    private static final class Sleeping {
        private final FutureTask<Boolean> parked = new FutureTask<>(() -> {
            LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(20));
            return true;
        });
        private final FutureTask<Waiter> created = new FutureTask<>(() -> new Waiter(null));

        Sleeping() {
            Thread.ofVirtual().start(() -> {
                created.run();
                parked.run();
            });
        }

        Waiter waiter() throws Exception {
            return created.get(20, TimeUnit.SECONDS);
        }

        boolean isAsleep() {
            return !parked.isDone();
        }

        void awaitAwake() throws Exception {
            assertThat(parked.get(10, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void oneAtATimeHasTheTurn() throws Exception {
        Waiter one = new Sleeping().waiter();
        Waiter two = new Sleeping().waiter();

        assertThat(turn.take(one)).isTrue();
        assertThat(turn.take(two)).isFalse();
        turn.leave(one);
        assertThat(turn.take(two)).isTrue();
        assertThat(turn.take(one)).isFalse();
    }

    @Test
    void theOneThatHasSleptLongestIsWoken() throws Exception {
        Waiter polling = new Sleeping().waiter();
        Sleeping first = new Sleeping();
        Sleeping second = new Sleeping();
        assertThat(turn.take(polling)).isTrue();
        assertThat(turn.take(first.waiter())).isFalse();
        assertThat(turn.take(second.waiter())).isFalse();

        turn.leave(polling);

        first.awaitAwake();
        assertThat(second.isAsleep()).isTrue();
    }

    /// Its own wait may be over when it is woken for its turn.
    @Test
    void oneThatDoesNotTakeItsTurnWakesTheNext() throws Exception {
        Waiter polling = new Sleeping().waiter();
        Sleeping first = new Sleeping();
        Sleeping second = new Sleeping();
        assertThat(turn.take(polling)).isTrue();
        assertThat(turn.take(first.waiter())).isFalse();
        assertThat(turn.take(second.waiter())).isFalse();
        turn.leave(polling);
        first.awaitAwake();

        turn.leave(first.waiter());

        second.awaitAwake();
    }

    @Test
    void oneThatGivesUpIsNotWokenLater() throws Exception {
        Waiter polling = new Sleeping().waiter();
        Sleeping impatient = new Sleeping();
        Sleeping patient = new Sleeping();
        assertThat(turn.take(polling)).isTrue();
        assertThat(turn.take(impatient.waiter())).isFalse();
        assertThat(turn.take(patient.waiter())).isFalse();

        turn.leave(impatient.waiter());
        turn.leave(polling);

        patient.awaitAwake();
        assertThat(impatient.isAsleep()).isTrue();
    }
}
