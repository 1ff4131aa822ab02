package io.rdmacomm.comm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.setup.SetUpException;
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
    private static final Map<SetUpException.Reason, Class<? extends RdmaException>> GENERAL = new EnumMap<>(Map.of(
            SetUpException.Reason.PEER_CLOSED, PeerClosedException.class,
            SetUpException.Reason.DEADLINE_PASSED, DeadlineException.class,
            SetUpException.Reason.CLOSED, ClosedException.class,
            SetUpException.Reason.INTERRUPTED, RdmaInterruptedException.class));

    @Test
    void eachReasonOfAFailedSetUpIsPublic() {
        Set<SetUpFailedException.Reason> found = EnumSet.noneOf(SetUpFailedException.Reason.class);
        for (SetUpException.Reason reason : SetUpException.Reason.values()) {
            IOException cause = new IOException("the cause");
            SetUpException failure = new SetUpException(reason, "what happened", cause);

            RdmaException made = Failures.ofSetUp(failure);

            assertThat(made).hasMessage("what happened").hasCause(cause);
            assertThat(made.getStackTrace()).isEqualTo(failure.getStackTrace());
            if (made instanceof SetUpFailedException failed) {
                assertThat(failed.reason().name()).isEqualTo(reason.name());
                found.add(failed.reason());
            } else {
                assertThat(made).isExactlyInstanceOf(GENERAL.get(reason));
            }
        }
        assertThat(found).containsExactly(SetUpFailedException.Reason.values());
    }
}
