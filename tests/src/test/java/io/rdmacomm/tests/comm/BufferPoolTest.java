package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.comm.ConnectedPair.eventually;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.BufferPool;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.Lease;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.Piece;
import io.rdmacomm.comm.PoolOptions;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.statistics.PoolStatistics;
import io.rdmacomm.testing.Allocation;
import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.PrivateMemory;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.VerbException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Pieces of registered memory of any size: where they are, how the pool grows and shrinks, and what a mistake
/// causes.
@ExtendWith(LeakCheck.class)
final class BufferPoolTest {
    private static final long KIB = 1 << 10;
    private static final long MIB = 1 << 20;
    private static final Duration SOON = Duration.ofMillis(50);
    private static final int TIMES = 2_000_000;

    private final ServerSession session = open("soft0");

    private static ServerSession open(String device) {
        PrivateMemory.use();
        return ServerSession.listen(SessionOptions.defaults().withDevice(device).withAddress("127.0.0.1", 0));
    }

    @AfterEach
    void close() {
        session.close();
    }

    private static Piece taken(BufferPool pool, long bytes) {
        Piece piece = pool.take(bytes);
        assertThat(piece).as("%d bytes of %s", bytes, pool.statistics()).isNotNull();
        return piece;
    }

    private static long registered(BufferPool pool) {
        return pool.statistics().registeredBytes();
    }

    @Test
    void aPieceHasTheLengthThatWasAskedFor() {
        BufferPool pool = session.pool("pool", PoolOptions.of(16 * MIB));
        assertThat(registered(pool)).isZero();
        for (long bytes : new long[] {1, 63, 64, 65, 256, 257, 4096, 4097, MIB, MIB + 1, 5 * MIB, 16 * MIB}) {
            Piece piece = taken(pool, bytes);
            BufferSlice slice = piece.slice();
            ByteBuffer buffer = piece.buffer();
            MemorySegment segment = piece.segment();

            assertThat(piece.length()).isEqualTo(bytes);
            assertThat(slice.length()).isEqualTo(bytes);
            assertThat(buffer.remaining()).isEqualTo((int) bytes);
            assertThat(buffer.position()).isZero();
            assertThat(buffer.order()).isEqualTo(ByteOrder.BIG_ENDIAN);
            assertThat(buffer.isDirect()).isTrue();
            assertThat(segment.byteSize()).isEqualTo(bytes);
            assertThat(segment.address() % 64).isZero();
            segment.set(JAVA_BYTE, bytes - 1, (byte) 7);
            assertThat(buffer.get((int) bytes - 1)).isEqualTo((byte) 7);
            assertThat(slice.segment().get(JAVA_BYTE, bytes - 1)).isEqualTo((byte) 7);
            assertThat(pool.statistics().pieces()).isOne();
            assertThat(pool.statistics().bytes()).isEqualTo(bytes);
            buffer.position(1).order(ByteOrder.LITTLE_ENDIAN);
            piece.release();
        }
        assertThat(pool.statistics().pieces()).isZero();
        assertThat(pool.statistics().bytes()).isZero();
    }

