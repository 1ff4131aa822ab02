package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Memory of the caller, which is copied in pieces by threads that the caller does not see, is neither read nor
/// written once its transfer has ended before its time. `-Drdma.test.seed=N` makes the same pauses again,
/// `-Drdma.test.rounds=1000` runs longer.
class StagedEndTest {
    private static final long SEED = Long.getLong("rdma.test.seed", System.nanoTime());
    private static final int ROUNDS = Integer.getInteger("rdma.test.rounds", 3);
    private static final int PIECE = 256 * 1024;
    private static final int BYTES = 16 * PIECE;
    private static final byte MINE = 0x11;
    private static final byte THEIRS = 0x22;
    private static final byte STAMP = 0x5a;

    enum Transfer {
        READ,
        WRITE,
        SEND
    }

    enum End {
        FAIL,
        RESET,
        CLOSE,
        CLOSE_REGION,
        PEER_FAIL,
        PEER_CLOSE,
        PEER_CLOSE_REGION;

        boolean isPeers() {
            return compareTo(PEER_FAIL) >= 0;
        }
    }

    /// A context with memory of the caller.
    private final class Side {
        final Context context = Soft.open("soft0=127.0.0.1");
        final ProtectionDomain domain = context.allocateProtectionDomain();
        final CompletionQueue queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(256));
        final MemorySegment memory = arena.allocate(BYTES, 8);
        MemoryRegion region = domain.register(memory, AccessFlag.allRemote());

        QueuePair pair() {
            return domain.createQueuePair(QueuePairOptions.reliable(queue));
        }

