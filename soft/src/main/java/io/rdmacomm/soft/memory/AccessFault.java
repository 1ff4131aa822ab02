package io.rdmacomm.soft.memory;

/// Why a peer may not access the memory that it named.
public enum AccessFault {
    /// There is no such key.
    INVALID_KEY,
    /// The range is not inside the memory.
    OUT_OF_BOUNDS,
    /// The memory does not have the right.
    MISSING_RIGHT,
    /// The memory belongs to another protection domain, or a window to another queue pair.
    OTHER_DOMAIN
}
