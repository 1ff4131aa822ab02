package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.comm.ConnectedPair.eventually;
import static io.rdmacomm.tests.fixture.PeerFailure.peer;
import static io.rdmacomm.tests.fixture.SetupFailure.because;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.Deadlines;
import io.rdmacomm.comm.EndPointState;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.PeerFailedException;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.SetupFailedException.Reason;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.mesh.Mesh;
import io.rdmacomm.mesh.Node;
import io.rdmacomm.mesh.Rendezvous;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Meshes whose nodes are all in this process.
final class MeshTest {
    @ParameterizedTest
    @EnumSource
    void eachNodeExchangesMessagesWithEachOther(ThreadMode mode) {
        SessionOptions options = SessionOptions.defaults().withThreadMode(mode).withChannels(2);
        try (MeshNodes nodes = MeshNodes.join(4, options)) {
            var talking = nodes.all().stream()
                    .map(mesh -> MeshNodes.inThread(() -> exchange(mesh)))
                    .toList();
            talking.forEach(CompletableFuture::join);
        }
    }

    private static boolean exchange(Mesh mesh) {
        RdmaBuffer outgoing = mesh.session().allocate("outgoing", 64, mesh.size());
        for (Node peer : mesh.peers()) {
            outgoing.block(peer.rank()).segment().setString(0, mesh.rank() + ">" + peer.rank());
            peer.channel(1).blocking(TIMEOUT).send(outgoing.block(peer.rank()), mesh.rank());
        }
        for (Node peer : mesh.peers()) {
            try (Message message = peer.channel(1).blocking(TIMEOUT).receive()) {
                assertThat(message.tag()).isEqualTo(peer.rank());
                assertThat(message.segment().getString(0)).isEqualTo(peer.rank() + ">" + mesh.rank());
            }
            peer.endPoint().barrier(TIMEOUT);
        }
        return true;
    }

    @Test
    void nodesKnowEachOther() {
        try (MeshNodes nodes = MeshNodes.join(3, SessionOptions.defaults().withName("trainer"))) {
            for (int rank = 0; rank < 3; rank++) {
                Mesh mesh = nodes.node(rank);
                assertThat(mesh.rank()).isEqualTo(rank);
                assertThat(mesh.size()).isEqualTo(3);
                assertThat(mesh.peers())
                        .extracting(Node::rank)
                        .doesNotContain(rank)
                        .hasSize(2)
                        .isSorted();
                for (Node peer : mesh.peers()) {
                    assertThat(mesh.node(peer.rank())).isSameAs(peer);
                    assertThat(peer.name()).isEqualTo("trainer, rank " + peer.rank());
                    assertThat(peer.host()).isEqualTo("127.0.0.1");
                    assertThat(peer.endPoint().channels()).hasSize(2);
                    assertThatThrownBy(() -> peer.channel(1)).isInstanceOf(IndexOutOfBoundsException.class);
                }
                int own = rank;
                assertThatThrownBy(() -> mesh.node(own)).isInstanceOf(IllegalArgumentException.class);
                assertThatThrownBy(() -> mesh.node(3)).isInstanceOf(IndexOutOfBoundsException.class);
            }
        }
    }

    /// Nodes are slow when dozens of them start on one processor.
    @Test
    void nodesMayBeSlowInEachStep() {
        Deadlines impatient = Deadlines.defaults().withHandshake(Duration.ofMillis(1));
        try (MeshNodes nodes = MeshNodes.join(4, SessionOptions.defaults().withDeadlines(impatient))) {
            assertThat(nodes.node(0).peers()).hasSize(3);
        }
    }

    @Test
    void aNodeThatLeavesIsNoFailure() {
        try (MeshNodes nodes = MeshNodes.join(3, SessionOptions.defaults())) {
            nodes.node(1).close();

            Mesh first = nodes.node(0);
            assertThat(first.node(1).endPoint().awaitPeerDone(TIMEOUT)).isTrue();
            assertThat(first.node(1).endPoint().state()).isEqualTo(EndPointState.PEER_DONE);
            assertThat(first.failure()).isNull();
            first.checkOpen();
            CompletableFuture<Boolean> other = MeshNodes.inThread(() -> exchangeOne(nodes.node(2), 0));
            exchangeOne(first, 2);
            other.join();
            assertThatThrownBy(nodes.node(1)::checkOpen).isInstanceOf(ClosedException.class);
        }
    }

    private static boolean exchangeOne(Mesh mesh, int with) {
        mesh.node(with).endPoint().barrier(TIMEOUT);
        return true;
    }

    /// It may talk to the session, but it takes no rank and ends nothing.
    @Test
    void aStrangerIsDropped() {
        try (MeshNodes nodes = MeshNodes.join(2, SessionOptions.defaults());
                ClientSession stranger = ClientSession.connect(SessionOptions.defaults()
                        .withAddress("127.0.0.1", nodes.node(0).session().port())
                        .withChannels(2))) {
            RdmaBuffer outgoing = stranger.allocate("outgoing", 64);
            stranger.endPoint().channel(1).blocking(TIMEOUT).send(outgoing.slice(0, 32));

            eventually(() -> stranger.endPoint().state() == EndPointState.FAILED);
            assertThat(stranger.endPoint().failure())
                    .satisfies(peer(PeerFailedException.Reason.ABORTED))
                    .hasMessageContaining("this is a node of a mesh, and the peer is not");
            assertThat(nodes.node(0).peers()).hasSize(1);
            assertThat(nodes.node(0).failure()).isNull();
            CompletableFuture<Boolean> other = MeshNodes.inThread(() -> exchangeOne(nodes.node(1), 0));
            exchangeOne(nodes.node(0), 1);
            other.join();
        }
    }

    @Test
    void aMeshOfOneNeedsNobody() {
        try (Mesh mesh = Mesh.join(Rendezvous.of(0, 1, "localhost", 1), SessionOptions.defaults())) {
            assertThat(mesh.peers()).isEmpty();
            mesh.checkOpen();
        }
    }

    @Test
    void nodesThatDoNotComeAreNamed() {
        Duration brief = Duration.ofMillis(500);
        int port = MeshNodes.freePort();
        assertThatThrownBy(() -> Mesh.join(Rendezvous.of(0, 4, "localhost", port), SessionOptions.defaults(), brief))
                .isInstanceOf(DeadlineException.class)
                .hasMessageContaining("missing: ranks 1, 2, 3");
        Duration longer = Duration.ofSeconds(2);
        assertThatThrownBy(() -> Mesh.join(Rendezvous.of(1, 4, "localhost", port), SessionOptions.defaults(), longer))
                .satisfies(because(Reason.REFUSED))
                .hasMessageContaining("no program listens on localhost:" + port);
    }

    @Test
    void anInterruptEndsJoining() throws InterruptedException {
        int port = MeshNodes.freePort();
        CompletableFuture<Throwable> end = new CompletableFuture<>();
        Thread joining = Thread.ofPlatform().start(() -> {
            try (Mesh mesh = Mesh.join(Rendezvous.of(0, 2, "localhost", port), SessionOptions.defaults(), TIMEOUT)) {
                end.complete(new AssertionError(mesh + " is complete"));
            } catch (RdmaException e) {
                end.complete(e);
            }
        });
        // It listens, so it is in the middle of joining.
        eventually(() -> isListening(port));

        joining.interrupt();

        joining.join();
        assertThat(end.join()).isInstanceOf(RdmaException.class);
    }

    private static boolean isListening(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }
}
