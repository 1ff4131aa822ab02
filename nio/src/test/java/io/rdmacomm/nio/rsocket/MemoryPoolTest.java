package io.rdmacomm.nio.rsocket;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.nio.rsocket.MemoryPool.Piece;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.Rdma;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The memory of connections, in parts of chunks and in regions of its own.
class MemoryPoolTest {
    private static final long USUAL = 270_000;

    private final Context context = Rdma.open("soft0");
    private final ProtectionDomain domain = context.allocateProtectionDomain();
    private final MemoryBudget budget = new MemoryBudget(1 << 26);

    @AfterEach
    void close() {
        context.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void piecesDoNotOverlap(boolean shared) {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        MemoryPool pool = new MemoryPool(context, shared, budget);
        List<Piece> pieces = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            if (pieces.size() > 20 || (!pieces.isEmpty() && random.nextInt(3) == 0)) {
                pieces.remove(random.nextInt(pieces.size())).close();
            }
            long bytes = random.nextInt(8) == 0 ? 1 << 20 : 1 + random.nextInt(400_000);
            Piece made = pool.allocate(domain, bytes);
            assertThat(made.region().length()).as("seed %d", seed).isEqualTo(bytes);
            assertThat(pieces).as("seed %d", seed).noneMatch(piece -> overlap(piece, made));
            pieces.add(made);
        }
        pieces.forEach(Piece::close);
        budget.take(budget.limit());
    }

    private static boolean overlap(Piece one, Piece other) {
        return one.region()
                .segment()
                .asOverlappingSlice(other.region().segment())
                .isPresent();
    }

    @Test
    void memoryIsUsedAgainAtOnce() {
        MemoryPool pool = new MemoryPool(context, true, budget);
        Piece first = pool.allocate(domain, USUAL);
        long address = first.region().address();
        int key = first.region().remoteKey();
        first.region().segment().fill((byte) 0x55);
        first.close();
        Piece second = pool.allocate(domain, USUAL);
        assertThat(second.region().address()).isEqualTo(address);
        assertThat(second.region().remoteKey()).isNotEqualTo(key);
        assertThat(second.region().segment().toArray(ValueLayout.JAVA_BYTE))
                .as("bytes of an earlier connection, which the peer of this one could make the program read")
                .containsOnly(0);
    }

    @Test
    void aConnectionFindsNoGrantOfAnEarlierOne() {
        try (SocketDevice device = SocketDevice.open("soft0")) {
            ProtectionDomain ours = device.context().allocateProtectionDomain();
            BufferSizes sizes = BufferSizes.defaults().withMappings(2);
            ConnectionMemory before = new ConnectionMemory(device.pool(), ours, sizes, 8);
            before.region().segment().fill((byte) 0x55);
            long address = before.region().address();
            before.close();
            try (ConnectionMemory after = new ConnectionMemory(device.pool(), ours, sizes, 8)) {
                assertThat(after.region().address()).isEqualTo(address);
                for (int i = 0; i < ConnectionMemory.TARGETS; i++) {
                    assertThat(after.targetLength(i)).isZero();
                    assertThat(after.mappingLength(i)).isZero();
                }
            }
        }
    }
}
