package io.rdmacomm.tests.comm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.mesh.Mesh;
import io.rdmacomm.mesh.collective.Algorithm;
import io.rdmacomm.mesh.collective.AlgorithmChoice;
import io.rdmacomm.mesh.collective.CollectiveKind;
import io.rdmacomm.mesh.collective.Collectives;
import io.rdmacomm.mesh.collective.ElementType;
import io.rdmacomm.mesh.collective.Elements;
import io.rdmacomm.mesh.collective.MeshBuffer;
import io.rdmacomm.mesh.collective.Reduction;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/// One call of a collective, and the plain computation that its result must equal.
///
/// @param count elements of the shorter side
/// @param seed of the numbers that the ranks give
record CollectiveCase(
        CollectiveKind kind,
        Algorithm algorithm,
        ElementType type,
        Reduction reduction,
        int count,
        Place place,
        boolean inPlace,
        int root,
        long seed) {
    static final Duration TIMEOUT = Duration.ofSeconds(Long.getLong("rdma.test.timeout", 60_000L) / 1000);

    private static final int LONGEST = 5001;
    private static final int[] COUNTS = {0, 1, 2, 7, 31, 32, 33, 127, 128, 129, 1000, LONGEST};

    /// Where the data is.
    enum Place {
        ARRAY,
        NATIVE,
        MESH_BUFFER
    }

    /// Every kind, algorithm, type and reduction once, and others at random: `most` of them.
    static List<CollectiveCase> some(Random random, int size, int most) {
        List<CollectiveCase> cases = new ArrayList<>();
        for (CollectiveKind kind : CollectiveKind.values()) {
            for (Algorithm algorithm : kind.algorithms()) {
                for (ElementType type : ElementType.values()) {
                    for (Reduction reduction : Reduction.values()) {
                        if (type != ElementType.BYTE || !reduces(kind)) {
                            cases.add(randomCase(random, size, kind, algorithm, type, reduction));
                        }
                    }
                }
            }
        }
        while (cases.size() < most) {
            CollectiveCase old = cases.get(random.nextInt(cases.size()));
            cases.add(randomCase(random, size, old.kind(), old.algorithm(), old.type(), old.reduction()));
        }
        Collections.shuffle(cases, random);
        return cases.subList(0, most);
    }

    private static boolean reduces(CollectiveKind kind) {
        return kind == CollectiveKind.REDUCE
                || kind == CollectiveKind.ALL_REDUCE
                || kind == CollectiveKind.REDUCE_SCATTER;
    }

    private static CollectiveCase randomCase(
            Random random, int size, CollectiveKind kind, Algorithm algorithm, ElementType type, Reduction reduction) {
        int count = random.nextBoolean() ? COUNTS[random.nextInt(COUNTS.length)] : random.nextInt(LONGEST);
        boolean blocks = kind == CollectiveKind.ALL_GATHER
                || kind == CollectiveKind.REDUCE_SCATTER
                || kind == CollectiveKind.ALL_TO_ALL;
        return new CollectiveCase(
                kind,
                algorithm,
                type,
                reduction,
                blocks && random.nextInt(4) > 0 ? count / size : count,
                Place.values()[random.nextInt(Place.values().length)],
                random.nextBoolean(),
                random.nextInt(size),
                random.nextLong());
    }

    /// Runs cases on one rank.
    static void runAll(List<CollectiveCase> cases, Mesh mesh) {
        MeshBuffer memory = mesh.allocate("memory", 2L * mesh.size() * LONGEST * Double.BYTES, TIMEOUT);
        try (Arena arena = Arena.ofConfined()) {
            cases.forEach(each -> each.run(mesh, memory, arena));
        }
        mesh.barrier(TIMEOUT);
    }

    private int blocks(int ranks) {
        return switch (kind) {
            case ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL -> ranks;
            default -> 1;
        };
    }

    /// Calls it on one rank, and compares the result.
    ///
    /// @param memory for both sides, on the same place in all ranks
    private void run(Mesh mesh, MeshBuffer memory, Arena arena) {
        int ranks = mesh.size();
        int all = count * blocks(ranks);
        Elements whole = elements(memory, arena, 0, all);
        Elements other = inPlace && kind != CollectiveKind.ALL_TO_ALL ? whole : elements(memory, arena, all, all);
        Elements own = other.slice((long) count * (blocks(ranks) == 1 ? 0 : mesh.rank()), count);
        Collectives collectives = mesh.collectives().with(AlgorithmChoice.always(algorithm));
        switch (kind) {
            case BROADCAST -> {
                Numbers.fill(whole, random(mesh.rank()));
                collectives.broadcast(whole, root, TIMEOUT);
                check(mesh, whole, given(root, all));
            }
            case REDUCE -> {
                Numbers.fill(whole, random(mesh.rank()));
                collectives.reduce(whole, other, reduction, root, TIMEOUT);
                if (mesh.rank() == root) {
                    check(mesh, other, reduced(ranks, all));
                } else {
                    check(mesh, whole, given(mesh.rank(), all));
                }
            }
            case ALL_REDUCE -> {
                Numbers.fill(whole, random(mesh.rank()));
                collectives.allReduce(whole, other, reduction, TIMEOUT);
                check(mesh, other, reduced(ranks, all));
            }
            case ALL_GATHER -> {
                Numbers.fill(own, random(mesh.rank()));
                collectives.allGather(own, whole, TIMEOUT);
                Elements expected = Numbers.inArray(type, all);
                for (int rank = 0; rank < ranks; rank++) {
                    expected.slice((long) rank * count, count)
                            .segment()
                            .copyFrom(given(rank, count).segment());
                }
                check(mesh, whole, expected);
            }
            case REDUCE_SCATTER -> {
                Numbers.fill(whole, random(mesh.rank()));
                collectives.reduceScatter(whole, own, reduction, TIMEOUT);
                check(mesh, own, reduced(ranks, all).slice((long) mesh.rank() * count, count));
            }
            case ALL_TO_ALL -> {
                Numbers.fill(whole, random(mesh.rank()));
                collectives.allToAll(whole, other, TIMEOUT);
                Elements expected = Numbers.inArray(type, all);
                for (int rank = 0; rank < ranks; rank++) {
                    Elements block = given(rank, all).slice((long) mesh.rank() * count, count);
                    expected.slice((long) rank * count, count).segment().copyFrom(block.segment());
                }
                check(mesh, other, expected);
            }
            case BARRIER, ALLOCATE -> collectives.barrier(TIMEOUT);
        }
    }

    private Elements elements(MeshBuffer memory, Arena arena, long first, int elements) {
        return switch (place) {
            case ARRAY -> Numbers.inArray(type, elements);
            case NATIVE -> Elements.of(arena.allocate((long) elements * type.bytes(), type.bytes()), type);
            case MESH_BUFFER -> memory.elements(type, first * type.bytes(), elements);
        };
    }

    private Random random(int rank) {
        return new Random(seed * 31 + rank);
    }

    private Elements given(int rank, int elements) {
        Elements numbers = Numbers.inArray(type, elements);
        Numbers.fill(numbers, random(rank));
        return numbers;
    }

    private Elements reduced(int ranks, int elements) {
        Elements result = given(0, elements);
        for (int rank = 1; rank < ranks; rank++) {
            Numbers.combine(result, given(rank, elements), reduction);
        }
        return result;
    }

    private void check(Mesh mesh, Elements actual, Elements expected) {
        long mismatch =
                MemorySegment.mismatch(actual.segment(), 0, actual.bytes(), expected.segment(), 0, expected.bytes());
        assertThat(mismatch)
                .as(() -> "%s on %s: %s instead of %s"
                        .formatted(
                                this,
                                mesh,
                                Arrays.toString(head(Numbers.bytes(actual))),
                                Arrays.toString(head(Numbers.bytes(expected)))))
                .isEqualTo(-1);
    }

    private static byte[] head(byte[] bytes) {
        return Arrays.copyOf(bytes, Math.min(bytes.length, 64));
    }
}
