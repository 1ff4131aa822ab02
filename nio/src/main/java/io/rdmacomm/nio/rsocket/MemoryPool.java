package io.rdmacomm.nio.rsocket;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.service.SafeLogger;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The memory of the connections of a device, up to a limit: a region for each piece, which only its connection
/// uses.
///
/// On the software device, the pieces are parts of chunks. A peer maps a chunk once, so a connection needs no file and
/// no mapping of its own at either end. Adapters map nothing, and count each registration against the limit of locked
/// memory, so there each piece has its own memory. Thread-safe.
final class MemoryPool {
    private static final SafeLogger LOGGER = SafeLogger.of(MemoryPool.class);
    private static final Set<AccessFlag> RIGHTS = EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
    private static final int UNIT = 1 << 14;
    private static final long LEAST_CHUNK = 1 << 20;
    private static final long MOST_CHUNK = 1 << 22;
    /// Unused memory that is kept for the next connections: for about 60.
    private static final long MOST_UNUSED = 1 << 24;

    /// Has the chunks; null if there are none.
    private final @Nullable ProtectionDomain owner;
    private final List<Chunk> chunks = new ArrayList<>();
    private final MemoryBudget budget;

    /// @param shared whether peers map the memory
    MemoryPool(Context context, boolean shared, MemoryBudget budget) {
        this.owner = shared ? context.allocateProtectionDomain() : null;
        this.budget = budget;
    }

    /// The most bytes that all pieces may have.
    long limit() {
        return budget.limit();
    }

    /// Allocates registered memory that contains zeros.
    ///
    /// @throws VerbException ENOBUFS beyond the limit, ENOMEM if the device or the system has no room
    Piece allocate(ProtectionDomain domain, long bytes) {
        budget.take(bytes);
        return taken(domain, bytes);
    }

    /// Allocates memory that a connection can do without.
    ///
    /// @return null if there is not enough for new connections then
    /// @throws VerbException ENOMEM if the device or the system has no room
    @Nullable
    Piece allocateSpare(ProtectionDomain domain, long bytes) {
        return budget.takeSpare(bytes) ? taken(domain, bytes) : null;
    }

    private Piece taken(ProtectionDomain domain, long bytes) {
        boolean done = false;
        try {
            Piece piece = register(domain, bytes);
            done = true;
            return piece;
        } finally {
            if (!done) {
                budget.giveBack(bytes);
            }
        }
    }

    private Piece register(ProtectionDomain domain, long bytes) {
        Place place = owner == null || bytes > LEAST_CHUNK / 2 ? null : place(owner, bytes);
        if (place == null) {
            return new Piece(domain.allocate(bytes, RIGHTS), null);
        }
        MemoryRegion region = null;
        try {
            MemorySegment memory = place.chunk.region.segment().asSlice((long) place.unit * UNIT, bytes);
            // A peer that announces bytes without writing them must not make the program read those of an earlier
            // connection, and a grant that an earlier one has left must not be taken for one of this peer.
            memory.fill((byte) 0);
            region = domain.register(memory, RIGHTS);
            return new Piece(region, place);
        } finally {
            if (region == null) {
                end(place, true);
            }
        }
    }

    private synchronized @Nullable Place place(ProtectionDomain domain, long bytes) {
        int units = Math.toIntExact((bytes + UNIT - 1) / UNIT);
        for (Chunk chunk : chunks) {
            Place place = chunk.place(units);
            if (place != null) {
                return place;
            }
        }
        try {
            long size = Math.clamp(bytes(chunks.stream()), LEAST_CHUNK, MOST_CHUNK);
            chunks.add(new Chunk(domain.allocate(size, EnumSet.noneOf(AccessFlag.class))));
        } catch (VerbException e) {
            LOGGER.log(Level.DEBUG, "no memory for more connections than this one", e);
            return null;
        }
        return chunks.getLast().place(units);
    }

    private static long bytes(Stream<Chunk> all) {
        return all.mapToLong(chunk -> chunk.region.length()).sum();
    }

    /// A connection no longer has a place.
    ///
    /// @param free whether others may have it. If a peer that was stopped may still write to it, nobody gets it
    ///     again, and its chunk goes with its other places.
    private void end(Place place, boolean free) {
        MemoryRegion spare;
        synchronized (this) {
            if (free) {
                place.free();
            } else {
                place.lose();
            }
            spare = removeIfSpare(place.chunk);
        }
        if (spare != null) {
            spare.close();
        }
    }

    private @Nullable MemoryRegion removeIfSpare(Chunk chunk) {
        if (!chunk.isUnused()
                || (chunk.lost.isEmpty() && bytes(chunks.stream().filter(Chunk::isUnused)) <= MOST_UNUSED)) {
            return null;
        }
        chunks.remove(chunk);
        return chunk.region;
    }

    /// Memory for many connections.
    ///
    /// @param used the units that connections have or have lost
    /// @param lost the units that nobody may use any more
    private record Chunk(MemoryRegion region, BitSet used, BitSet lost) {
        Chunk(MemoryRegion region) {
            this(region, new BitSet(), new BitSet());
        }

        /// Takes units in a row; null if there are not so many.
        @Nullable
        Place place(int units) {
            int first = used.nextClearBit(0);
            int next = used.nextSetBit(first);
            while (next >= 0 && next - first < units) {
                first = used.nextClearBit(next);
                next = used.nextSetBit(first);
            }
            if ((first + units) * (long) UNIT > region.length()) {
                return null;
            }
            used.set(first, first + units);
            return new Place(this, first, units);
        }

        boolean isUnused() {
            return used.equals(lost);
        }
    }

    /// Some units of a chunk.
    private record Place(Chunk chunk, int unit, int units) {
        void free() {
            chunk.used.clear(unit, unit + units);
        }

        void lose() {
            chunk.lost.set(unit, unit + units);
        }
    }

    /// The memory of one connection, or a part of it.
    final class Piece implements AutoCloseable {
        private final MemoryRegion region;
        private final @Nullable Place place;

        private Piece(MemoryRegion region, @Nullable Place place) {
            this.region = region;
            this.place = place;
        }

        /// The region.
        MemoryRegion region() {
            return region;
        }

        /// Deregisters the memory. No other connection gets it if a peer may still write to it.
        @Override
        public void close() {
            long bytes = region.length();
            try {
                if (place == null) {
                    region.close();
                } else {
                    closePart(place);
                }
            } finally {
                budget.giveBack(bytes);
            }
        }

        private void closePart(Place part) {
            boolean free = false;
            try {
                region.close();
                free = true;
            } catch (VerbException e) {
                LOGGER.log(Level.DEBUG, "the memory of a connection is not used again", e);
            } finally {
                end(part, free);
            }
        }
    }
}
