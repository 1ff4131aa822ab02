package io.rdmacomm.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.UnsupportedVerbException;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionRejectedException;
import io.rdmacomm.verbs.cm.DatagramRequest;
import io.rdmacomm.verbs.cm.DatagramService;
import io.rdmacomm.verbs.cm.DatagramTarget;
import io.rdmacomm.verbs.cm.Listener;
import io.rdmacomm.verbs.cm.MulticastMembership;
import io.rdmacomm.verbs.cm.PeerUnreachableException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Datagram queue pairs that are found by address, and multicast groups that are joined.
class DatagramServicesTest extends ConnectionCase {
    private static final int MULTICAST_ERROR = 13;
    private static final InetAddress GROUP = address(224, 0, 0, 77);
    private static final AddressVector PATH =
            new AddressVector(new Gid(0xfe00_0000_0000_0000L, 9), 0xc001, 2, 1, 5, 0, 64, 0);

    private QueuePair datagrams() {
        QueuePair pair =
                domain.createQueuePair(QueuePairOptions.reliable(queue).withType(QueuePairType.UNRELIABLE_DATAGRAM));
        fake.log();
        return pair;
    }

    private DatagramRequest requested(Listener<DatagramRequest> listener) throws InterruptedException {
        fake.request("id0", "hello", false);
        DatagramRequest request = listener.awaitRequest(LONG);
        fake.log();
        return request;
    }

    @Test
    void theQueuePairOfAServiceIsFoundByItsAddress() throws InterruptedException {
        DatagramService service = manager.lookUp(PEER, bytes("hello"), LONG);

        assertThat(service.target()).isEqualTo(new DatagramTarget(PATH, 0x123456, DatagramTarget.QUEUE_KEY));
        assertThat(service.privateData()).isEqualTo(bytes("welcome"));
        assertThat(fake.log())
                .contains("create_id id0 context=0 space=111")
                .contains("connect id0 data=hello resources=0 depth=0 flow=0 retry=0 rnr=0 srq=0 qp=0")
                .endsWith("destroy_id id0");
    }

    @Test
    void aServiceThatDoesNotExistOrDeclinesIsReported() {
        fake.answer("rdma_connect", UNREACHABLE, 1, "");
        assertThatThrownBy(() -> manager.lookUp(PEER, new byte[0], LONG))
                .isInstanceOf(ConnectionRejectedException.class)
                .hasMessageContaining("no program listens for datagram requests there");
        fake.answer("rdma_connect", UNREACHABLE, 2, "full");
        assertThatThrownBy(() -> manager.lookUp(PEER, new byte[0], LONG))
                .isInstanceOfSatisfying(
                        ConnectionRejectedException.class,
                        e -> assertThat(e.privateData()).isEqualTo(bytes("full")))
                .hasMessageContaining("its program declined it");
        fake.answer("rdma_connect", UNREACHABLE, 4, "");
        assertThatThrownBy(() -> manager.lookUp(PEER, new byte[0], LONG))
                .isInstanceOf(ConnectionRejectedException.class)
                .hasMessageContaining("status 4");
        fake.answer("rdma_connect", UNREACHABLE, -110, "");
        assertThatThrownBy(() -> manager.lookUp(PEER, new byte[0], LONG)).isInstanceOf(PeerUnreachableException.class);
        fake.answer("rdma_connect", -1, 0, "");
        assertThatThrownBy(() -> manager.lookUp(PEER, new byte[0], SHORT)).isInstanceOf(DeadlineException.class);
        assertThat(fake.connectionLeftovers()).containsExactly(0, 1, 0);
    }

    @Test
    void aRequestIsAnsweredWithAQueuePair() throws InterruptedException {
        Listener<DatagramRequest> listener = manager.listenForDatagrams(HERE, 3);
        assertThat(listener.localAddress()).isEqualTo(HERE);
        assertThat(fake.log())
                .containsExactly("create_id id0 context=0 space=111", "bind_addr id0 10.0.0.7:7174", "listen id0 3");
        QueuePair pair = datagrams();
        try (DatagramRequest request = requested(listener)) {
            assertThat(request.privateData()).isEqualTo(bytes("hello"));
            assertThat(request.remoteAddress()).isEqualTo(new InetSocketAddress(address(10, 0, 0, 9), 60000));
            request.accept(pair, bytes("welcome"));
            assertThat(fake.log())
                    .containsExactly("accept id1 data=welcome resources=0 depth=0 flow=0 retry=0 rnr=0 srq=0 qp="
                            + Integer.toHexString(pair.number()));
            assertThatIllegalStateException().isThrownBy(() -> request.reject(new byte[0]));
        }
        assertThat(fake.log()).containsExactly("destroy_id id1");
        assertThat(listener.awaitRequest(Duration.ZERO)).isNull();
    }

