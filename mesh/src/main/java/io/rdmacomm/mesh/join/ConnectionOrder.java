package io.rdmacomm.mesh.join;

import java.util.stream.IntStream;

/// The node of higher rank connects to that of lower rank, so no two connect to each other. Each node
/// connects to one after the other and accepts at any time, so no cycle of waits can close.
///
/// @param rank the rank of this node
/// @param size the number of nodes
record ConnectionOrder(int rank, int size) {
    /// The ranks to connect to, in order: the next lower one first, so that each node has about one client at a
    /// time. If all began with rank 0, it would have all of them at once, and then rank 1 (decision 45).
    IntStream targets() {
        return IntStream.iterate(rank - 1, target -> target >= 0, target -> target - 1);
    }

    /// Whether rank `other` may connect to this node.
    boolean accepts(int other) {
        return other > rank && other < size;
    }
}
