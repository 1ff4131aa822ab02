package io.rdmacomm.examples;

import io.rdmacomm.comm.BufferPool;
import io.rdmacomm.comm.Lease;
import io.rdmacomm.comm.Piece;
import io.rdmacomm.comm.PoolOptions;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.Session;
import io.rdmacomm.comm.statistics.PoolStatistics;
import io.rdmacomm.verbs.AccessFlag;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The values of a [BlockServer], in memory that clients READ. If there are too many, the one that nobody has asked
/// for the longest time is evicted. Thread-safe.
final class BlockIndex {
    /// How long clients may read a value without asking again.
    static final Duration TERM = Duration.ofMillis(500);

    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final MemorySegment ABSENT = MemorySegment.ofArray(new byte[0]);

    private final BufferPool pool;
    private final long most;
    // In the order of the last questions.
    private final LinkedHashMap<String, Value> values = new LinkedHashMap<>(1024, 0.75f, true);

    private record Value(Piece piece, MemorySegment answer) {}

    /// @param limit of the memory for values, in bytes
    BlockIndex(Session session, long limit) {
        Set<AccessFlag> access = Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
        pool = session.pool("values", PoolOptions.of(limit), access);
        // The rest is for values that were taken back and may still be read.
        most = limit / BlockServer.LONGEST * 3 / 4;
    }

    /// What a client needs to READ the value of a key: its address, the key of the memory, and its length. Empty if
    /// there is none.
    synchronized MemorySegment answer(String key) {
        Value value = values.get(key);
        return value == null ? ABSENT : value.answer();
    }

    /// Stores a copy of `content`. Blocks while all free memory may still be read.
    ///
    /// @throws io.rdmacomm.verbs.DeadlineException if there is none in time
    void put(String key, MemorySegment content) {
        // All pieces have one length: between pieces of several lengths there could be gaps that fit none.
        Piece piece = pool.take(BlockServer.LONGEST, PATIENCE);
        MemorySegment.copy(content, 0, piece.segment(), 0, content.byteSize());
        RemoteBuffer remote = piece.asRemote();
        ByteBuffer answer = ByteBuffer.allocate(16);
        answer.putLong(remote.address()).putInt(remote.key()).putInt((int) content.byteSize());
        insert(key, new Value(piece, MemorySegment.ofArray(answer.array())));
    }

    private synchronized void insert(String key, Value value) {
        takeBack(values.put(key, value));
        if (values.size() > most) {
            takeBack(values.pollFirstEntry().getValue());
        }
    }

    /// The index does not have the value any more, so no further answer names its memory.
    private static void takeBack(@Nullable Value value) {
        if (value != null) {
            value.piece().releaseAfter(Lease.grace(TERM));
        }
    }

    PoolStatistics statistics() {
        return pool.statistics();
    }
}
