package io.rdmacomm.soft;

import io.rdmacomm.soft.cm.HostContexts;
import io.rdmacomm.soft.iwarp.PeerHandshake;
import io.rdmacomm.soft.iwarp.QueuePairAddress;
import java.util.UUID;

/// The contexts of this host, as one context sees them.
record NeighbourContexts(SoftContext context) implements HostContexts {
    @Override
    public UUID identity() {
        return context.sharesMemory() ? context.control().identity() : PeerHandshake.NO_HOST;
    }

    @Override
    public boolean reaches(QueuePairAddress peer, UUID identity) {
        return context.sharesMemory() && context.sharedMemory().reaches(peer.gid(), peer.lid(), identity);
    }
}
