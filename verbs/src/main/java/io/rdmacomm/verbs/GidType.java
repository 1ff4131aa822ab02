package io.rdmacomm.verbs;

/// The protocol that a GID is an address of (`enum ibv_gid_type`).
public enum GidType {
    /// InfiniBand or iWARP.
    INFINIBAND(0),
    /// RoCE version 1: Ethernet frames, not routed.
    ROCE_V1(1),
    /// RoCE version 2: UDP.
    ROCE_V2(2),
    /// Not reported by the device, or a code that this version does not know.
    UNKNOWN(-1);

    private static final GidType[] VALUES = values();

    private final int code;

    GidType(int code) {
        this.code = code;
    }

    /// The value in the C API.
    public int code() {
        return code;
    }

    /// The constant with this code, or [#UNKNOWN].
    public static GidType of(int code) {
        return Codes.find(VALUES, GidType::code, code, UNKNOWN);
    }
}
