package io.rdmacomm.mesh;

import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.Session;
import io.rdmacomm.mesh.collective.CollectiveGroup;
import io.rdmacomm.verbs.RdmaException;

/// The channels of a mesh that are reserved for collectives.
final class MeshGroup implements CollectiveGroup {
    private final Mesh mesh;
    private final Nodes nodes;

    MeshGroup(Mesh mesh, Nodes nodes) {
        this.mesh = mesh;
        this.nodes = nodes;
    }

    @Override
    public int rank() {
        return mesh.rank();
    }

    @Override
    public int size() {
        return mesh.size();
    }

    @Override
    public RdmaChannel channel(int peer) {
        return mesh.node(peer).collectiveChannel();
    }

    @Override
    public Session session() {
        return mesh.session();
    }

    @Override
    public void checkOpen() {
        mesh.checkOpen();
    }

    /// A failed node ends the mesh, but its connection may end before the listener is called.
    @Override
    public RdmaException gone(int peer) {
        nodes.noteFailures();
        mesh.checkOpen();
        return new ClosedException("rank " + peer + " has left the mesh while this rank waits for it", null);
    }

    @Override
    public boolean isKnownToAll(Throwable failure) {
        return failure instanceof NodeFailedException;
    }
}
