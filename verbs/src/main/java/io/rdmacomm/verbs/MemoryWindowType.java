package io.rdmacomm.verbs;

/// The kind of a memory window (`enum ibv_mw_type`, ibv_alloc_mw(3)).
public enum MemoryWindowType {
    /// Bound with [QueuePair#bind], usable by every queue pair of the protection domain, may be bound again.
    TYPE_1(1),
    /// Bound with a work request to one queue pair, with a key that the user chooses; invalidated before it is
    /// bound again.
    TYPE_2(2);

    private final int code;

    MemoryWindowType(int code) {
        this.code = code;
    }

    /// The number that C programs see.
    public int code() {
        return code;
    }
}
