package io.rdmacomm.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.RdmaInterruptedException;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.DeviceRemovedException;
import io.rdmacomm.verbs.cm.Listener;
import io.rdmacomm.verbs.cm.Route;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// How connections end, and that all waiting threads notice.
class ConnectionEndTest extends ConnectionCase {
    private static final int ADDRESS_CHANGE = 14;
    private static final int TIMEWAIT_EXIT = 15;

    @Test
    void thePeerDisconnects() throws InterruptedException {
        QueuePair pair = pair();
        Connection connection = manager.connect(PEER, pair, DEFAULTS, LONG);
        assertThat(connection.awaitDisconnect(Duration.ZERO)).isFalse();
        fake.report("id0", ADDRESS_CHANGE, 0);
        assertThat(connection.awaitDisconnect(SHORT)).isFalse();
        fake.log();
        fake.report("id0", DISCONNECTED, 0);
        assertThat(connection.awaitDisconnect(LONG)).isTrue();
        assertThat(connection.disconnectReason()).contains("the peer disconnected");
        assertThat(pair.state()).as("before the connection reports its end").isEqualTo(QueuePairState.ERROR);
        connection.disconnect();
        fake.report("id0", TIMEWAIT_EXIT, 0);
        fake.report("id0", DISCONNECTED, 0);
        connection.close();
        assertThat(fake.log())
                .filteredOn(line -> !line.startsWith("modify_qp"))
                .as("the peer is answered once")
                .containsExactly("disconnect id0", "destroy_id id0");
    }

    @Test
    void theDeviceGoesAway() throws InterruptedException {
        QueuePair pair = pair();
        Connection connection = manager.connect(PEER, pair, DEFAULTS, LONG);
        fake.report("id0", DEVICE_REMOVAL, 0);
        assertThat(connection.awaitDisconnect(LONG)).isTrue();
        assertThat(connection.disconnectReason()).contains("device");
        Listener<ConnectionRequest> listener = manager.listen(HERE, 1);
        fake.report("id1", DEVICE_REMOVAL, 0);
        assertThatThrownBy(() -> listener.awaitRequest(LONG)).isInstanceOf(DeviceRemovedException.class);
    }

    @Test
    void theQueuePairMayBeClosedBeforeItsConnection() throws InterruptedException {
        QueuePair pair = pair();
        Connection connection = manager.connect(PEER, pair, DEFAULTS, LONG);
        pair.close();
        fake.report("id0", DISCONNECTED, 0);
        assertThat(connection.awaitDisconnect(LONG)).isTrue();
        connection.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void closingWakesWaitingThreads(boolean virtual) throws Exception {
        QueuePair connected = pair();
        Connection connection = manager.connect(PEER, connected, DEFAULTS, LONG);
        Listener<ConnectionRequest> listener = manager.listen(HERE, 1);
        FutureTask<Boolean> ended = start(virtual, () -> connection.awaitDisconnect(LONG));
        FutureTask<ConnectionRequest> arrival = start(virtual, () -> listener.awaitRequest(LONG));
        fake.answer("rdma_connect", -1, 0, "");
        QueuePair unanswered = pair();
        FutureTask<Connection> connecting = start(virtual, () -> manager.connect(PEER, unanswered, DEFAULTS, LONG));
        awaitLog("connect id");
        fake.answer("rdma_resolve_addr", -1, 0, "");
        FutureTask<Route> resolving = start(virtual, () -> manager.resolve(PEER, LONG));
        awaitLog("resolve_addr id");
        manager.close();
        assertThat(ended.get()).isTrue();
        for (FutureTask<?> waiter : List.of(arrival, connecting, resolving)) {
            assertThatThrownBy(waiter::get).hasCauseInstanceOf(IllegalStateException.class);
        }
        assertThat(connected.state()).isEqualTo(QueuePairState.ERROR);
        assertThatThrownBy(() -> manager.listen(HERE, 1)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void interruptingWakesAWaitingThread() throws InterruptedException {
        fake.answer("rdma_resolve_addr", -1, 0, "");
        FutureTask<Route> resolving = start(true, () -> {
            Thread.currentThread().interrupt();
            return manager.resolve(PEER, LONG);
        });
        assertThatThrownBy(resolving::get).hasCauseInstanceOf(RdmaInterruptedException.class);
    }

    @Test
    void eventsCanNoLongerBeRead() throws InterruptedException {
        Route route = manager.resolve(PEER, LONG);
        QueuePair pair = pair();
        fake.fail("rdma_get_cm_event", 5);
        assertThatThrownBy(() -> route.connect(pair, DEFAULTS, LONG))
                .hasMessageContainingAll("EIO", "rdma_get_cm_event");
    }
}
