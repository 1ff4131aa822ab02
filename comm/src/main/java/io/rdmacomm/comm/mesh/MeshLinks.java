package io.rdmacomm.comm.mesh;

import io.rdmacomm.comm.CommException;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.Session;

/// The part of a mesh that collectives need.
interface MeshLinks {
    /// The rank of this node.
    int rank();

    /// The number of nodes.
    int size();

    /// The channel to `peer` that is reserved for collectives.
    RdmaChannel channel(int peer);

    /// The session that all channels share.
    Session session();

    /// Throws if the mesh is closed or a node has failed.
    void checkOpen();

    /// The failure to report when the channel to `peer` has ended.
    CommException gone(int peer);
}
