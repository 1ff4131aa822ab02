package io.rdmacomm.mesh.collective;

import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.Session;
import io.rdmacomm.verbs.RdmaException;

/// The ranks that collectives connect, and a channel to each of them. A mesh is such a group, see
/// [io.rdmacomm.mesh.Mesh#collectives()]; programs do not need to implement it. The methods do not block.
public interface CollectiveGroup {
    /// The rank of this node.
    int rank();

    /// The number of ranks.
    int size();

    /// The channel to `peer`, used only by the collectives.
    RdmaChannel channel(int peer);

    /// The session that all channels share.
    Session session();

    /// Throws if the group is closed or a node has failed.
    void checkOpen();

    /// The failure to report when the channel to `peer` has ended.
    RdmaException gone(int peer);

    /// Whether all ranks learn of a failure without a message from the collectives.
    boolean isKnownToAll(Throwable failure);
}
