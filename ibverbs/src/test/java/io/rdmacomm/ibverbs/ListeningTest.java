package io.rdmacomm.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.cm.ConnectFailedException;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.cm.Listener;
import io.rdmacomm.verbs.spi.ConnectionManagerDriver;
import io.rdmacomm.verbs.spi.ConnectionRequestDriver;
import io.rdmacomm.verbs.spi.ContextDriver;
import io.rdmacomm.verbs.spi.ListenerDriver;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

/// Incoming requests: accepted, rejected, withdrawn and not taken.
class ListeningTest extends ConnectionCase {
    @Test
    void listeningFails() {
        fake.fail("rdma_bind_addr", 98);
        assertThatThrownBy(() -> manager.listen(HERE, 1)).hasMessageContainingAll("EADDRINUSE", "10.0.0.7:7174");
        fake.fail("rdma_bind_addr", 19);
        assertThatThrownBy(() -> manager.listen(HERE, 1)).hasMessageContaining("EADDRNOTAVAIL");
        fake.fail("rdma_listen", 98);
        assertThatThrownBy(() -> manager.listen(HERE, 1)).hasMessageContaining("EADDRINUSE");
        fake.elsewhere(true);
        assertThatThrownBy(() -> manager.listen(HERE, 1)).hasMessageContaining("an address of other0, not of fake0");
    }

    /// The kernel's connection manager does not know the ports of TCP.
    @Test
    void aPortInUseIsReplacedByAnother() {
        useIwarp();
        fake.fail("rdma_listen", 98, 2);
        Listener<ConnectionRequest> listener = manager.listen(new InetSocketAddress(HERE.getAddress(), 0), 1);
        assertThat(listener.localAddress().getPort()).isNotZero();
        assertThat(fake.connectionLeftovers()).containsExactly(1, 1, 0);
        fake.fail("rdma_listen", 98);
        assertThatThrownBy(() -> manager.listen(HERE, 1))
                .as("a port that the program chose")
                .hasMessageContaining("EADDRINUSE");
        fake.fail("rdma_listen", 98, Integer.MAX_VALUE);
        assertThatThrownBy(() -> manager.listen(new InetSocketAddress(HERE.getAddress(), 0), 1))
                .hasMessageContaining("EADDRINUSE");
        assertThat(fake.connectionLeftovers()).containsExactly(1, 1, 0);
    }

    private ConnectionRequest requested(Listener<ConnectionRequest> listener) throws InterruptedException {
        fake.request("id0", "", false);
        ConnectionRequest request = listener.awaitRequest(LONG);
        assertThat(request).isNotNull();
        return request;
    }

    @Test
    void acceptingFails() throws InterruptedException {
        Listener<ConnectionRequest> listener = manager.listen(HERE);
        for (int type : new int[] {REJECTED, UNREACHABLE, CONNECT_ERROR, DISCONNECTED}) {
            QueuePair pair = pair();
            fake.answer("rdma_accept", type, -110, "");
            try (ConnectionRequest request = requested(listener)) {
                assertThatThrownBy(() -> request.accept(pair, DEFAULTS, LONG))
                        .isInstanceOf(ConnectFailedException.class)
                        .hasMessageContainingAll("10.0.0.9:60000", "went away");
            }
            assertThat(pair.state()).isEqualTo(QueuePairState.ERROR);
        }
        fake.answer("rdma_accept", -1, 0, "");
        try (ConnectionRequest request = requested(listener)) {
            assertThatThrownBy(() -> request.accept(pair(), DEFAULTS, SHORT)).isInstanceOf(DeadlineException.class);
        }
        fake.fail("rdma_accept", 22);
        try (ConnectionRequest request = requested(listener)) {
            assertThatThrownBy(() -> request.accept(pair(), DEFAULTS, LONG)).isInstanceOf(ConnectFailedException.class);
        }
        fake.fail("rdma_init_qp_attr", 22);
        try (ConnectionRequest request = requested(listener)) {
            assertThatThrownBy(() -> request.accept(pair(), DEFAULTS, LONG)).isInstanceOf(ConnectFailedException.class);
        }
        // A request that the peer withdrew before it was taken.
        String name = fake.request("id0", "", false);
        fake.report(name, UNREACHABLE, -110);
        fake.answer("rdma_accept", -1, 0, "");
        try (ConnectionRequest request = listener.awaitRequest(LONG)) {
            assertThatThrownBy(() -> request.accept(pair(), DEFAULTS, LONG)).isInstanceOf(ConnectFailedException.class);
        }
    }

    @Test
    void rejecting() throws InterruptedException {
        Listener<ConnectionRequest> listener = manager.listen(HERE);
        ConnectionRequest request = requested(listener);
        fake.log();
        request.reject(bytes("no"));
        request.close();
        assertThat(fake.log()).containsExactly("reject id1 no", "destroy_id id1");
        requested(listener).close();
        assertThat(fake.log()).as("closed unanswered").containsExactly("reject id2 ", "destroy_id id2");
    }

    @Test
    void aRequestWhosePeerHasGoneIsStillClosed() throws InterruptedException {
        Listener<ConnectionRequest> listener = manager.listen(HERE);
        for (int errno : new int[] {22, 104}) {
            fake.fail("rdma_reject", errno);
            requested(listener).close();
            fake.fail("rdma_reject", errno);
            try (ConnectionRequest request = requested(listener)) {
                request.reject(bytes("no"));
            }
        }
        listener.close();
        assertThat(fake.connectionLeftovers()).containsExactly(0, 1, 0);
    }

    @Test
    void requestsThatAreNotTakenAreRejected() throws InterruptedException {
        Listener<ConnectionRequest> listener = manager.listen(HERE, 2);
        fake.log();
        String elsewhere = fake.request("id0", "", true);
        awaitLog("destroy_id " + elsewhere);
        fake.request("id0", "first", false);
        fake.request("id0", "second", false);
        String third = fake.request("id0", "third", false);
        awaitLog("destroy_id " + third);
        try (ConnectionRequest request = listener.awaitRequest(LONG)) {
            assertThat(request.privateData()).isEqualTo(bytes("first"));
            fake.log();
            listener.close();
        }
        assertThat(fake.log())
                .containsExactly("destroy_id id0", "reject id3 ", "destroy_id id3", "reject id2 ", "destroy_id id2");
    }

    @Test
    void aRequestThatIsTakenWhileTheManagerClosesIsRejected() throws InterruptedException {
        ContextDriver device = fake.provider().devices().getFirst().open();
        ConnectionManagerDriver driver = device.openConnectionManager();
        ListenerDriver<ConnectionRequestDriver> listener = driver.listen(HERE, 1, IdentifierOptions.none());
        String name = fake.request("id0", "", false);
        // The backlog is full once the next one is rejected.
        awaitLog("destroy_id " + fake.request("id0", "", false));
        driver.closing();
        assertThatThrownBy(() -> listener.awaitRequest(LONG.toNanos())).isInstanceOf(IllegalStateException.class);
        assertThat(fake.log()).contains("reject " + name + " ", "destroy_id " + name);
        listener.close();
        driver.close();
        device.close();
    }
}
