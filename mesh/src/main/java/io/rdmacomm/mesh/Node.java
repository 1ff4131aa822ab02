package io.rdmacomm.mesh;

import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.RdmaChannel;
import java.util.Objects;

/// Another node of a [Mesh], and the connection to it. Immutable.
public final class Node {
    private final int rank;
    private final String host;
    private final EndPoint endPoint;

    /// @param host the address of its host
    /// @param endPoint the connection; its last data channel belongs to the mesh
    Node(int rank, String host, EndPoint endPoint) {
        this.rank = rank;
        this.host = host;
        this.endPoint = endPoint;
    }

    /// Its number in the mesh.
    public int rank() {
        return rank;
    }

    /// Its name: its rank, after the name of its session options if they have one.
    public String name() {
        return endPoint.peerName();
    }

    /// The address of its host, as seen from this one.
    public String host() {
        return host;
    }

    /// The connection to it. The last of its data channels belongs to the mesh.
    public EndPoint endPoint() {
        return endPoint;
    }

    /// The first data channel, see [#channel(int)].
    public RdmaChannel channel() {
        return channel(0);
    }

    /// Data channel `index`, counted from 0; there are as many as the session options say.
    ///
    /// @throws IndexOutOfBoundsException if there is no such channel
    public RdmaChannel channel(int index) {
        return endPoint.channel(Objects.checkIndex(index, endPoint.channels().size() - 1));
    }

    /// The data channel that belongs to the mesh.
    RdmaChannel collectiveChannel() {
        return endPoint.channels().getLast();
    }

    @Override
    public String toString() {
        return name() + " on " + host;
    }
}
