package io.rdmacomm.cli.mesh;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;

/// The measurements of one node. They travel to rank 0 in network order: rank, iterations, nanoseconds, number of
/// peers, a [PeerResult] for each peer, and the compressed histogram.
///
/// @param rank the node
/// @param iterations how many iterations counted
/// @param nanos the time during which it wrote, summed over the iterations
/// @param peers its writes to each other node
/// @param latencies the latencies of all its writes
record NodeResult(int rank, long iterations, long nanos, List<PeerResult> peers, Histogram latencies) {
    private static final int HEADER = 24;

    NodeResult {
        peers = List.copyOf(peers);
    }

    /// The most bytes that the result of a node with this many peers may have.
    static int maxBytes(int peers) {
        return HEADER + peers * PeerResult.BYTES + Latencies.newHistogram().getNeededByteBufferCapacity();
    }

    long bytes() {
        return peers.stream().mapToLong(PeerResult::bytes).sum();
    }

    ByteBuffer encode() {
        ByteBuffer to = ByteBuffer.allocate(maxBytes(peers.size()));
        to.putInt(rank).putLong(iterations).putLong(nanos).putInt(peers.size());
        peers.forEach(peer -> peer.put(to));
        latencies.encodeIntoCompressedByteBuffer(to);
        return to.flip();
    }

    /// @throws IllegalArgumentException if the bytes are not a result
    static NodeResult decode(ByteBuffer from, int size) {
        try {
            int rank = from.getInt();
            long iterations = from.getLong();
            long nanos = from.getLong();
            int count = from.getInt();
            if (rank < 0 || rank >= size || count != size - 1) {
                throw new IllegalArgumentException("it is of rank " + rank + " with " + count + " peers");
            }
            List<PeerResult> peers = new ArrayList<>(count);
            for (int i = 0; i < count; i++) {
                peers.add(PeerResult.get(from));
            }
            Histogram latencies = Histogram.decodeFromCompressedByteBuffer(from, 1);
            return new NodeResult(rank, iterations, nanos, peers, latencies);
        } catch (BufferUnderflowException | IndexOutOfBoundsException | DataFormatException e) {
            throw new IllegalArgumentException("it is cut off or damaged", e);
        }
    }
}
