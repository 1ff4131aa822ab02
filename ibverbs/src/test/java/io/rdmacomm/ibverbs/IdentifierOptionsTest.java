package io.rdmacomm.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.AckTimeout;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.UnsupportedVerbException;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.cm.Listener;
import io.rdmacomm.verbs.cm.Route;
import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.Test;

/// The options of identifiers, and when they are set.
class IdentifierOptionsTest extends ConnectionCase {
    private static final int CHELSIO = 0x1425;
    private static final IdentifierOptions SERVICE = IdentifierOptions.none().withTypeOfService(200);

    @Test
    void theTypeOfServiceIsSetBeforeTheRoute() throws InterruptedException {
        try (Route route = manager.resolve(PEER, SERVICE.withReuseAddress(true).withAddressFamilyOnly(true), LONG)) {
            assertThat(route.remoteAddress()).isEqualTo(PEER);
        }
        List<String> log = fake.log();
        assertThat(log.subList(1, 4))
                .containsExactly("set_option id0 0.0=200", "set_option id0 0.1=1", "set_option id0 0.2=1");
        assertThat(log.get(4)).startsWith("resolve_addr id0");
    }

    @Test
    void theAcknowledgementTimeoutIsSetBeforeTheQueuePairIsBroughtUp() throws InterruptedException {
        QueuePair active = pair();
        Connection connection = manager.connect(PEER, active, DEFAULTS.withAckTimeout(new AckTimeout(20)), LONG);
        assertThat(connection.isConnected()).isTrue();
        List<String> log = fake.log();
        assertThat(log).contains("set_option id0 0.3=20");
        assertThat(log.indexOf("set_option id0 0.3=20")).isLessThan(positionOf("connect id0", log));

        Listener<ConnectionRequest> listener = manager.listen(HERE, 1);
        fake.request("id1", "", false);
        QueuePair passive = pair();
        try (ConnectionRequest request = listener.awaitRequest(LONG)) {
            request.prepare(passive);
            fake.log();
            assertThat(request.accept(passive, DEFAULTS.withAckTimeout(AckTimeout.INFINITE), LONG)
                            .isConnected())
                    .isTrue();
        }
        assertThat(fake.log().getFirst()).isEqualTo("set_option id2 0.3=0");
    }

    private static int positionOf(String start, List<String> log) {
        for (int i = 0; i < log.size(); i++) {
            if (log.get(i).startsWith(start)) {
                return i;
            }
        }
        throw new AssertionError(start + " is not in " + log);
    }

    @Test
    void aListenerHasThemBeforeItsAddress() {
        manager.listen(HERE, 1, SERVICE.withReuseAddress(true));
        assertThat(fake.log())
                .containsExactly(
                        "create_id id0 context=0 space=106",
                        "set_option id0 0.0=200",
                        "set_option id0 0.1=1",
                        "bind_addr id0 10.0.0.7:7174",
                        "listen id0 1");
    }

    @Test
    void listenersWithOtherOptionsDoNotShareAPort() {
        InetSocketAddress everywhere = new InetSocketAddress(address(0, 0, 0, 0), 7174);
        manager.listen(everywhere, 1);
        assertThat(fake.log()).contains("listen id0 1");
        manager.listen(everywhere, 1, IdentifierOptions.none().withAddressFamilyOnly(true));
        assertThat(fake.log()).as("the kernel decides").contains("listen id1 1");
        assertThatThrownBy(() -> manager.listen(everywhere, 1)).hasMessageContaining("already listens");
    }

    @Test
    void theIdentifierWithAnotherPortHasThemToo() throws InterruptedException {
        useIwarp(CHELSIO);
        QueuePair pair = pair();
        fake.fail("rdma_connect", 98, 1);
        try (Route route = manager.resolve(PEER, SERVICE, LONG)) {
            assertThat(route.connect(pair, DEFAULTS, LONG).isConnected()).isTrue();
        }
        assertThat(fake.log().stream().filter(line -> line.startsWith("set_option")))
                .containsExactly("set_option id0 0.0=200", "set_option id1 0.0=200");
    }

    @Test
    void iwarpHasNoAcknowledgementTimeout() {
        assertThat(context.supports(Capability.CONNECTION_ACK_TIMEOUT)).isTrue();
        assertThat(context.supports(Capability.CONNECTION_TYPE_OF_SERVICE)).isTrue();
        useIwarp();
        assertThat(context.supports(Capability.CONNECTION_ACK_TIMEOUT)).isFalse();
        assertThat(context.supports(Capability.CONNECTION_TYPE_OF_SERVICE))
                .as("siw ignores it")
                .isFalse();
    }

    @Test
    void aRejectedOptionIsNamedAndLeavesNothing() {
        fake.fail("rdma_set_option", 38);
        assertThatThrownBy(() -> manager.resolve(PEER, SERVICE, LONG))
                .as("an old kernel")
                .isInstanceOf(UnsupportedVerbException.class)
                .hasMessageContainingAll("set type of service (rdma_set_option)", "fake0");
        fake.fail("rdma_set_option", 22);
        assertThatThrownBy(
                        () -> manager.listen(HERE, 1, IdentifierOptions.none().withReuseAddress(true)))
                .hasMessageContainingAll("reuse address", "EINVAL");
        assertThat(fake.connectionLeftovers()).containsExactly(0, 1, 0);
    }
}
