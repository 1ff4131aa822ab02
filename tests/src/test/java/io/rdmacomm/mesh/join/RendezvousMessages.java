package io.rdmacomm.mesh.join;

import java.nio.ByteBuffer;

/// The decoders of the rendezvous, for a fuzzer.
public final class RendezvousMessages {
    private static final int VERSION = 4;
    private static final long FEATURES = 5;

    private RendezvousMessages() {}

    /// Whether a registration comes back as it is.
    ///
    /// @throws IllegalArgumentException if it is none
    public static boolean registration(ByteBuffer message) {
        NodeRegistration node = NodeRegistration.decode(message);
        return node.equals(NodeRegistration.decode(node.encode()));
    }

    /// Whether a table comes back as it is.
    ///
    /// @throws IllegalArgumentException if it is none
    public static boolean table(ByteBuffer message, int size) {
        NodeTable table = NodeTable.decode(message, size, VERSION, FEATURES);
        return table.equals(NodeTable.decode(table.encode(), size, VERSION, FEATURES));
    }
}
