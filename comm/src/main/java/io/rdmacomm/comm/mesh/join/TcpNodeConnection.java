package io.rdmacomm.comm.mesh.join;

import io.rdmacomm.comm.setup.FrameType;
import io.rdmacomm.comm.setup.SetUpException;
import io.rdmacomm.comm.setup.TcpConnector;
import java.nio.ByteBuffer;

/// The connection of a node over TCP.
record TcpNodeConnection(TcpConnector connection) implements NodeConnection {
    @Override
    public void send(FrameType type, ByteBuffer payload) {
        try {
            connection.send(type, payload);
        } catch (SetUpException e) {
            // The thread that reads from the connection notices it, too.
        }
    }

    @Override
    public void refuse(String why) {
        connection.refuse(why);
    }
}