    @Test
    void aRequestIsRejectedByItsProgramAndWhenItIsClosed() throws InterruptedException {
        Listener<DatagramRequest> listener = manager.listenForDatagrams(HERE);
        try (DatagramRequest request = requested(listener)) {
            request.reject(bytes("no"));
        }
        assertThat(fake.log()).containsExactly("reject id1 no", "destroy_id id1");
        requested(listener).close();
        assertThat(fake.log()).containsExactly("reject id2 ", "destroy_id id2");
        fake.request("id0", "late", false);
        listener.close();
        await(() -> fake.connectionLeftovers().equals(List.of(0, 1, 0)));
    }

    @Test
    void onlyADatagramQueuePairOfThisContextCanAnswer() throws InterruptedException {
        Listener<DatagramRequest> listener = manager.listenForDatagrams(HERE);
        QueuePair connected = pair();
        QueuePair good = datagrams();
        try (DatagramRequest request = requested(listener)) {
            assertThatThrownBy(() -> request.accept(connected, new byte[0]))
                    .isInstanceOfSatisfying(
                            VerbException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL))
                    .hasMessageContaining("only UNRELIABLE_DATAGRAM receives datagrams");
            assertThatThrownBy(() -> request.accept(good, new byte[137]))
                    .isInstanceOf(VerbException.class)
                    .hasMessageContaining("allows 136");
            request.accept(good, new byte[136]);
        }
        assertThatThrownBy(() -> manager.lookUp(PEER, new byte[181], LONG))
                .isInstanceOf(VerbException.class)
                .hasMessageContaining("allows 180");
    }

    @Test
    void portsOfDatagramsAreNotThoseOfConnections() {
        InetSocketAddress everywhere = new InetSocketAddress(address(0, 0, 0, 0), 7174);
        manager.listen(everywhere);
        manager.listenForDatagrams(everywhere);
        assertThat(fake.log())
                .filteredOn(line -> line.startsWith("listen"))
                .containsExactly("listen id0 128", "listen id1 128");
        assertThatThrownBy(() -> manager.listenForDatagrams(everywhere))
                .isInstanceOfSatisfying(
                        VerbException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE));
    }

    @Test
    void aGroupIsJoinedUntilTheMembershipIsClosed() throws InterruptedException {
        MulticastMembership membership = manager.joinMulticast(HERE.getAddress(), GROUP, LONG);

        assertThat(fake.log())
                .containsExactly(
                        "create_id id0 context=0 space=111",
                        "bind_addr id0 10.0.0.7:0",
                        "join_multicast id0 224.0.0.77:0 context=0");
        assertThat(membership.target())
                .isEqualTo(new DatagramTarget(PATH, SendBatch.MULTICAST, DatagramTarget.QUEUE_KEY));
        assertThat(membership.group()).isEqualTo(PATH.destinationGid());
        assertThat(membership.lid()).isEqualTo(0xc001);
        membership.close();
        assertThat(fake.log()).containsExactly("destroy_id id0");
    }

    @Test
    void joiningFailsWithAReason() {
        InetAddress here = HERE.getAddress();
        assertThatThrownBy(() -> manager.joinMulticast(here, here, LONG))
                .isInstanceOf(VerbException.class)
                .hasMessageContaining("10.0.0.7 is not a multicast address");
        fake.answer("rdma_join_multicast", MULTICAST_ERROR, -22, "");
        assertThatThrownBy(() -> manager.joinMulticast(here, GROUP, LONG))
                .isInstanceOfSatisfying(
                        VerbException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
        fake.fail("rdma_join_multicast", Errno.EBUSY.number());
        assertThatThrownBy(() -> manager.joinMulticast(here, GROUP, LONG))
                .isInstanceOfSatisfying(
                        VerbException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY));
        fake.answer("rdma_join_multicast", -1, 0, "");
        assertThatThrownBy(() -> manager.joinMulticast(here, GROUP, SHORT))
                .isInstanceOf(DeadlineException.class)
                .hasMessageContaining("check the subnet manager");
        assertThat(fake.connectionLeftovers()).containsExactly(0, 1, 0);
    }

    @Test
    void iwarpHasNeither() {
        useIwarp();
        ConnectionManager iwarp = manager;
        assertThat(context.supports(Capability.DATAGRAM_SERVICES)).isFalse();
        assertThatThrownBy(() -> iwarp.lookUp(PEER, new byte[0], LONG)).isInstanceOf(UnsupportedVerbException.class);
        assertThatThrownBy(() -> iwarp.listenForDatagrams(HERE)).isInstanceOf(UnsupportedVerbException.class);
        assertThatThrownBy(() -> iwarp.joinMulticast(HERE.getAddress(), GROUP, LONG))
                .isInstanceOf(UnsupportedVerbException.class);
    }
}
