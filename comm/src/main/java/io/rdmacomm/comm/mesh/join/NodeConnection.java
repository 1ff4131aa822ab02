package io.rdmacomm.comm.mesh.join;

import io.rdmacomm.comm.setup.FrameType;
import java.nio.ByteBuffer;

/// The way back to a node that has come to the rendezvous. Nothing happens if it is gone.
interface NodeConnection {
    /// Sends a frame.
    void send(FrameType type, ByteBuffer payload);

    /// Says why it is turned away.
    void refuse(String why);
}
