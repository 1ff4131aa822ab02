package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.comm.ConnectedPair.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.mesh.Mesh;
import io.rdmacomm.mesh.NodeFailedException;
import io.rdmacomm.mesh.Rendezvous;
import io.rdmacomm.verbs.RdmaException;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/// Nodes in processes of their own that are killed.
final class MeshDeathTest {
    private static CompletableFuture<Mesh> join(int rank, int size, int port) {
        Rendezvous rendezvous = Rendezvous.of(rank, size, "localhost", port);
        return MeshNodes.inThread(() -> Mesh.join(rendezvous, SessionOptions.defaults(), TIMEOUT));
    }

    /// Every pending call ends, also one that waits for a node that is alive, and all name the node that died.
    @Test
    void allNodesNameTheOneThatDied() throws IOException {
        int port = MeshNodes.freePort();
        try (MeshProgram second = MeshProgram.start(2, 4, port);
                MeshProgram third = MeshProgram.start(3, 4, port)) {
            CompletableFuture<Mesh> joining = join(1, 4, port);
            try (Mesh zero = join(0, 4, port).join();
                    Mesh one = joining.join()) {
                assertThat(second.readLine()).isEqualTo("joined");
                assertThat(third.readLine()).isEqualTo("joined");
                CompletableFuture<Message> fromTheDead =
                        zero.node(2).channel().async().receive();
                CompletableFuture<Message> fromTheLiving =
                        one.node(0).channel().async().receive();

                second.kill();

                assertThatThrownBy(fromTheDead::join)
                        .hasCauseInstanceOf(ClosedException.class)
                        .hasMessageContaining("rank 2");
                assertThatThrownBy(fromTheLiving::join)
                        .hasCauseInstanceOf(ClosedException.class)
                        .hasMessageContaining("the mesh has lost rank 2");
                eventually(() -> zero.failure() != null && one.failure() != null);
                assertThat(zero.failure()).extracting(NodeFailedException::rank).isEqualTo(2);
                assertThat(one.failure()).extracting(NodeFailedException::rank).isEqualTo(2);
                assertThatThrownBy(zero::checkOpen)
                        .isInstanceOf(NodeFailedException.class)
                        .hasMessageContaining("the mesh has lost rank 2");
                assertThat(third.readLine()).contains("rank 2");
                assertThat(third.readLine()).isEqualTo("lost rank 2");
            }
        }
    }

    /// Only one node notices the failure, and leaves at once. The others learn the reason from it.
    @Test
    void aNodeThatEndsBecauseOfAnotherIsNotBlamed() {
        try (MeshNodes nodes = MeshNodes.join(4, SessionOptions.defaults())) {
            Mesh first = nodes.node(0);
            first.node(2).endPoint().abort(2, new RdmaException("the test ends this connection", null));
            first.close();

            for (Mesh other : nodes.all().subList(1, 4)) {
                eventually(() -> other.failure() != null);
                assertThat(other.failure())
                        .hasMessageContaining("the test ends this connection")
                        .extracting(NodeFailedException::rank)
                        .isEqualTo(2);
            }
        }
    }
}