    /// Each byte of a piece holds a mark until the piece is released, so two pieces that share one are noticed.
    @Test
    void randomPiecesShareNoMemory() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        long limit = 8 * MIB + random.nextInt(1000);
        BufferPool pool = session.pool("pool", PoolOptions.of(limit).withChunkBytes(4096L << random.nextInt(10)));
        List<Piece> pieces = new ArrayList<>();
        List<Byte> marks = new ArrayList<>();
        for (int round = 0; round < Amount.of(20_000, 2_000); round++) {
            if (random.nextInt(10) < 5 || pieces.isEmpty()) {
                Piece piece = pool.take(1 + random.nextLong(1L << (6 + random.nextInt(16))));
                if (piece != null) {
                    byte mark = (byte) random.nextInt();
                    piece.segment().fill(mark);
                    pieces.add(piece);
                    marks.add(mark);
                }
            } else {
                int which = random.nextInt(pieces.size());
                expectMark(seed, pieces.remove(which), marks.remove(which));
            }
            PoolStatistics now = pool.statistics();
            assertThat(now.pieces()).as("seed %d", seed).isEqualTo(pieces.size());
            assertThat(now.bytes()).as("seed %d", seed).isLessThanOrEqualTo(now.registeredBytes());
            assertThat(now.registeredBytes()).as("seed %d", seed).isLessThanOrEqualTo(limit);
        }
        while (!pieces.isEmpty()) {
            expectMark(seed, pieces.removeLast(), marks.removeLast());
        }
        assertThat(pool.statistics().bytes()).isZero();
        taken(pool, limit).release();
        pool.close();
        assertThat(registered(pool)).isZero();
    }

    private static void expectMark(long seed, Piece piece, byte mark) {
        MemorySegment segment = piece.segment();
        for (long at : new long[] {0, segment.byteSize() / 2, segment.byteSize() - 1}) {
            assertThat(segment.get(JAVA_BYTE, at)).as("seed %d", seed).isEqualTo(mark);
        }
        segment.fill((byte) ~mark);
        piece.release();
    }

    @Test
    void aPieceTakesAtMostAQuarterMoreMemory() {
        BufferPool pool = session.pool("pool", PoolOptions.of(MIB).withChunkBytes(MIB));
        for (long bytes : new long[] {257, 1025, 5000, 33_000}) {
            List<Piece> pieces = new ArrayList<>();
            Piece piece = pool.take(bytes);
            while (piece != null) {
                pieces.add(piece);
                piece = pool.take(bytes);
            }
            assertThat(bytes * pieces.size()).isGreaterThan(MIB * 4 / 5 - 2 * bytes);
            pieces.forEach(Piece::release);
        }
    }

    @Test
    void theMostRecentPlaceIsUsedFirst() {
        BufferPool pool = session.pool("pool", PoolOptions.of(MIB));
        Piece first = taken(pool, 1000);
        Piece second = taken(pool, 1000);
        first.release();
        second.release();

        assertThat(taken(pool, 900)).isSameAs(second);
        assertThat(taken(pool, 1024)).isSameAs(first);
    }

    @Test
    void sizesThatAreImpossibleAreRejected() {
        BufferPool pool = session.pool("reads", PoolOptions.of(1000));
        for (long bytes : new long[] {0, -1, Long.MIN_VALUE, 1001, Long.MAX_VALUE}) {
            assertThatThrownBy(() -> pool.take(bytes))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContainingAll(Long.toString(bytes), "pool 'reads'", "1 to 1000", "limit");
            assertThatThrownBy(() -> pool.take(bytes, TIMEOUT)).isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> pool.take(1, Duration.ZERO)).isInstanceOf(IllegalArgumentException.class);
        assertThat(registered(pool)).isZero();
        taken(pool, 1000).release();
    }

    @Test
    void optionsAreChecked() {
        PoolOptions options = PoolOptions.of(MIB);
        assertThatThrownBy(() -> PoolOptions.of(63)).hasMessageContaining("limit of a pool is 63");
        assertThatThrownBy(() -> options.withChunkBytes(4095)).hasMessageContaining("4095");
        assertThatThrownBy(() -> options.withIdle(Duration.ZERO)).hasMessageContaining("idle");
        assertThatThrownBy(() -> session.pool("n".repeat(129), options)).hasMessageContaining("128 characters");
        assertThat(options.withIdle(SOON).withChunkBytes(8192))
                .isEqualTo(PoolOptions.of(MIB).withChunkBytes(8192).withIdle(SOON));
        assertThat(session.pool("pool", options).options()).isEqualTo(options);
    }

    @Test
    void atTheLimitThereIsNothing() {
        BufferPool pool = session.pool("pool", PoolOptions.of(64 * KIB).withChunkBytes(16 * KIB));
        List<Piece> pieces = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            pieces.add(taken(pool, 16 * KIB));
        }

        assertThat(pool.take(1)).isNull();
        assertThat(pool.take(64 * KIB)).isNull();
        assertThat(pool.statistics()).isEqualTo(new PoolStatistics(4, 64 * KIB, 64 * KIB, 2));

        pieces.removeLast().release();
        taken(pool, 1).release();
        pieces.forEach(Piece::release);
        assertThat(pool.statistics()).isEqualTo(new PoolStatistics(0, 0, 64 * KIB, 2));
    }

    @ParameterizedTest
    @ValueSource(longs = {64, 1000, 100_000, 1_000_000})
    void memoryThatIsFreeServesOtherSizes(long limit) {
        BufferPool pool = session.pool("pool", PoolOptions.of(limit).withChunkBytes(8192));
        for (int round = 0; round < 3; round++) {
            for (long bytes = 1; bytes < limit; bytes *= 3) {
                long each = bytes;
                List<Piece> pieces = new ArrayList<>();
                for (long left = limit; left >= each && pieces.size() < 1000; left -= 2 * Math.max(64, each)) {
                    Piece piece = pool.take(each);
                    if (piece == null) {
                        break;
                    }
                    pieces.add(piece);
                }
                assertThat(pieces).isNotEmpty();
                pieces.forEach(Piece::release);
            }
            taken(pool, limit).release();
        }
    }

    /// Peers that hold leases may read it, so it has no other user before, and a late READ fails nobody.
    @Test
    void memoryThatWasLentIsFreeAfterTheGraceAndStaysRegistered() {
        PoolOptions options = PoolOptions.of(MIB).withChunkBytes(64 * KIB).withIdle(Duration.ofMillis(1));
        BufferPool pool = session.pool("pool", options, Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ));
        Piece piece = taken(pool, MIB);
        Piece other = piece;
        assertThatThrownBy(() -> other.releaseAfter(Duration.ZERO)).hasMessageContaining("grace");
        long begin = System.nanoTime();
        piece.releaseAfter(Lease.grace(Duration.ofMillis(40)));
        assertThat(pool.statistics().pieces()).isOne();

        piece = pool.take(MIB, TIMEOUT);

        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(50_000_000L);
        piece.release();
        // Other sizes use it, too.
        for (int i = 0; i < 4; i++) {
            taken(pool, 200 * KIB);
        }
        assertThat(registered(pool)).isEqualTo(MIB);
        assertThatThrownBy(other::length).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> other.releaseAfter(SOON)).isInstanceOf(IllegalStateException.class);

        pool = session.pool("next", options);
        Piece lent = taken(pool, 64 * KIB);
        lent.releaseAfter(Duration.ofMillis(1));
        BufferPool next = pool;
        eventually(() -> next.statistics().pieces() == 0);
        Piece unlent = taken(pool, 512 * KIB);
        unlent.release();
        eventually(() -> registered(next) == 64 * KIB);
        pool.close();
        assertThat(registered(pool)).isZero();
    }

    @Test
    void freeMemoryIsNotGivenBackInVain() {
        BufferPool pool = session.pool("pool", PoolOptions.of(MIB).withChunkBytes(64 * KIB));
        Piece half = taken(pool, 512 * KIB);
        taken(pool, 64).release();
        long before = registered(pool);

        assertThat(pool.take(MIB)).isNull();

        assertThat(registered(pool)).isEqualTo(before);
        half.release();
        taken(pool, MIB);
        assertThat(registered(pool)).isEqualTo(MIB);
    }

    @Test
    void memoryThatIsIdleIsGivenBack() {
        long before = PrivateMemory.bytes();
        BufferPool pool = session.pool(
                "pool", PoolOptions.of(64 * MIB).withChunkBytes(MIB).withIdle(SOON));
        for (int round = 0; round < 3; round++) {
            Piece kept = taken(pool, 100);
            List<Piece> pieces = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                pieces.add(taken(pool, MIB / 2));
            }
            taken(pool, 3 * MIB).release();
            assertThat(registered(pool)).isGreaterThan(20 * MIB);
            pieces.forEach(Piece::release);

            eventually(() -> registered(pool) == MIB);
            kept.segment().fill((byte) 1);
            kept.release();
            eventually(() -> registered(pool) == 0);
            assertThat(PrivateMemory.bytes()).isEqualTo(before);
        }
    }

    @Test
    void memoryThatIsUsedStays() {
        BufferPool pool = session.pool("pool", PoolOptions.of(MIB).withIdle(Duration.ofSeconds(1)));
        Piece last = taken(pool, 100);
        last.release();
        long used = System.nanoTime();
        long end = used + Duration.ofMillis(2_500).toNanos();
        while (used < end) {
            Piece piece = taken(pool, 100);
            long now = System.nanoTime();
            // Its object would be another one in memory that was registered again.
            if (now - used < Duration.ofMillis(500).toNanos()) {
                assertThat(piece).isSameAs(last);
            }
            piece.release();
            last = piece;
            used = now;
        }
    }

    @Test
    void aPieceThatWasReleasedIsNoticed() {
        BufferPool pool = session.pool("reads", PoolOptions.of(MIB), Set.of(AccessFlag.REMOTE_READ));
        Piece piece = taken(pool, 100);
        piece.release();

        List<Consumer<Piece>> uses = List.of(
                Piece::release,
                Piece::retain,
                Piece::slice,
                Piece::segment,
                Piece::buffer,
                Piece::asRemote,
                Piece::length);
        for (Consumer<Piece> use : uses) {
            assertThatThrownBy(() -> use.accept(piece))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContainingAll("pool 'reads'", "released already");
        }
        assertThat(piece.references()).isZero();
        assertThat(pool.statistics().pieces()).isZero();
        assertThat(taken(pool, 100)).isNotSameAs(taken(pool, 100));
    }

    @Test
    void aPieceIsFreeWhenEachUserHasReleasedIt() {
        BufferPool pool = session.pool("pool", PoolOptions.of(MIB));
        Piece piece = taken(pool, 100);
        piece.retain();
        piece.retain();
        assertThat(piece.references()).isEqualTo(3);
        piece.release();
        piece.release();
        assertThat(taken(pool, 100)).isNotSameAs(piece);
        assertThat(piece.slice().length()).isEqualTo(100);
        piece.release();
        assertThatThrownBy(piece::release).isInstanceOf(IllegalStateException.class);
        assertThat(taken(pool, 100)).isSameAs(piece);
        assertThat(piece.references()).isOne();
    }

    @Test
    void piecesThatAreTakenOutliveThePool() {
        long before = PrivateMemory.bytes();
        BufferPool pool = session.pool("reads", PoolOptions.of(16 * MIB).withChunkBytes(MIB));
        Piece small = taken(pool, 100);
        Piece another = taken(pool, 100);
        Piece large = taken(pool, 2 * MIB);
        taken(pool, 8 * MIB).release();
        another.release();

        pool.close();
        pool.close();

        assertThat(pool.isOpen()).isFalse();
        assertThat(registered(pool)).isEqualTo(3 * MIB);
        assertThatThrownBy(() -> pool.take(100))
                .isInstanceOf(ClosedException.class)
                .hasMessageContainingAll("pool 'reads'", "is closed");
        assertThatThrownBy(() -> pool.take(100, TIMEOUT)).isInstanceOf(ClosedException.class);
        small.segment().fill((byte) 1);
        large.segment().fill((byte) 1);
        small.retain();
        small.release();
        small.release();
        assertThat(registered(pool)).isEqualTo(2 * MIB);
        large.release();
        assertThat(pool.statistics()).isEqualTo(new PoolStatistics(0, 0, 0, 0));
        assertThat(PrivateMemory.bytes()).isEqualTo(before);
        assertThatThrownBy(small::release).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aSessionTakesItsPoolsWithIt() {
        BufferPool pool = session.pool("reads", PoolOptions.of(MIB));
        Piece piece = taken(pool, 100);
        Piece forgotten = taken(pool, 100);
        MemorySegment segment = piece.segment();

        session.close();

        assertThat(pool.isOpen()).isFalse();
        assertThatThrownBy(() -> pool.take(100))
                .isInstanceOf(ClosedException.class)
                .hasMessageContaining("session");
        assertThatThrownBy(() -> session.pool("other", PoolOptions.of(MIB))).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> segment.fill((byte) 1)).isInstanceOf(IllegalStateException.class);
        piece.release();
        assertThat(forgotten.references()).isOne();
        assertThat(PrivateMemory.contents()).isEmpty();
    }

    @Test
    void memoryThatCannotBeRegisteredIsAnExceptionAndChangesNothing() {
        try (ServerSession faulty = open("fault:soft0?fail=register:/2:ENOMEM")) {
            BufferPool pool = faulty.pool("pool", PoolOptions.of(64 * MIB).withChunkBytes(MIB));
            List<Piece> pieces = new ArrayList<>();
            int failed = 0;
            for (int i = 0; i < 16; i++) {
                long before = registered(pool);
                try {
                    pieces.add(taken(pool, MIB));
                } catch (VerbException e) {
                    assertThat(e).hasMessageContaining("ENOMEM");
                    assertThat(registered(pool)).isEqualTo(before);
                    failed++;
                }
            }
            assertThat(failed).isBetween(7, 9);
            assertThat(pool.statistics().pieces()).isEqualTo(16 - failed);
            pieces.forEach(Piece::release);
            pool.close();
            assertThat(registered(pool)).isZero();
        }
    }

    @Test
    void theLimitOfTheSessionCounts() {
        SessionOptions options = SessionOptions.defaults().withAddress("127.0.0.1", 0);
        try (ServerSession small = ServerSession.listen(options.withMemoryLimit(4 * MIB))) {
            BufferPool pool = small.pool("pool", PoolOptions.of(64 * MIB).withChunkBytes(MIB));
            Piece kept = taken(pool, MIB);
            List<Piece> pieces = List.of(taken(pool, MIB), taken(pool, MIB), taken(pool, 100));
            assertThat(small.statistics().registeredBytes())
                    .isEqualTo(registered(pool))
                    .isEqualTo(4 * MIB);
            assertThatThrownBy(() -> pool.take(MIB))
                    .isInstanceOf(VerbException.class)
                    .hasMessageContainingAll("withMemoryLimit", "'pool'");

            pieces.forEach(Piece::release);
            taken(pool, 3 * MIB).release();
            kept.release();
            pool.close();
            assertThat(small.statistics().registeredBytes()).isZero();
        }
    }

    @Test
    void operationsUsePieces() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            RdmaBuffer board = pair.server.allocate("board", 4096);
            board.segment().setString(100, "from the board", US_ASCII);
            RemoteBuffer remote = pair.target(board);
            BufferPool pool = pair.client.pool("pieces", PoolOptions.of(MIB));
            Piece other = taken(pool, 14);
            Piece piece = taken(pool, 14);

            pair.clientChannel().blocking(TIMEOUT).read(piece.slice(), remote, 100);
            assertThat(US_ASCII.decode(piece.buffer()).toString()).isEqualTo("from the board");
            pair.clientChannel().blocking(TIMEOUT).send(piece.slice().slice(5, 9));
            try (Message message = pair.serverChannel().blocking(TIMEOUT).receive()) {
                assertThat(message.text()).isEqualTo("the board");
            }
            assertThat(other.segment().mismatch(MemorySegment.ofArray(new byte[14])))
                    .isEqualTo(-1);
        }
    }

    @Test
    void peersReachAPieceByItsAddressAndKey() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            BufferPool pool = pair.server.pool("for peers", PoolOptions.of(MIB), Set.of(AccessFlag.REMOTE_READ));
            var _ = taken(pool, 200);
            Piece piece = taken(pool, 200);
            piece.segment().setString(0, "hello", US_ASCII);
            RemoteBuffer remote = piece.asRemote();
            RdmaBuffer target = pair.client.allocate("target", 1000);

            assertThat(remote.length()).isEqualTo(200);
            assertThat(remote.address()).isEqualTo(piece.segment().address());
            pair.clientChannel().blocking(TIMEOUT).read(target.slice(0, 200), remote, 0);
            assertThat(target.segment().getString(0, US_ASCII)).isEqualTo("hello");
            assertThatThrownBy(() -> pair.clientChannel().blocking(TIMEOUT).read(target.slice(0, 201), remote, 0))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> taken(pair.server.pool("local", PoolOptions.of(MIB)), 1)
                            .asRemote())
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContainingAll("pool 'local'", "no rights");
        }
    }

    @Test
    void takingAndReleasingAllocatesNothing() {
        BufferPool pool = session.pool("pool", PoolOptions.of(16 * MIB));
        Allocation.assertNone("taking and releasing", () -> takeAndRelease(pool));
    }

    private static void takeAndRelease(BufferPool pool) {
        for (int i = 0; i < TIMES; i++) {
            long bytes = 1000 + (i & 7) * 8000L;
            Piece piece = pool.take(bytes);
            if (piece == null) {
                throw new AssertionError("there is no room");
            }
            piece.retain();
            if (piece.slice().length() != bytes || piece.buffer().limit() != bytes) {
                throw new AssertionError("wrong length");
            }
            piece.release();
            piece.release();
            pool.take(bytes, TIMEOUT).release();
        }
    }

    /// Pools that come and go, with pieces that are released before, after, or never, and with mistakes.
    @Test
    void manyRoundsLeaveNothing() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        long before = PrivateMemory.bytes();
        PoolOptions options = PoolOptions.of(MIB).withChunkBytes(64 * KIB).withIdle(Duration.ofMillis(1));
        for (int round = 0; round < Amount.of(10_000, 1_000); round++) {
            BufferPool pool = session.pool("pool", options);
            List<Piece> pieces = new ArrayList<>();
            for (int i = random.nextInt(5); i > 0; i--) {
                pieces.add(pool.take(1 + random.nextInt(100_000), TIMEOUT));
            }
            if (!pieces.isEmpty() && random.nextBoolean()) {
                Piece twice = pieces.removeFirst();
                twice.release();
                assertThatThrownBy(twice::release).isInstanceOf(IllegalStateException.class);
            }
            if (random.nextBoolean()) {
                pool.close();
                assertThatThrownBy(() -> pool.take(1)).isInstanceOf(ClosedException.class);
            }
            pieces.forEach(Piece::release);
            pool.close();
            assertThat(pool.statistics()).as("seed %d", seed).isEqualTo(new PoolStatistics(0, 0, 0, 0));
        }
        assertThat(PrivateMemory.bytes()).isEqualTo(before);
    }
}
