package io.rdmacomm.nio.rsocket;

/// Notified when a connection may be readable or writable, or has ended. Called by the thread that has noticed it,
/// with locks held, so it must not block.
@FunctionalInterface
public interface Readiness {
    /// Bytes can be read, or the stream has ended.
    int READ = 1;
    /// Bytes can be written, or writing fails.
    int WRITE = 2;
    /// Bytes can be placed in memory that the peer has mapped, or that fails.
    int PLACE = 4;

    /// Something has changed.
    void changed();
}