        void renew(byte content) {
            if (!region.isOpen()) {
                region = domain.register(memory, AccessFlag.allRemote());
            }
            memory.fill(content);
        }
    }

    private final Arena arena = Arena.ofShared();
    private final Completions done = Completions.create(arena, 64);
    private final Side here = new Side();
    private final Side there = new Side();
    private final MemorySegment stamps = arena.allocate(BYTES).fill(STAMP);
    private final Random random = new Random(SEED);
    private final QueuePair other = here.pair();
    private MemoryRegion otherTarget;
    private long usualNanos;

    @BeforeAll
    static void printSeed() {
        System.out.println("StagedEndTest: seed " + SEED);
    }

    @BeforeEach
    void connectAnother() {
        QueuePair peer = there.pair();
        other.connect(peer.info());
        peer.connect(other.info());
        otherTarget = there.domain.register(arena.allocate(BYTES, 8), AccessFlag.allRemote());
        usualNanos = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            long start = System.nanoTime();
            awaitEarlierPieces();
            usualNanos = Math.min(usualNanos, System.nanoTime() - start);
        }
    }

    @AfterEach
    void close() {
        here.context.close();
        there.context.close();
        arena.close();
    }

    static Stream<Arguments> all() {
        return Arrays.stream(Transfer.values())
                .flatMap(transfer -> Arrays.stream(End.values()).map(end -> Arguments.of(transfer, end)));
    }

    @ParameterizedTest
    @MethodSource("all")
    void memoryIsLeftAloneAfterTheEnd(Transfer transfer, End end) {
        for (int round = 0; round < ROUNDS; round++) {
            here.renew(MINE);
            there.renew(THEIRS);
            QueuePair pair = here.pair();
            QueuePair peer = there.pair();
            pair.connect(peer.info());
            peer.connect(pair.info());
            begin(transfer, pair, peer);
            long until = System.nanoTime() + (long) (random.nextDouble() * usualNanos);
            while (System.nanoTime() < until) {
                Thread.onSpinWait();
            }

            end(end, pair, peer);

            MemorySegment ended = end.isPeers() ? there.memory : here.memory;
            stamp(ended);
            awaitEarlierPieces();
            String what = transfer + ", " + end + ", round " + round + ", seed " + SEED;
            assertThat(ended.mismatch(stamps))
                    .as("written after the end: " + what)
                    .isEqualTo(-1);
            assertThat(contains(end.isPeers() ? here.memory : there.memory, STAMP))
                    .as("read after the end: " + what)
                    .isFalse();
            pair.close();
            peer.close();
            drain(here.queue);
            drain(there.queue);
        }
    }

    /// The receive that is being filled when its queue pair fails is flushed once, before those behind it.
    @Test
    void aReceiveThatIsBeingFilledIsFlushedInItsTurn() {
        for (int round = 0; round < ROUNDS; round++) {
            QueuePair pair = here.pair();
            QueuePair peer = there.pair();
            pair.connect(peer.info());
            peer.connect(pair.info());
            for (int id = 1; id <= 3; id++) {
                peer.post(ReceiveBatch.create(arena, 1, 1).receive(id).with(there.region, 0, BYTES));
            }
            pair.post(SendBatch.create(arena, 1, 1).send(9).with(here.region, 0, BYTES));
            long until = System.nanoTime() + (long) (random.nextDouble() * usualNanos);
            while (System.nanoTime() < until) {
                Thread.onSpinWait();
            }

            peer.modify(new QueuePairAttributes().state(QueuePairState.ERROR));

            peer.post(ReceiveBatch.create(arena, 1, 1).receive(4));
            for (long id = 1; id <= 4; id++) {
                assertThat(nextCompletion(there.queue))
                        .as("round " + round + ", seed " + SEED)
                        .isEqualTo(id);
            }
            pair.close();
            awaitEarlierPieces();
            assertThat(there.queue.poll(done)).as("completed twice").isZero();
            peer.close();
            drain(here.queue);
        }
    }

    private long nextCompletion(CompletionQueue queue) {
        long deadline = System.nanoTime() + 60_000_000_000L;
        while (queue.poll(done, 1) == 0) {
            assertThat(System.nanoTime()).isLessThan(deadline);
        }
        return done.workId(0);
    }

    private void begin(Transfer transfer, QueuePair pair, QueuePair peer) {
        SendBatch batch = SendBatch.create(arena, 1, 1);
        switch (transfer) {
            case READ -> batch.read(1, there.region.remote());
            case WRITE -> batch.write(1, there.region.remote());
            case SEND -> {
                peer.post(ReceiveBatch.create(arena, 1, 1).receive(2).with(there.region, 0, BYTES));
                batch.send(1);
            }
        }
        pair.post(batch.with(here.region, 0, BYTES).signaled());
    }

    private void end(End end, QueuePair pair, QueuePair peer) {
        switch (end) {
            case FAIL -> fail(pair, here.queue);
            case RESET -> pair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
            case CLOSE -> pair.close();
            case CLOSE_REGION -> here.region.close();
            case PEER_FAIL -> fail(peer, there.queue);
            case PEER_CLOSE -> peer.close();
            case PEER_CLOSE_REGION -> there.region.close();
        }
    }

    /// Until a request that was posted afterwards has completed, so that all before it have.
    private void fail(QueuePair pair, CompletionQueue queue) {
        pair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
        pair.post(ReceiveBatch.create(arena, 1, 1).receive(3));
        awaitCompletion(queue, 3);
    }

    private void awaitCompletion(CompletionQueue queue, long workId) {
        long deadline = System.nanoTime() + 60_000_000_000L;
        while (true) {
            int count = queue.poll(done);
            for (int i = 0; i < count; i++) {
                if (done.workId(i) == workId) {
                    return;
                }
            }
            assertThat(System.nanoTime()).as("waiting for " + workId).isLessThan(deadline);
        }
    }

    private void drain(CompletionQueue queue) {
        while (queue.poll(done) > 0) {
            Thread.onSpinWait();
        }
    }

    /// One request after the other has the block for a peer: when a later transfer is complete, so is every earlier
    /// one.
    private void awaitEarlierPieces() {
        MemoryRegion from = here.domain.allocate(BYTES, AccessFlag.allRemote());
        other.post(SendBatch.create(arena, 1, 1)
                .write(9, otherTarget.remote())
                .with(from, 0, BYTES)
                .signaled());
        awaitCompletion(here.queue, 9);
        from.close();
    }

    /// The last bytes of each piece are copied last, so they are marked first.
    private static void stamp(MemorySegment memory) {
        long stamp = STAMP * 0x0101_0101_0101_0101L;
        for (long at = PIECE - Long.BYTES; at < BYTES; at += PIECE) {
            memory.set(ValueLayout.JAVA_LONG, at, stamp);
        }
        memory.fill(STAMP);
    }

    private static boolean contains(MemorySegment memory, byte value) {
        for (long at = 0; at < BYTES; at += Long.BYTES) {
            if (memory.get(ValueLayout.JAVA_BYTE, at) == value) {
                return true;
            }
        }
        return false;
    }
}
