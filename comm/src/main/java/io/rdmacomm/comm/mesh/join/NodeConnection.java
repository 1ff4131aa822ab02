package io.rdmacomm.comm.mesh.join;

import io.rdmacomm.comm.setup.FrameType;
import java.nio.ByteBuffer;

/// The connection of a node to the rendezvous. Its methods do nothing if the node is gone.
interface NodeConnection {
    /// Sends a frame.
    void send(FrameType type, ByteBuffer payload);

    /// Sends the reason why it is turned away.
    void refuse(String why);
}
