package io.rdmacomm.cli.mesh;

import io.rdmacomm.mesh.Mesh;
import io.rdmacomm.mesh.collective.Collectives;
import io.rdmacomm.mesh.collective.ElementType;
import io.rdmacomm.mesh.collective.Elements;
import io.rdmacomm.mesh.collective.Reduction;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;

/// One collective of `double`s with one length, as one rank calls it.
final class CollectiveTrial {
    private static final ValueLayout.OfDouble NUMBER = ValueLayout.JAVA_DOUBLE_UNALIGNED;
    private static final int VALUES = 97;

    private final CollectiveTest test;
    private final Mesh mesh;
    private final Collectives collectives;
    private final Duration timeout;
    private final Elements from;
    private final Elements into;

    /// @param bytes the least size; rounded up to whole numbers, the same count for each rank
    /// @param memory gives each side its memory
    CollectiveTrial(
            CollectiveTest test, long bytes, Mesh mesh, Collectives collectives, TrialMemory memory, Duration timeout) {
        this.test = test;
        this.mesh = mesh;
        this.collectives = collectives;
        this.timeout = timeout;
        long count = count(test, bytes, mesh.size());
        this.from = memory.from(test == CollectiveTest.ALLGATHER ? count / mesh.size() : count);
        this.into = memory.into(test == CollectiveTest.REDUCESCATTER ? count / mesh.size() : count);
    }

    /// The count of numbers on the longer side.
    static long count(CollectiveTest test, long bytes, int ranks) {
        long numbers = Math.ceilDiv(bytes, Double.BYTES);
        return test.hasBlocks() ? Math.ceilDiv(numbers, ranks) * ranks : numbers;
    }

    /// The size as nccl-tests count it.
    long bytes() {
        return test == CollectiveTest.BARRIER ? 0 : Math.max(from.bytes(), into.bytes());
    }

    /// The label of the algorithm.
    String algorithm() {
        return collectives.choice().algorithm(test.kind(), mesh.size(), bytes()).label();
    }

    void call() {
        switch (test) {
            case BARRIER -> collectives.barrier(timeout);
            case BROADCAST -> collectives.broadcast(mesh.rank() == 0 ? from : into, 0, timeout);
            case REDUCE -> collectives.reduce(from, into, Reduction.SUM, 0, timeout);
            case ALLREDUCE -> collectives.allReduce(from, into, Reduction.SUM, timeout);
            case ALLGATHER -> collectives.allGather(from, into, timeout);
            case REDUCESCATTER -> collectives.reduceScatter(from, into, Reduction.SUM, timeout);
            case ALLTOALL -> collectives.allToAll(from, into, timeout);
        }
    }

    /// Calls the collective once with known numbers.
    ///
    /// @return whether the result on this rank is right
    boolean check() {
        MemorySegment numbers = from.segment();
        for (long i = 0; i < from.count(); i++) {
            numbers.setAtIndex(NUMBER, i, given(mesh.rank(), i));
        }
        into.segment().fill((byte) -1);
        call();
        boolean hasResult = test != CollectiveTest.BARRIER
                && (mesh.rank() == 0 ? test != CollectiveTest.BROADCAST : test != CollectiveTest.REDUCE);
        long right = hasResult ? 0 : into.count();
        while (right < into.count() && into.segment().getAtIndex(NUMBER, right) == expected(right)) {
            right++;
        }
        return right == into.count();
    }

    private static double given(int rank, long index) {
        return (rank + 1.0) * (index % VALUES + 1);
    }

    private double expected(long index) {
        int ranks = mesh.size();
        double sumOfFactors = ranks * (ranks + 1.0) / 2;
        long block = into.count() / ranks;
        return switch (test) {
            case BARRIER -> 0;
            case BROADCAST -> given(0, index);
            case REDUCE, ALLREDUCE -> sumOfFactors * given(0, index);
            case ALLGATHER -> given((int) (index / block), index % block);
            case REDUCESCATTER -> sumOfFactors * given(0, mesh.rank() * into.count() + index);
            case ALLTOALL -> given((int) (index / block), mesh.rank() * block + index % block);
        };
    }

    /// The type of all numbers.
    static ElementType type() {
        return ElementType.DOUBLE;
    }
}
