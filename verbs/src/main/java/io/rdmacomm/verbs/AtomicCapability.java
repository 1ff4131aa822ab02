package io.rdmacomm.verbs;

/// The scope in which remote atomics are atomic (`enum ibv_atomic_cap`, ibv_query_device(3)).
public enum AtomicCapability {
    /// Remote atomics are not supported.
    NONE(0),
    /// Atomic with respect to other remote atomics of the same device.
    DEVICE(1),
    /// Atomic with respect to every device and the CPU.
    GLOBAL(2),
    /// A code that this version does not know.
    UNKNOWN(-1);

    private static final AtomicCapability[] VALUES = values();

    private final int code;

    AtomicCapability(int code) {
        this.code = code;
    }

    /// The value in the C API.
    public int code() {
        return code;
    }

    /// The constant with this code, or [#UNKNOWN].
    public static AtomicCapability of(int code) {
        return Codes.find(VALUES, AtomicCapability::code, code, UNKNOWN);
    }
}
