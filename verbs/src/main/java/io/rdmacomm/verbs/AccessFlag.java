package io.rdmacomm.verbs;

import java.util.Collection;
import java.util.EnumSet;
import java.util.Set;

/// A right to use a memory region, a memory window, or memory through a queue pair (`enum ibv_access_flags`,
/// ibv_reg_mr(3)).
///
/// Local reads are always allowed. A region registered with [#REMOTE_WRITE] or [#REMOTE_ATOMIC] also needs
/// [#LOCAL_WRITE].
public enum AccessFlag {
    /// The local device may write to the memory: received messages, READ data, atomic results.
    LOCAL_WRITE(1),
    /// The peer may WRITE.
    REMOTE_WRITE(1 << 1),
    /// The peer may READ.
    REMOTE_READ(1 << 2),
    /// The peer may execute compare-and-swap and fetch-and-add.
    REMOTE_ATOMIC(1 << 3),
    /// Memory windows may be bound to the region.
    WINDOW_BIND(1 << 4),
    /// Remote addresses start at zero instead of at the memory's address.
    ZERO_BASED(1 << 5),
    /// A property of memory, not a right: the device does not pin it, and looks up its pages when it uses
    /// them (IBV_ACCESS_ON_DEMAND). The system may move and swap it, and the first access to a page takes
    /// longer. Needs [Capability#ON_DEMAND_PAGING]; [DeviceLimit#ODP_RELIABLE] and its neighbors list the
    /// operations.
    ON_DEMAND(1 << 6),
    /// A hint, not a right: the device may write arriving data to the memory in any order
    /// (IBV_ACCESS_RELAXED_ORDERING), which makes some hosts much faster. A completion still means that all
    /// its data, and that of earlier messages, has arrived. But a program must not watch the memory itself:
    /// the last bytes of a WRITE may appear before the first ones. Two WRITEs in flight to the same place
    /// leave any mixture of both. A device without [Capability#RELAXED_ORDERING] ignores the hint.
    RELAXED_ORDERING(1 << 20),
    /// A peer on this host may map the memory of the region ([QueuePair#directView]). Needs [#REMOTE_READ]; with
    /// [#REMOTE_WRITE] the peer may also change the memory. Not in C: only the software device knows it, and all
    /// others ignore it.
    ///
    /// The rights are checked when the peer maps the memory, and not at each access. So a mapping outlives the
    /// key, and the region, until the peer closes its queue pair or ends.
    DIRECT_VIEW(1 << 29);

    /// The flags of memory regions only.
    private static final Set<AccessFlag> ABOUT_MEMORY = Set.of(ON_DEMAND, RELAXED_ORDERING, DIRECT_VIEW);

    private static final AccessFlag[] VALUES = values();

    private final int bit;

    AccessFlag(int bit) {
        this.bit = bit;
    }

    /// The bit in the C API.
    public int bit() {
        return bit;
    }

    /// Whether `mask` contains this right.
    public boolean in(int mask) {
        return (mask & bit) != 0;
    }

    /// The bits of `flags` as a mask.
    public static int mask(Collection<AccessFlag> flags) {
        int mask = 0;
        for (AccessFlag flag : flags) {
            mask |= flag.bit;
        }
        return mask;
    }

    /// The bits of `rights` that a queue pair or a memory window grants to a peer.
    ///
    /// @throws IllegalArgumentException if one of them is possible for memory regions only
    static int grantedBy(String holder, Collection<AccessFlag> rights) {
        for (AccessFlag right : rights) {
            if (ABOUT_MEMORY.contains(right)) {
                throw new IllegalArgumentException(
                        right + " is for registering memory, not for a " + holder + "; leave it out there");
            }
        }
        return mask(rights);
    }

    /// The rights in `mask`, without unknown bits.
    public static Set<AccessFlag> of(int mask) {
        Set<AccessFlag> flags = EnumSet.noneOf(AccessFlag.class);
        for (AccessFlag flag : VALUES) {
            if (flag.in(mask)) {
                flags.add(flag);
            }
        }
        return flags;
    }

    /// Every right that a peer can have, and the local write that they require.
    public static Set<AccessFlag> allRemote() {
        return EnumSet.of(LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC);
    }
}
