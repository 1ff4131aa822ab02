package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.comm.ConnectedPair.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.EndPointState;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.SessionListener;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.SharedReceives;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.verbs.AsyncEvent;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.RdmaException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Devices that have failed and do not say so when they are polled, as mlx5: nothing but the asynchronous event tells.
@ExtendWith(LeakCheck.class)
final class DeviceEventsTest {
    private static final int BYTES = 64;

    @ParameterizedTest
    @CsvSource({
        "fatal=write@2:2:silent, DEVICE_FATAL, POLLING, SHARED_CQ",
        "fatal=write@2:2:silent, DEVICE_FATAL, ADAPTIVE, CALLER",
        "fatal=write@2:2:silent, DEVICE_FATAL, EPOLL, PER_QUEUE_PAIR",
        "overrun=write@2:2, COMPLETION_QUEUE_ERROR, POLLING, SHARED_CQ",
        "overrun=write@2:2, COMPLETION_QUEUE_ERROR, ADAPTIVE, CALLER",
        "overrun=write@2:2, COMPLETION_QUEUE_ERROR, EPOLL, PER_QUEUE_PAIR",
        "overrun=write@2:2, COMPLETION_QUEUE_ERROR, COMPLETION_CHANNEL, PER_QUEUE_PAIR"
    })
    void theEndpointsFailWithThatCause(String rule, AsyncEventType event, WorkMode work, ThreadMode thread) {
        SessionOptions plain = SessionOptions.defaults().withDevice("soft0");
        SessionOptions faulty =
                plain.withDevice("fault:soft0?" + rule).withWorkMode(work).withThreadMode(thread);
        try (ConnectedPair pair = new ConnectedPair(plain, faulty)) {
            var source = pair.client.allocate("source", BYTES).slice(0, 8);
            RemoteBuffer remote = pair.target(pair.server.allocate("target", BYTES));
            var blocking = pair.clientChannel().blocking(TIMEOUT);
            blocking.write(source, remote, 0);
            assertThatThrownBy(() -> blocking.write(source, remote, 0))
                    .isInstanceOf(RdmaException.class)
                    .hasStackTraceContaining(event.name());
            assertThat(pair.clientEnd.state()).isEqualTo(EndPointState.FAILED);
            assertThat(pair.clientEnd.failure()).hasMessageContaining(event.name());
        }
    }

    @Test
    void aPortThatIsDownIsReported() {
        Queue<AsyncEvent> events = new ConcurrentLinkedQueue<>();
        SessionOptions plain = SessionOptions.defaults().withDevice("soft0");
        SessionOptions faulty = plain.withDevice("fault:soft0?link-down=write@2:1:1ms")
                .withSharedReceives(SharedReceives.of(64, 4))
                .withListener(new SessionListener() {
                    @Override
                    public void onDeviceEvent(AsyncEvent event) {
                        events.add(event);
                    }
                });
        try (ConnectedPair pair = new ConnectedPair(plain, faulty)) {
            var source = pair.client.allocate("source", BYTES).slice(0, 8);
            RemoteBuffer remote = pair.target(pair.server.allocate("target", BYTES));
            assertThatThrownBy(() -> pair.clientChannel().blocking(TIMEOUT).write(source, remote, 0))
                    .hasStackTraceContaining("RETRY_EXCEEDED");
            eventually(() -> events.contains(new AsyncEvent(AsyncEventType.PORT_ACTIVE, null, 1)));
            assertThat(events).contains(new AsyncEvent(AsyncEventType.PORT_ERROR, null, 1));
        }
    }
}
