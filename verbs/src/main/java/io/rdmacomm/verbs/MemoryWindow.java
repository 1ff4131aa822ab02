package io.rdmacomm.verbs;

/// A right to a part of a memory region that is given and taken back without registering (`struct ibv_mw`,
/// ibv_alloc_mw(3)). Usable from any thread.
public abstract class MemoryWindow extends Resource {
    private final ProtectionDomain protectionDomain;
    private final MemoryWindowType type;

    /// For providers.
    protected MemoryWindow(ProtectionDomain protectionDomain, MemoryWindowType type) {
        super(protectionDomain);
        this.protectionDomain = protectionDomain;
        this.type = type;
    }

    /// The protection domain it was allocated in.
    public final ProtectionDomain protectionDomain() {
        return protectionDomain;
    }

    /// How it is bound.
    public final MemoryWindowType type() {
        return type;
    }

    /// The key that a peer needs; it changes with each binding.
    public abstract int remoteKey();

    /// The provider's handle; the address of the C struct where there is one.
    public abstract long handle();

    /// The key to bind a window of type 2 with next: the low 8 bits of `key`, plus one (ibv_inc_rkey(3)).
    public static int nextKey(int key) {
        return (key & ~0xff) | ((key + 1) & 0xff);
    }

    @Override
    public final String toString() {
        return "memory window 0x" + Integer.toHexString(remoteKey()) + " on " + protectionDomain.context();
    }
}
