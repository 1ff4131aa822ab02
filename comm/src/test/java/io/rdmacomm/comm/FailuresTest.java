package io.rdmacomm.comm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.setup.SetupException;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.RdmaInterruptedException;
import java.io.IOException;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// The public exceptions of what has failed below.
final class FailuresTest {
    private static final Map<SetupException.Reason, Class<? extends RdmaException>> GENERAL = new EnumMap<>(Map.of(
            SetupException.Reason.PEER_CLOSED, PeerFailedException.class,
            SetupException.Reason.DEADLINE_PASSED, DeadlineException.class,
            SetupException.Reason.CLOSED, ClosedException.class,
            SetupException.Reason.INTERRUPTED, RdmaInterruptedException.class));

    @Test
    void eachReasonOfAFailedSetUpIsPublic() {
        Set<SetupFailedException.Reason> found = EnumSet.noneOf(SetupFailedException.Reason.class);
        for (SetupException.Reason reason : SetupException.Reason.values()) {
            IOException cause = new IOException("the cause");
            SetupException failure = new SetupException(reason, "what happened", cause);

            RdmaException made = Failures.ofSetup(failure);

            assertThat(made).hasMessage("what happened").hasCause(cause);
            assertThat(made.getStackTrace()).isEqualTo(failure.getStackTrace());
            if (made instanceof SetupFailedException failed) {
                assertThat(failed.reason().name()).isEqualTo(reason.name());
                found.add(failed.reason());
            } else {
                assertThat(made).isExactlyInstanceOf(GENERAL.get(reason));
            }
        }
        assertThat(found).containsExactly(SetupFailedException.Reason.values());
    }
}
