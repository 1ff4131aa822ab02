package io.rdmacomm.verbs;

import java.util.List;

/// Chooses an entry of a GID table. RoCE version 2 entries come first, in this order: the wanted address, an IPv4
/// address, a routable address, any other. Without one of these, it is the first entry. The first of equals wins.
final class GidChoice {
    private GidChoice() {}

    /// @param wanted an address, or [Gid#NONE]
    static int choose(List<GidEntry> table, Gid wanted) {
        int best = 0;
        int bestRank = 0;
        for (GidEntry entry : table) {
            int rank = entry.type() == GidType.ROCE_V2 ? rank(entry.gid(), wanted) : 0;
            if (rank > bestRank) {
                best = entry.index();
                bestRank = rank;
            }
        }
        return best;
    }

    private static int rank(Gid gid, Gid wanted) {
        if (gid.equals(wanted)) {
            return 4;
        }
        if (gid.high() == 0 && gid.low() >>> 32 == 0xffff) {
            return 3;
        }
        boolean linkLocal = gid.high() >>> 54 == 0xfe80 >>> 6;
        return linkLocal ? 1 : 2;
    }
}
