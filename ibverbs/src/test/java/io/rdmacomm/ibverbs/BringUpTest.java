package io.rdmacomm.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.UnsupportedVerbException;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.Listener;
import io.rdmacomm.verbs.cm.Route;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/// The C calls that establish a connection, on RoCE and on iWARP.
class BringUpTest extends ConnectionCase {
    @Test
    void activeSideOnRoce() throws InterruptedException {
        QueuePair pair = pair();
        Connection connection;
        try (Route route = manager.resolve(PEER, LONG)) {
            assertThat(route.localAddress()).isEqualTo(new InetSocketAddress(address(10, 0, 0, 7), 50000));
            assertThat(route.remoteAddress()).isEqualTo(PEER);
            ConnectionParameters parameters =
                    DEFAULTS.withPrivateData(bytes("hello")).withDepths(200, 2).withRetries(4, 3);
            connection = route.connect(pair, parameters, LONG);
        }
        List<String> log = fake.log();
        assertThat(log.get(0)).isEqualTo("create_id id0 context=0 space=106");
        assertThat(log.get(1)).isEqualTo("resolve_addr id0 source=0 10.0.0.9:7174 60000 ms");
        assertThat(log.get(2)).isEqualTo("resolve_route id0 60000 ms");
        assertThat(log.get(3)).startsWith("modify_qp qp3 mask=39 state=1").contains("access=15 pkey=257", "port=1");
        // 200 is more than the 16 of the device.
        assertThat(log.get(4))
                .isEqualTo("connect id0 data=hello resources=16 depth=2 flow=0 retry=4 rnr=3 srq=0 qp="
                        + Integer.toHexString(pair.number()));
        // The answer said 5 and 3; the unknown bit is ignored, and the timer is ours.
        assertThat(log.get(5))
                .startsWith("modify_qp qp3 mask=129181 state=2")
                .contains("mtu=4", "rq_psn=234567", "dest=123456", "dest_rd=5", "rnr_timer=12");
        assertThat(log.get(6))
                .isEqualTo(
                        "av gid=fe..7f flow=abcde sgid=2 hop=200 class=201 lid=fedc sl=5 bits=3 rate=7 global=1 port=1");
        assertThat(log.get(7))
                .startsWith("modify_qp qp3 mask=12e01 state=3")
                .contains("sq_psn=345678", "rd=2 ", "timeout=19 retry=6 rnr=5");
        assertThat(log.subList(8, log.size())).containsExactly("establish id0");

        assertThat(connection.isConnected()).isTrue();
        assertThat(connection.privateData()).isEqualTo(bytes("welcome"));
        assertThat(connection.responderResources()).isEqualTo(5);
        assertThat(connection.initiatorDepth()).isEqualTo(2);
        assertThat(connection.remoteAddress()).isEqualTo(PEER);
        QueuePairAttributes attributes = pair.query();
        assertThat(attributes.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(attributes.pathMtu()).isEqualTo(PathMtu.MTU_2048);
        assertThat(attributes.addressVector())
                .isEqualTo(new AddressVector(
                        new Gid(0xfe00_0000_0000_0000L, 0x7f), 0xfedc, 2, 1, 5, 201, 200, 0xabcde, 3, 7));
        fake.log();

        connection.disconnect();
        assertThat(pair.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(connection.disconnectReason()).isEqualTo("this side disconnected");
        connection.close();
        log = fake.log();
        assertThat(log.getFirst()).startsWith("modify_qp qp3 mask=1 state=6");
        assertThat(log.subList(1, log.size())).containsExactly("disconnect id0", "destroy_id id0");
    }

    @Test
    void passiveSideOnRoce() throws InterruptedException {
        Listener<ConnectionRequest> listener = manager.listen(HERE, 3);
        assertThat(listener.localAddress()).isEqualTo(HERE);
        assertThat(fake.log())
                .containsExactly("create_id id0 context=0 space=106", "bind_addr id0 10.0.0.7:7174", "listen id0 3");
        assertThat(listener.awaitRequest(Duration.ZERO)).isNull();
        fake.request("id0", "hello", false);
        QueuePair pair = pair();
        Connection connection;
        try (ConnectionRequest request = listener.awaitRequest(LONG)) {
            assertThat(request.privateData()).isEqualTo(bytes("hello"));
            assertThat(request.remoteAddress()).isEqualTo(new InetSocketAddress(address(10, 0, 0, 9), 60000));
            assertThat(request.localAddress()).isEqualTo(HERE);
            assertThat(request.responderResources()).isEqualTo(5);
            assertThat(request.initiatorDepth()).isEqualTo(3);
            request.prepare(pair);
            connection = request.accept(pair, DEFAULTS.withPrivateData(bytes("welcome")), LONG);
        }
        List<String> log = fake.log();
        assertThat(log).hasSize(5);
        assertThat(log.get(1)).contains("state=2", "dest_rd=5");
        assertThat(log.get(3)).contains("state=3", "rd=3 ");
        assertThat(log.get(4)).startsWith("accept id1 data=welcome resources=5 depth=3 ");
        assertThat(connection.privateData()).isEqualTo(bytes("hello"));
        assertThat(pair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        connection.close();
        assertThat(fake.log()).last().isEqualTo("destroy_id id1");
    }

    @Test
    void iwarpIsBroughtUpByTheKernel() throws InterruptedException {
        useIwarp();
        assertThat(manager.privateDataLimit()).isEqualTo(251);
        QueuePair active = pair();
        Connection connection = manager.connect(PEER, active, DEFAULTS, LONG);
        List<String> log = fake.log();
        assertThat(log)
                .filteredOn(line -> line.startsWith("modify_qp"))
                .singleElement()
                .asString()
                .contains("mask=39 state=1");
        assertThat(log).noneMatch(line -> line.startsWith("establish"));
        assertThat(active.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        // Drivers disagree about which is which.
        assertThat(connection.responderResources()).isEqualTo(3);
        assertThat(connection.initiatorDepth()).isEqualTo(3);
        connection.close();
        log = fake.log();
        assertThat(log.get(0)).isEqualTo("disconnect id" + log.get(0).replaceAll("\\D", ""));
        assertThat(log.get(1)).startsWith("modify_qp").contains("state=6");

        Listener<ConnectionRequest> listener = manager.listen(HERE);
        String name = fake.log().getFirst().replaceAll("create_id (id\\d+) .*", "$1");
        fake.request(name, "", false);
        QueuePair passive = pair();
        try (ConnectionRequest request = listener.awaitRequest(LONG)) {
            request.accept(passive, DEFAULTS, LONG);
        }
        assertThat(passive.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(fake.log()).hasSize(2).last().asString().startsWith("accept");
    }

    @Test
    void aQueuePairOnIwarpIsFailedWithItsFirstRequest() throws InterruptedException {
        useIwarp();
        QueuePair pair = pair();
        try (Arena arena = Arena.ofConfined();
                Connection connection = manager.connect(PEER, pair, DEFAULTS, LONG)) {
            assertThat(connection.isOpen()).isTrue();
            fake.log();
            fake.status(WorkStatus.LOCAL_QUEUE_PAIR_ERROR.code());
            assertThat(pair.post(SendBatch.create(arena, 1, 1).send(1).signaled()))
                    .isEqualTo(1);
            assertThat(queue.poll(Completions.create(arena, 1))).isEqualTo(1);

            assertThat(pair.state()).isEqualTo(QueuePairState.ERROR);
            assertThat(fake.log())
                    .as("only then does siw flush the other requests")
                    .filteredOn(line -> line.startsWith("modify_qp"))
                    .singleElement()
                    .asString()
                    .contains("state=6");
        }
    }

    @Test
    void addressesOfBothFamilies() {
        InetAddress ipv6 = address(0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);
        Listener<ConnectionRequest> listener = manager.listen(new InetSocketAddress(ipv6, 0), 1);
        assertThat(fake.log()).contains("bind_addr id0 [fe80::1%0]:0");
        assertThat(listener.localAddress().getPort()).isEqualTo(40000);
        assertThat(listener.localAddress().getAddress()).isEqualTo(ipv6);
    }

    @Test
    void aThousandIdentifiersComeAndGo() throws InterruptedException {
        fake.logOff();
        for (int i = 0; i < 1000; i++) {
            manager.resolve(PEER, LONG).close();
        }
        assertThat(fake.connectionLeftovers()).containsExactly(0, 1, 0);
    }

    @Test
    void withoutTheLibraryThereAreNoConnections() {
        try (Context other = FakeVerbs.device(fake.withoutConnections(), 0).open()) {
            assertThat(other.supports(Capability.CONNECTION_MANAGER)).isFalse();
            assertThatThrownBy(() -> ConnectionManager.open(other))
                    .isInstanceOf(UnsupportedVerbException.class)
                    .hasMessageContainingAll("fake0", "libnobody-has-this.so.7 is not installed", "librdmacm1");
        }
        assertThat(context.supports(Capability.CONNECTION_MANAGER)).isTrue();
    }

    @Test
    void withoutTheKernelModuleThereIsNoChannel() {
        fake.fail("rdma_create_event_channel", 2);
        assertThatThrownBy(() -> ConnectionManager.open(context)).hasMessageContainingAll("ENOENT", "rdma_ucm");
    }
}
