package io.rdmacomm.cli.mesh;

import io.rdmacomm.mesh.collective.CollectiveKind;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/// The collectives that are measured, in their default order.
///
/// The bytes of a test, and its bus bandwidth, are those of nccl-tests (PERFORMANCE.md there): the bus bandwidth is
/// the algorithm bandwidth times a factor, so that it is the rate of the slowest link for any number of ranks.
public enum CollectiveTest {
    /// No data.
    BARRIER(CollectiveKind.BARRIER),
    /// The bytes of the root.
    BROADCAST(CollectiveKind.BROADCAST),
    /// The bytes of each rank.
    REDUCE(CollectiveKind.REDUCE),
    /// The bytes of each rank.
    ALLREDUCE(CollectiveKind.ALL_REDUCE),
    /// The bytes of all blocks.
    ALLGATHER(CollectiveKind.ALL_GATHER),
    /// The bytes of all blocks.
    REDUCESCATTER(CollectiveKind.REDUCE_SCATTER),
    /// The bytes of all blocks of a rank.
    ALLTOALL(CollectiveKind.ALL_TO_ALL);

    private final CollectiveKind kind;

    CollectiveTest(CollectiveKind kind) {
        this.kind = kind;
    }

    /// The collective.
    public CollectiveKind kind() {
        return kind;
    }

    /// The name of the test on the command line and in JSON.
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// The test with this name.
    public static Optional<CollectiveTest> named(String label) {
        return Stream.of(values()).filter(test -> test.label().equals(label)).findFirst();
    }

    /// Whether one side of a rank has a block for each rank.
    boolean hasBlocks() {
        return this == ALLGATHER || this == REDUCESCATTER || this == ALLTOALL;
    }

    /// The ratio of bus bandwidth to algorithm bandwidth.
    double busFactor(int ranks) {
        return switch (this) {
            case BARRIER -> 0;
            case BROADCAST, REDUCE -> 1;
            case ALLREDUCE -> 2.0 * (ranks - 1) / ranks;
            case ALLGATHER, REDUCESCATTER, ALLTOALL -> (ranks - 1.0) / ranks;
        };
    }
}
