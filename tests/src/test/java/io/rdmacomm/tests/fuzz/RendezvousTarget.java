package io.rdmacomm.tests.fuzz;

import io.rdmacomm.mesh.join.RendezvousMessages;
import java.nio.ByteBuffer;

/// What a node and the rendezvous of a mesh send each other, REGISTER and TABLE. The first byte is the size of the mesh
/// that a table is for; with 0 it is a registration.
public final class RendezvousTarget {
    private RendezvousTarget() {}

    /// One message.
    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length == 0) {
            return;
        }
        ByteBuffer message = ByteBuffer.wrap(input, 1, input.length - 1).slice();
        int size = Byte.toUnsignedInt(input[0]);
        try {
            Checks.that(
                    size == 0 ? RendezvousMessages.registration(message) : RendezvousMessages.table(message, size),
                    "it does not come back");
        } catch (IllegalArgumentException e) {
            Checks.that(e.getMessage() != null, "a rejection without words");
        }
    }
}
