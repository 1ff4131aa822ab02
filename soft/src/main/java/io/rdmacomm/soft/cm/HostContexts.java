package io.rdmacomm.soft.cm;

import io.rdmacomm.soft.iwarp.QueuePairAddress;
import java.util.UUID;

/// The contexts of this host, as the connection manager of one of them sees them. Thread-safe.
public interface HostContexts {
    /// Identifies this side's context; [io.rdmacomm.soft.iwarp.PeerHandshake#NO_HOST] if it does not use shared
    /// memory.
    UUID identity();

    /// Whether this side reaches the memory of a peer's context, and `identity` is the number in it.
    ///
    /// @param peer the peer's queue pair
    boolean reaches(QueuePairAddress peer, UUID identity);
}
