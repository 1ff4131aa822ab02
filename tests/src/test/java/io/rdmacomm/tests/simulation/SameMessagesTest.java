package io.rdmacomm.tests.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.ChannelStatistics;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.mesh.Algorithm;
import io.rdmacomm.comm.mesh.AlgorithmChoice;
import io.rdmacomm.comm.mesh.CollectiveKind;
import io.rdmacomm.comm.mesh.CollectiveOptions;
import io.rdmacomm.comm.mesh.ElementType;
import io.rdmacomm.comm.mesh.Elements;
import io.rdmacomm.comm.mesh.Mesh;
import io.rdmacomm.comm.mesh.MeshBuffer;
import io.rdmacomm.comm.mesh.Node;
import io.rdmacomm.comm.mesh.Reduction;
import io.rdmacomm.comm.mesh.SimulatedMesh;
import io.rdmacomm.tests.simulation.clock.Network;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Real ranks post as many requests with as many bytes as simulated ones.
final class SameMessagesTest {
    private static final int COUNT = 3000;
    private static final int HEADER = 64;
    private static final CollectiveOptions OPTIONS = new CollectiveOptions(4, 512, 128);
    private static final SessionOptions SESSION = SessionOptions.defaults()
            .withThreadMode(ThreadMode.CALLER)
            .withChannel(ChannelOptions.defaults()
                    .withMessageBytes(1024)
                    .withReceives(32)
                    .withSendWindow(32));

    @Test
    @Tag("slow")
    @Timeout(300)
    void realRanksPostWhatSimulatedRanksPost() throws Exception {
        for (int size : new int[] {3, 5}) {
            List<Mesh> real = RealMesh.join(size, freePort(), SESSION);
            try {
                compare(real);
            } finally {
                RealMesh.onAll(real, Mesh::close);
            }
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static void compare(List<Mesh> real) throws InterruptedException {
        int size = real.size();
        SimulatedMesh simulated = SimulatedMesh.withData(Network.adapters(), size, OPTIONS, true);
        MeshBuffer[] buffers = new MeshBuffer[size];
        RealMesh.onAll(real, mesh -> {
            mesh.collectives(OPTIONS);
            buffers[mesh.rank()] = mesh.allocate("numbers", (long) COUNT * Integer.BYTES, RealMesh.PATIENCE);
        });
        simulated.run(
                CollectiveKind.ALLOCATE,
                Algorithm.RECURSIVE_DOUBLING,
                rank -> Elements.of(new long[4]),
                rank -> Elements.of(new long[4 * size]),
                null,
                0);
        for (Algorithm algorithm : CollectiveKind.ALL_REDUCE.algorithms()) {
            compare(real, simulated, algorithm, buffers);
        }
    }

    private static void compare(List<Mesh> real, SimulatedMesh simulated, Algorithm algorithm, MeshBuffer[] buffers)
            throws InterruptedException {
        int size = real.size();
        long[] requests = new long[size];
        long[] bytes = new long[size];
        for (int rank = 0; rank < size; rank++) {
            requests[rank] = simulated.requests(rank) - requests(real.get(rank));
            bytes[rank] = simulated.bytes(rank) - bytes(real.get(rank));
        }
        RealMesh.onAll(
                real,
                mesh -> mesh.collectives()
                        .with(AlgorithmChoice.always(algorithm))
                        .allReduce(buffers[mesh.rank()].elements(ElementType.INT), Reduction.SUM, RealMesh.PATIENCE));
        simulated.run(
                CollectiveKind.ALL_REDUCE,
                algorithm,
                rank -> Elements.of(new int[COUNT]),
                rank -> Elements.of(new int[COUNT]),
                Reduction.SUM,
                0);
        for (int rank = 0; rank < size; rank++) {
            long more = requests(real.get(rank)) - simulated.requests(rank) + requests[rank];
            // A rank that has waited for 100 ms tells each peer once in a call where it is.
            assertThat(more).as("%s, rank %d of %d", algorithm, rank, size).isIn(0L, size - 1L);
            assertThat(bytes(real.get(rank)) - simulated.bytes(rank) + bytes[rank])
                    .as("bytes of %s, rank %d of %d", algorithm, rank, size)
                    .isEqualTo(more * HEADER);
        }
    }

    private static long requests(Mesh mesh) {
        return mesh.peers().stream()
                .map(SameMessagesTest::statistics)
                .mapToLong(ChannelStatistics::operations)
                .sum();
    }

    private static long bytes(Mesh mesh) {
        return mesh.peers().stream()
                .map(SameMessagesTest::statistics)
                .mapToLong(ChannelStatistics::bytesOut)
                .sum();
    }

    /// Of the channel of the mesh.
    private static ChannelStatistics statistics(Node node) {
        return node.endPoint().channels().getLast().statistics();
    }
}
