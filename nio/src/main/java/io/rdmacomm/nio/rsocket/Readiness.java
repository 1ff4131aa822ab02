package io.rdmacomm.nio.rsocket;

/// Hears that a connection may be readable or writable, or has ended. Called by the thread that has found out,
/// with locks held: it must not block.
@FunctionalInterface
public interface Readiness {
    /// Something has changed.
    void changed();
}
