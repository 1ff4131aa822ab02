package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.comm.ConnectedPair.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.EndPointState;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import io.rdmacomm.verbs.RdmaException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Logger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// A program closes the device context of a session that is open: the session ends, and says why, once.
final class ClosedContextTest {
    @ParameterizedTest
    @MethodSource("io.rdmacomm.tests.comm.ModesTest#combinations")
    void endsTheSession(WorkMode work, ThreadMode thread) {
        Logger logger = Logger.getLogger("io.rdmacomm.comm");
        AtomicInteger said = new AtomicInteger();
        Logger progress = Logger.getLogger("io.rdmacomm.comm.progress");
        progress.setFilter(entry -> said.incrementAndGet() < 100);
        logger.setFilter(entry -> said.incrementAndGet() < 100);
        try (ConnectedPair pair =
                ConnectedPair.of(SessionOptions.defaults().withWorkMode(work).withThreadMode(thread))) {
            pair.server.context().close();

            eventually(() -> !pair.server.isOpen());
            assertThatThrownBy(() -> pair.server.accept(TIMEOUT))
                    .isInstanceOf(ClosedException.class)
                    .hasMessageContaining("context")
                    .hasCauseInstanceOf(RdmaException.class);
            eventually(() -> pair.serverEnd.state() == EndPointState.FAILED);
            assertThat(pair.serverEnd.failure()).hasMessageContaining("context");
            pair.server.close();
            assertThat(pair.server.endPoints()).isEmpty();
            eventually(() -> pair.clientEnd.state() == EndPointState.FAILED);
            assertThat(said).hasValueLessThan(10);
        } finally {
            logger.setFilter(null);
            progress.setFilter(null);
        }
    }
}
