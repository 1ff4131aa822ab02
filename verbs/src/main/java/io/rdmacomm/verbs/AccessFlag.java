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
    ZERO_BASED(1 << 5);

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
