package io.rdmacomm.comm.mesh.join;

import io.rdmacomm.comm.setup.FrameType;
import io.rdmacomm.comm.setup.SetupException;
import io.rdmacomm.comm.setup.TcpConnector;
import java.nio.ByteBuffer;

/// The connection of a node to the rendezvous. Its methods do nothing if the node is gone.
final class NodeConnection {
    private final TcpConnector connection;

    NodeConnection(TcpConnector connection) {
        this.connection = connection;
    }

    /// Sends a frame.
    void send(FrameType type, ByteBuffer payload) {
        try {
            connection.send(type, payload);
        } catch (SetupException e) {
            // The thread that reads from the connection also notices it.
        }
    }

    /// Sends the reason why the node is rejected.
    void refuse(String why) {
        connection.refuse(why);
    }
}
