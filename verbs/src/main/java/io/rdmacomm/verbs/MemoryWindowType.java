package io.rdmacomm.verbs;

/// The kind of a memory window (`enum ibv_mw_type`, ibv_alloc_mw(3)).
public enum MemoryWindowType {
    /// Bound with [QueuePair#bind]. Valid on every queue pair of the protection domain, and can be bound again.
    TYPE_1(1),
    /// Bound to one queue pair with a work request and a key that the user chooses. Must be invalidated before it
    /// is bound again.
    TYPE_2(2);

    private final int code;

    MemoryWindowType(int code) {
        this.code = code;
    }

    /// The value in the C API.
    public int code() {
        return code;
    }
}
