package io.rdmacomm.comm.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.SilentDevice;
import io.rdmacomm.comm.progress.CompletionGroup;
import io.rdmacomm.comm.progress.CompletionQueues;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.VerbException;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// The completion vectors of the groups of a session, on a device that has three.
class CompletionVectorsTest {
    private static final int ENTRIES = 16;

    private final SilentDevice device = new SilentDevice();
    private final Context context = Device.of(device).open();

    @AfterEach
    void close() {
        context.close();
    }

    private void open(CompletionQueues queues, long spinNanos) {
        new CompletionGroup(queues, "a group", spinNanos, ENTRIES, 1, true);
    }

    @Test
    void sessionsTakeTurns() {
        for (int session = 0; session < 2; session++) {
            CompletionQueues queues = new CompletionQueues(context);
            for (int group = 0; group < 3; group++) {
                open(queues, 0);
            }
        }

        assertThat(device.vectors.subList(0, 3)).containsExactlyInAnyOrder(0, 1, 2);
        assertThat(device.vectors.subList(3, 6)).isEqualTo(device.vectors.subList(0, 3));
    }

    @Test
    void aQueueWithoutEventsTakesNoTurn() {
        CompletionQueues queues = new CompletionQueues(context);
        open(queues, 0);
        open(queues, CompletionGroup.SPIN_FOREVER);
        open(queues, 0);

        int first = device.vectors.getFirst();
        assertThat(device.vectors).containsExactly(first, 0, (first + 1) % 3);
    }

    @Test
    void theProgramCanChoose() {
        CompletionQueues queues = new CompletionQueues(context, OptionalInt.of(2));
        open(queues, 0);
        open(queues, 0);

        assertThat(device.vectors).containsExactly(2, 2);
        assertThatThrownBy(() -> open(new CompletionQueues(context, OptionalInt.of(3)), 0))
                .isInstanceOf(VerbException.class)
                .hasMessageContaining("no completion vector 3; choose one of 0 to 2");
    }
}
