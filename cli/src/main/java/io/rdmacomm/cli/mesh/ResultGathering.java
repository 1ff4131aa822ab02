package io.rdmacomm.cli.mesh;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.mesh.Mesh;
import io.rdmacomm.mesh.Node;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Brings the results of all nodes to rank 0. Each node writes the length and then the result into its own block of
/// memory there.
final class ResultGathering {
    private static final ValueLayout.OfInt LENGTH = ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);
    private static final String RESULTS = "results";

    private ResultGathering() {}

    /// On rank 0, the results of all nodes by rank; on the others, only their own.
    static List<NodeResult> gather(Mesh mesh, NodeResult own, Duration timeout) {
        if (mesh.size() == 1) {
            return List.of(own);
        }
        return mesh.rank() == 0 ? receive(mesh, own, timeout) : send(mesh, own, timeout);
    }

    private static List<NodeResult> send(Mesh mesh, NodeResult own, Duration timeout) {
        ByteBuffer result = own.encode();
        Node root = mesh.node(0);
        try (RdmaBuffer outgoing = mesh.session().allocate("result", Integer.BYTES + result.remaining())) {
            outgoing.segment().set(LENGTH, 0, result.remaining());
            MemorySegment.copy(
                    MemorySegment.ofBuffer(result), 0, outgoing.segment(), Integer.BYTES, result.remaining());
            var remote = root.endPoint().peerBuffer(RESULTS, timeout);
            long block = blockBytes(mesh);
            root.channel().blocking(timeout).write(outgoing.whole(), remote, block * mesh.rank());
            root.endPoint().barrier(timeout);
        }
        return List.of(own);
    }

    private static List<NodeResult> receive(Mesh mesh, NodeResult own, Duration timeout) {
        List<NodeResult> results = new ArrayList<>(List.of(own));
        int block = blockBytes(mesh);
        RdmaBuffer memory = mesh.session().allocate(RESULTS, block, mesh.size(), MeshTraffic.FOR_ALL);
        mesh.peers().forEach(peer -> peer.endPoint().announce(memory));
        for (Node peer : mesh.peers()) {
            peer.endPoint().barrier(timeout);
            long at = (long) peer.rank() * block;
            int length = memory.segment().get(LENGTH, at);
            if (length < 0 || length > block - Integer.BYTES) {
                throw new CommandFailure("rank " + peer.rank() + " has sent a result of " + length + " bytes");
            }
            results.add(decode(
                    peer.rank(),
                    memory.segment().asSlice(at + Integer.BYTES, length).asByteBuffer(),
                    mesh.size()));
        }
        return results;
    }

    private static NodeResult decode(int rank, ByteBuffer from, int size) {
        try {
            return NodeResult.decode(from, size);
        } catch (IllegalArgumentException e) {
            throw new CommandFailure("the result of rank " + rank + ": " + e.getMessage(), e);
        }
    }

    private static int blockBytes(Mesh mesh) {
        return (NodeResult.maxBytes(mesh.size() - 1) + Integer.BYTES + 7) & ~7;
    }
}
