package io.rdmacomm.verbs.spi;

/// A memory window ([io.rdmacomm.verbs.MemoryWindow]). Thread-safe.
public interface MemoryWindowDriver extends Driver {
    /// The number by which the provider finds it, as in work requests ([SendRequestLayout#WINDOW]): the
    /// address of the C struct if there is one.
    long handle();

    /// The key that a peer needs; each binding changes it.
    int remoteKey();
}
