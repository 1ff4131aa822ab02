package io.rdmacomm.comm.mesh;

import java.util.stream.IntStream;

/// Who connects to whom: the node of higher rank to that of lower rank, so no two connect to each other. Each node
/// connects to one after the other and accepts at any time, so no cycle of waits can close.
///
/// @param rank of this node
/// @param size the number of nodes
record ConnectionOrder(int rank, int size) {
    /// The ranks to connect to, in turn.
    IntStream targets() {
        return IntStream.range(0, rank);
    }

    /// Whether a node that says that it is `other` may connect to this one.
    boolean accepts(int other) {
        return other > rank && other < size;
    }
}
