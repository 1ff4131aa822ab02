package io.rdmacomm.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.cm.AddressUnresolvedException;
import io.rdmacomm.verbs.cm.ConnectFailedException;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionRejectedException;
import io.rdmacomm.verbs.cm.DeviceRemovedException;
import io.rdmacomm.verbs.cm.PeerUnreachableException;
import io.rdmacomm.verbs.cm.Route;
import io.rdmacomm.verbs.cm.RouteUnresolvedException;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The results of all answers to a connecting side, and that it never waits without end.
class ConnectingTest extends ConnectionCase {
    private static final int ROUTE_ERROR = 3;

    @ParameterizedTest
    @CsvSource({"rdma_resolve_addr,1,-110,ETIMEDOUT", "rdma_resolve_addr,1,-113,EHOSTUNREACH"})
    void addressError(String function, int type, int status, Errno errno) {
        fake.answer(function, type, status, "");
        assertThatThrownBy(() -> manager.resolve(PEER, LONG))
                .isInstanceOfSatisfying(
                        AddressUnresolvedException.class,
                        failure -> assertThat(failure.errno()).isEqualTo(errno))
                .hasMessageContainingAll("10.0.0.9:7174", "rdma_resolve_addr");
    }

    @Test
    void resolvingFails() {
        fake.answer("rdma_resolve_route", ROUTE_ERROR, -101, "");
        assertThatThrownBy(() -> manager.resolve(PEER, LONG)).isInstanceOf(RouteUnresolvedException.class);
        fake.answer("rdma_resolve_addr", DEVICE_REMOVAL, 0, "");
        assertThatThrownBy(() -> manager.resolve(PEER, LONG)).isInstanceOf(DeviceRemovedException.class);
        fake.answer("rdma_resolve_addr", -1, 0, "");
        assertThatThrownBy(() -> manager.resolve(PEER, SHORT))
                .isInstanceOf(DeadlineException.class)
                .hasMessageContaining("100 ms");
        fake.fail("rdma_resolve_addr", 19);
        assertThatThrownBy(() -> manager.resolve(PEER, LONG))
                .isInstanceOf(AddressUnresolvedException.class)
                .hasMessageContaining("ENODEV");
        fake.fail("rdma_create_id", 12);
        assertThatThrownBy(() -> manager.resolve(PEER, LONG)).hasMessageContainingAll("ENOMEM", "rdma_create_id");
        fake.elsewhere(true);
        assertThatThrownBy(() -> manager.resolve(PEER, LONG))
                .isInstanceOf(AddressUnresolvedException.class)
                .hasMessageContainingAll("through other0, not through fake0");
    }

    private RdmaException connectAnswered(QueuePair pair, int type, int status, String data) {
        fake.answer("rdma_connect", type, status, data);
        try {
            manager.connect(PEER, pair, DEFAULTS, type < 0 ? SHORT : LONG);
            throw new AssertionError("connected");
        } catch (RdmaException e) {
            return e;
        }
    }

    @ParameterizedTest
    @CsvSource({
        "8,no program listens",
        "28,its program declined it",
        "-111,no program listens",
        "-104,program declined it",
        "3,reason 3"
    })
    void rejection(int status, String text) throws InterruptedException {
        QueuePair pair = pair();
        assertThat(connectAnswered(pair, REJECTED, status, "because"))
                .isInstanceOfSatisfying(
                        ConnectionRejectedException.class,
                        failure -> assertThat(failure.privateData()).isEqualTo(bytes("because")))
                .hasMessageContainingAll(text, "10.0.0.9:7174");
        assertThat(pair.state()).isEqualTo(QueuePairState.INIT);
        assertThat(manager.connect(PEER, pair, DEFAULTS, LONG).isConnected()).isTrue();
    }

    @Test
    void connectingFails() {
        QueuePair pair = pair();
        assertThat(connectAnswered(pair, UNREACHABLE, -110, ""))
                .isInstanceOf(PeerUnreachableException.class)
                .hasMessageContaining("ETIMEDOUT");
        assertThat(connectAnswered(pair, CONNECT_ERROR, -22, "")).isInstanceOf(ConnectFailedException.class);
        assertThat(connectAnswered(pair, DISCONNECTED, 0, "")).isInstanceOf(ConnectFailedException.class);
        assertThat(connectAnswered(pair, DEVICE_REMOVAL, 0, "")).isInstanceOf(DeviceRemovedException.class);
        assertThat(connectAnswered(pair, 99, 0, "")).isInstanceOf(ConnectFailedException.class);
        fake.fail("rdma_connect", 22);
        assertThatThrownBy(() -> manager.connect(PEER, pair, DEFAULTS, LONG)).hasMessageContaining("EINVAL");
        assertThat(pair.state()).isEqualTo(QueuePairState.INIT);

        fake.fail("rdma_establish", 22);
        assertThatThrownBy(() -> manager.connect(PEER, pair, DEFAULTS, LONG)).hasMessageContaining("rdma_establish");
        assertThat(pair.state()).isEqualTo(QueuePairState.ERROR);
        QueuePair other = pair();
        assertThat(connectAnswered(other, -1, 0, "")).isInstanceOf(DeadlineException.class);
        assertThat(other.state()).isEqualTo(QueuePairState.ERROR);
    }

