package io.rdmacomm.verbs;

import java.util.Collection;
import java.util.EnumSet;
import java.util.Set;

/// What may be done to a memory region, memory window or through a queue pair (`enum ibv_access_flags`,
/// ibv_reg_mr(3)).
///
/// Local reading is always allowed. [#REMOTE_WRITE] and [#REMOTE_ATOMIC] need [#LOCAL_WRITE] at registration.
public enum AccessFlag {
    /// The device may write into the memory for its owner: receives, READ results, atomic results.
    LOCAL_WRITE(1),
    /// The peer may WRITE.
    REMOTE_WRITE(1 << 1),
    /// The peer may READ.
    REMOTE_READ(1 << 2),
    /// The peer may compare-and-swap and fetch-and-add.
    REMOTE_ATOMIC(1 << 3),
    /// Memory windows may be bound to the region.
    WINDOW_BIND(1 << 4),
    /// Remote addresses count from zero instead of from the memory's address.
    ZERO_BASED(1 << 5);

    private static final AccessFlag[] VALUES = values();

    private final int bit;

    AccessFlag(int bit) {
        this.bit = bit;
    }

    /// The bit that C programs see.
    public int bit() {
        return bit;
    }

    /// Whether this right is in `mask`.
    public boolean in(int mask) {
        return (mask & bit) != 0;
    }

    /// The bits of `flags`, or-ed.
    public static int mask(Collection<AccessFlag> flags) {
        int mask = 0;
        for (AccessFlag flag : flags) {
            mask |= flag.bit;
        }
        return mask;
    }

    /// The rights in `mask`; unknown bits are left out.
    public static Set<AccessFlag> of(int mask) {
        Set<AccessFlag> flags = EnumSet.noneOf(AccessFlag.class);
        for (AccessFlag flag : VALUES) {
            if (flag.in(mask)) {
                flags.add(flag);
            }
        }
        return flags;
    }

    /// Everything a peer may be allowed: local write, remote write, read and atomics.
    public static Set<AccessFlag> allRemote() {
        return EnumSet.of(LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC);
    }
}
