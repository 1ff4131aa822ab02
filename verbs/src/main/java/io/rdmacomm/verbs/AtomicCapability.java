package io.rdmacomm.verbs;

/// With what remote atomics are atomic (`enum ibv_atomic_cap`, ibv_query_device(3)).
public enum AtomicCapability {
    /// There are no remote atomics.
    NONE(0),
    /// With the other atomics of the same device.
    DEVICE(1),
    /// With those of every device and of the processor.
    GLOBAL(2),
    /// A number that this list does not know.
    UNKNOWN(-1);

    private static final AtomicCapability[] VALUES = values();

    private final int code;

    AtomicCapability(int code) {
        this.code = code;
    }

    /// The number that C programs see.
    public int code() {
        return code;
    }

    /// The constant of `code`, or [#UNKNOWN].
    public static AtomicCapability of(int code) {
        for (AtomicCapability value : VALUES) {
            if (value.code == code) {
                return value;
            }
        }
        return UNKNOWN;
    }
}