    @ParameterizedTest
    @CsvSource({
        "111,ConnectionRejectedException",
        "110,PeerUnreachableException",
        "113,PeerUnreachableException",
        "104,ConnectFailedException",
        "12,VerbException"
    })
    void iwarpConnectsInTheCall(int errno, String kind) {
        useIwarp();
        QueuePair pair = pair();
        fake.fail("rdma_connect", errno);
        assertThatThrownBy(() -> manager.connect(PEER, pair, DEFAULTS, LONG))
                .satisfies(failure ->
                        assertThat(failure.getClass().getSimpleName()).isEqualTo(kind));
    }

    /// The kernel's connection manager does not know the ports of TCP. connect(2) reports either errno.
    @ParameterizedTest
    @ValueSource(ints = {98, 99})
    void aPortInUseIsReplacedByAnother(int errno) throws InterruptedException {
        useIwarp();
        QueuePair pair = pair();
        fake.log();
        fake.fail("rdma_connect", errno, 2);
        assertThat(manager.connect(PEER, pair, DEFAULTS, LONG).isConnected()).isTrue();
        assertThat(fake.log().stream().filter(line -> line.startsWith("resolve_addr")))
                .as("identifiers")
                .hasSize(3);
        assertThat(fake.connectionLeftovers()).containsExactly(1, 1, 0);
    }

    @Test
    void onlyAPortThatTheKernelChoseOnIwarpIsReplaced() {
        fake.fail("rdma_connect", 98);
        assertThatThrownBy(() -> manager.connect(PEER, pair(), DEFAULTS, LONG)).hasMessageContaining("EADDRINUSE");
        useIwarp();
        QueuePair pair = pair();
        fake.fail("rdma_connect", 98, Integer.MAX_VALUE);
        assertThatThrownBy(() -> manager.connect(PEER, pair, DEFAULTS, LONG))
                .hasMessageContainingAll("EADDRINUSE", "10.0.0.9:7174");
        assertThat(pair.state()).isEqualTo(QueuePairState.INIT);
        assertThat(fake.connectionLeftovers()).containsExactly(0, 1, 0);
    }

    @Test
    void aRouteCanBeClosedWhileItLooksForAnotherPort() throws Exception {
        useIwarp();
        QueuePair pair = pair();
        Route route = manager.resolve(PEER, LONG);
        fake.log();
        fake.fail("rdma_connect", 98);
        fake.answer("rdma_resolve_addr", -1, 0, "");
        FutureTask<Connection> connecting = start(true, () -> route.connect(pair, DEFAULTS, LONG));
        awaitLog("resolve_addr");
        route.close();
        assertThatThrownBy(connecting::get).hasCauseInstanceOf(IllegalStateException.class);
        assertThat(fake.connectionLeftovers()).containsExactly(0, 1, 0);
    }

    /// It misses a message that comes right after its answer.
    @Test
    void siwIsGivenTimeToListen() throws Exception {
        useIwarp();
        long start = System.nanoTime();
        assertThat(manager.connect(PEER, pair(), DEFAULTS, LONG).isConnected()).isTrue();
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(20_000_000);
    }

    @Test
    void aCallThatBlocksInTheKernelBlocksNoOtherThread() throws Exception {
        useIwarp();
        fake.blockConnecting(true);
        try {
            QueuePair pair = pair();
            assertThatThrownBy(() -> manager.connect(PEER, pair, DEFAULTS, SHORT))
                    .isInstanceOf(DeadlineException.class);
            FutureTask<Connection> other = start(true, () -> manager.connect(PEER, pair(), DEFAULTS, LONG));
            awaitLog("connect id1");
            FutureTask<Void> closing = start(false, () -> {
                context.close();
                return null;
            });
            assertThatThrownBy(other::get).hasCauseInstanceOf(IllegalStateException.class);
            closing.get();
            assertThat(fake.connectionLeftovers()).as("still in C").containsExactly(2, 1, 0);
        } finally {
            fake.blockConnecting(false);
        }
        await(() -> fake.connectionLeftovers().equals(List.of(0, 0, 0)));
    }

    @Test
    void aDestructionThatWaitsForThePeerBlocksNoThread() throws Exception {
        useIwarp();
        fake.blockDestroying(true);
        try {
            assertThat(connectAnswered(pair(), -1, 0, "")).isInstanceOf(DeadlineException.class);
            assertThat(fake.connectionLeftovers()).as("still in C").containsExactly(1, 1, 0);
        } finally {
            fake.blockDestroying(false);
        }
        await(() -> fake.connectionLeftovers().equals(List.of(0, 1, 0)));
    }
}
