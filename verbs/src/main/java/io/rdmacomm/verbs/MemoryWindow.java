package io.rdmacomm.verbs;

/// Remote access to part of a memory region, granted and revoked without registration (`struct ibv_mw`,
/// ibv_alloc_mw(3)). Thread-safe.
public abstract class MemoryWindow extends Resource {
    private final ProtectionDomain protectionDomain;
    private final MemoryWindowType type;

    /// For providers.
    protected MemoryWindow(ProtectionDomain protectionDomain, MemoryWindowType type) {
        super(protectionDomain);
        this.protectionDomain = protectionDomain;
        this.type = type;
    }

    /// The protection domain that it was allocated in.
    public final ProtectionDomain protectionDomain() {
        return protectionDomain;
    }

    /// Its type, which determines how it is bound.
    public final MemoryWindowType type() {
        return type;
    }

    /// The key that a peer needs; each binding changes it.
    public abstract int remoteKey();

    /// The provider's handle: the address of the C struct if there is one.
    public abstract long handle();

    /// The next key for a window of type 2: `key` with its low 8 bits incremented (ibv_inc_rkey(3)).
    public static int nextKey(int key) {
        return (key & ~0xff) | ((key + 1) & 0xff);
    }

    @Override
    public final String toString() {
        return "memory window 0x" + Integer.toHexString(remoteKey()) + " on " + protectionDomain.context();
    }
}
