package io.rdmacomm.mesh.collective;

import org.jspecify.annotations.Nullable;

/// One call of a collective as notices carry it: two numbers that must be the same on all ranks.
///
/// ```
///  63              40       32          24          16       8       0
/// +------------------+--------+-----------+-----------+-------+-------+
/// | root             | form   | algorithm | reduction | type  | kind  |
/// +------------------+--------+-----------+-----------+-------+-------+
/// ```
///
/// @param sequence the number of the call, counted from 0
/// @param count elements of the longer side
/// @param code all other arguments
record CollectiveCall(long sequence, long count, long code) {
    private static final CollectiveKind[] KINDS = CollectiveKind.values();
    private static final ElementType[] TYPES = ElementType.values();
    private static final Reduction[] REDUCTIONS = Reduction.values();
    private static final Algorithm[] ALGORITHMS = Algorithm.values();
    private static final int MOST_ROOT = (1 << 24) - 1;

    /// Data travels through slots and messages only.
    private static final long STAGED = 1;
    /// Data is written into the buffers of the call.
    private static final long DIRECT = 2;

    /// The code of a call.
    ///
    /// @param registered whether the data is in mesh buffers
    static long code(
            CollectiveKind kind,
            ElementType type,
            @Nullable Reduction reduction,
            Algorithm algorithm,
            boolean registered,
            int root) {
        return kind.code()
                | (long) type.code() << 8
                | (reduction == null ? 0L : (long) reduction.code() << 16)
                | (long) algorithm.code() << 24
                | (registered ? DIRECT : STAGED) << 32
                | (long) (root & MOST_ROOT) << 40;
    }

    /// The call in words. The numbers may come from a peer, so they may be invalid.
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(kind());
        text.append(" of ").append(count).append(' ').append(type());
        String reduction = reduction();
        if (!reduction.isEmpty()) {
            text.append(" (").append(reduction).append(')');
        }
        int root = (int) (code >>> 40);
        if (root > 0 || field(0) == CollectiveKind.BROADCAST.code() || field(0) == CollectiveKind.REDUCE.code()) {
            text.append(" with root ").append(root);
        }
        text.append(field(32) == DIRECT ? " in mesh buffers" : " in other memory");
        return text.append(" by ").append(algorithm()).toString();
    }

    private String kind() {
        for (CollectiveKind kind : KINDS) {
            if (kind.code() == field(0)) {
                return kind.label();
            }
        }
        return "unknown collective " + field(0);
    }

    private String type() {
        for (ElementType type : TYPES) {
            if (type.code() == field(8)) {
                return type.name();
            }
        }
        return "unknown type " + field(8);
    }

    private String reduction() {
        for (Reduction reduction : REDUCTIONS) {
            if (reduction.code() == field(16)) {
                return reduction.name();
            }
        }
        return field(16) == 0 ? "" : "unknown reduction " + field(16);
    }

    private String algorithm() {
        for (Algorithm algorithm : ALGORITHMS) {
            if (algorithm.code() == field(24)) {
                return algorithm.label();
            }
        }
        return "unknown algorithm " + field(24);
    }

    private int field(int shift) {
        return (int) (code >>> shift & 0xff);
    }
}
