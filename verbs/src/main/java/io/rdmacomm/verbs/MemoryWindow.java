package io.rdmacomm.verbs;

import io.rdmacomm.verbs.lifetime.Lifetime;
import io.rdmacomm.verbs.spi.MemoryWindowDriver;

/// Remote access to part of a memory region, granted and revoked without registration (`struct ibv_mw`,
/// ibv_alloc_mw(3)). Thread-safe.
public final class MemoryWindow implements Resource {
    private final MemoryWindowType type;
    private final MemoryWindowDriver driver;
    private final Lifetime lifetime;

    /// @param domain the lifetime of its protection domain
    MemoryWindow(Lifetime domain, MemoryWindowType type, MemoryWindowDriver driver) {
        this.type = type;
        this.driver = driver;
        this.lifetime = new Lifetime(this, domain, driver);
    }

    /// Its type, which determines how it is bound.
    public MemoryWindowType type() {
        return type;
    }

    /// The key that a peer needs; each binding changes it.
    public int remoteKey() {
        return driver.remoteKey();
    }

    /// The next key for a window of type 2: `key` with its low 8 bits incremented (ibv_inc_rkey(3)).
    public static int nextKey(int key) {
        return (key & ~0xff) | ((key + 1) & 0xff);
    }

    MemoryWindowDriver driver() {
        return driver;
    }

    Lifetime lifetime() {
        return lifetime;
    }

    @Override
    public boolean isOpen() {
        return lifetime.isOpen();
    }

    @Override
    public void close() {
        lifetime.close();
    }

    @Override
    public String toString() {
        return driver.toString();
    }
}
