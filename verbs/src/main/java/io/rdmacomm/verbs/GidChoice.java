package io.rdmacomm.verbs;

import java.util.List;

/// Chooses an entry of a GID table. RoCE version 2 entries come first, in this order: the wanted address, an IPv4
/// address, a routable address, any other. Without any of these, it is the entry of the port under the wanted
/// address, or else the first entry. If entries are equal, the first wins. If several have the wanted address, the
/// one of the same interface wins: an interface and its VLANs have the same link-local address.
final class GidChoice {
    private static final int WANTED = 4;

    private GidChoice() {}

    static int choose(List<GidEntry> table, LocalGids wanted) {
        int best = 0;
        int bestRank = 0;
        for (GidEntry entry : table) {
            int rank = entry.type() == GidType.ROCE_V2 ? rank(entry, wanted) : wanted.isUnder(entry) ? 1 : 0;
            if (rank > bestRank) {
                best = entry.index();
                bestRank = rank;
            }
        }
        return best;
    }

    private static int rank(GidEntry entry, LocalGids wanted) {
        Gid gid = entry.gid();
        if (gid.equals(wanted.routed())) {
            return wanted.isOnInterface(entry) ? WANTED + 1 : WANTED;
        }
        if (gid.isIpv4()) {
            return 3;
        }
        boolean linkLocal = gid.high() >>> 54 == 0xfe80 >>> 6;
        return linkLocal ? 1 : 2;
    }
}
