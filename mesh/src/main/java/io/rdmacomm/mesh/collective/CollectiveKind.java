package io.rdmacomm.mesh.collective;

import static io.rdmacomm.mesh.collective.Algorithm.DIRECT;
import static io.rdmacomm.mesh.collective.Algorithm.DISSEMINATION;
import static io.rdmacomm.mesh.collective.Algorithm.DOUBLE_TREE;
import static io.rdmacomm.mesh.collective.Algorithm.RECURSIVE_DOUBLING;
import static io.rdmacomm.mesh.collective.Algorithm.RING;
import static io.rdmacomm.mesh.collective.Algorithm.TREE;

import java.util.List;

/// The collective operations.
public enum CollectiveKind {
    /// No rank returns before all ranks have called it.
    BARRIER(1, "barrier"),
    /// All ranks get the data of one.
    BROADCAST(2, "broadcast"),
    /// One rank gets the reduction of the data of all.
    REDUCE(3, "reduce"),
    /// All ranks get the reduction of the data of all.
    ALL_REDUCE(4, "all-reduce"),
    /// All ranks get the data of all.
    ALL_GATHER(5, "all-gather"),
    /// Each rank gets its block of the reduction of the data of all.
    REDUCE_SCATTER(6, "reduce-scatter"),
    /// Each rank gets a block from each rank.
    ALL_TO_ALL(7, "all-to-all"),
    /// All ranks allocate a [MeshBuffer].
    ALLOCATE(8, "allocate");

    private final int code;
    private final String label;

    CollectiveKind(int code, String label) {
        this.code = code;
        this.label = label;
    }

    /// Its name in messages and reports.
    public String label() {
        return label;
    }

    /// The algorithms that can do it.
    public List<Algorithm> algorithms() {
        return switch (this) {
            case BARRIER -> List.of(DISSEMINATION);
            case BROADCAST, REDUCE -> List.of(TREE, DOUBLE_TREE, RING);
            case ALL_REDUCE -> List.of(RECURSIVE_DOUBLING, RING, TREE, DOUBLE_TREE);
            case ALL_GATHER -> List.of(RECURSIVE_DOUBLING, RING);
            case REDUCE_SCATTER -> List.of(DIRECT, RING);
            case ALL_TO_ALL -> List.of(DIRECT);
            case ALLOCATE -> List.of(RECURSIVE_DOUBLING);
        };
    }

    /// Its number on the wire.
    int code() {
        return code;
    }
}
