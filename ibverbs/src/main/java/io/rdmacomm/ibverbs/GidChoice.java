package io.rdmacomm.ibverbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.ibverbs.ffm.LibIbverbs;
import io.rdmacomm.ibverbs.ffm.PortAttributesLayout;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.LinkLayer;
import io.rdmacomm.verbs.PortAttributes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;

/// Chooses an entry of a GID table (ibv_query_gid_ex(3)): of RoCE version 2 with the wanted address, else with an
/// IPv4 address, else with a routed address, else any of version 2, else the first. The first of equals wins.
final class GidChoice {
    private GidChoice() {}

    /// @param context the address of the context's struct
    /// @param wanted an address, or [Gid#NONE]
    static int choose(LibIbverbs library, long context, int port, PortAttributes attributes, Gid wanted) {
        if (attributes.linkLayer() != LinkLayer.ETHERNET) {
            return 0;
        }
        int best = 0;
        int bestRank = 0;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment entry = arena.allocate(PortAttributesLayout.GID_ENTRY_BYTES, 8);
            for (int index = 0; index < attributes.gidTableLength(); index++) {
                // Holes in the table, and libraries that cannot say, answer with an errno.
                int rank = library.queryGidEntry(context, port, index, entry.address()) == 0 ? rank(entry, wanted) : 0;
                if (rank > bestRank) {
                    best = index;
                    bestRank = rank;
                }
            }
        }
        return best;
    }

    private static int rank(MemorySegment entry, Gid wanted) {
        if (entry.get(JAVA_INT, PortAttributesLayout.GID_ENTRY_TYPE) != PortAttributesLayout.GID_TYPE_ROCE_V2) {
            return 0;
        }
        long high = entry.get(JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN), PortAttributesLayout.GID_ENTRY_GID);
        long low = entry.get(JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN), PortAttributesLayout.GID_ENTRY_GID + 8);
        if (!wanted.equals(Gid.NONE) && wanted.equals(new Gid(high, low))) {
            return 4;
        }
        if (high == 0 && low >>> 32 == 0xffff) {
            return 3;
        }
        boolean linkLocal = high >>> 54 == 0xfe80 >>> 6;
        return linkLocal ? 1 : 2;
    }
}
