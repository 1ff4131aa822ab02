package io.rdmacomm.comm.mesh.join;

import io.rdmacomm.comm.setup.Greeting;
import io.rdmacomm.comm.setup.Protocol;
import java.nio.ByteBuffer;

/// The decoders of the rendezvous, for a fuzzer.
public final class RendezvousFrames {
    private static final Greeting OWN = new Greeting(Protocol.MESH, 2, 4, 5);

    private RendezvousFrames() {}

    /// Whether a registration comes back as it is.
    ///
    /// @throws IllegalArgumentException if it is none
    public static boolean registration(ByteBuffer payload) {
        NodeRegistration node = NodeRegistration.decode(payload);
        return node.equals(NodeRegistration.decode(node.encode()));
    }

    /// Whether a table comes back as it is.
    ///
    /// @throws IllegalArgumentException if it is none
    public static boolean table(ByteBuffer payload, int size) {
        NodeTable table = NodeTable.decode(payload, size, OWN);
        return table.equals(NodeTable.decode(table.encode(), size, OWN));
    }
}
