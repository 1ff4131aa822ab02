package io.rdmacomm.comm.mesh.join;

import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/// The nodes of a mesh that [Joining] fills. Thread-safe.
public interface NodeList {
    /// Adds a connected node.
    ///
    /// @param host the address of its host
    /// @return false if there is one of that rank, or the mesh has ended
    boolean add(int rank, String host, EndPoint endPoint);

    /// Notes that all nodes are connected with each other.
    void allReady();

    /// Notes that the mesh will not be complete.
    void joinFailed(RdmaException why);

    /// Why joining has failed, or null.
    @Nullable
    RdmaException joinFailure();

    /// Waits until all nodes are connected with this one.
    ///
    /// @param deadline of [System#nanoTime()]
    void awaitConnected(long deadline);

    /// Waits until all nodes are connected with each other.
    ///
    /// @param deadline of [System#nanoTime()]
    void awaitReady(long deadline);

    /// A connection has ended. If it is that of a node and the first one to fail, the mesh has failed.
    ///
    /// @param why null if it has not failed
    /// @return whether it is that of a node
    boolean ended(EndPoint endPoint, @Nullable RdmaException why);

    /// Ends the list: after this, the end of a connection is not a failure.
    void close();
}
