package io.rdmacomm.mesh.join;

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

    /// The reason why joining has failed, or null.
    @Nullable
    RdmaException joinFailure();

    /// Waits until all nodes are connected with this one.
    ///
    /// @param deadline a [System#nanoTime()]
    void awaitConnected(long deadline);

    /// Waits until all nodes are connected with each other.
    ///
    /// @param deadline a [System#nanoTime()]
    void awaitReady(long deadline);

    /// Handles the end of a connection. If it is the first one of a node to fail, the mesh has failed.
    ///
    /// @param why null if it has not failed
    /// @return whether it is the connection of a node
    boolean ended(EndPoint endPoint, @Nullable RdmaException why);

    /// Ends the list: after this, the end of a connection is not a failure.
    void close();
}
