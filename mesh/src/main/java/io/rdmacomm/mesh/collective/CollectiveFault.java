package io.rdmacomm.mesh.collective;

import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.PeerFailedException;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.Printable;
import io.rdmacomm.verbs.RdmaException;

/// The reason why the collectives of a mesh have ended. Each rank that learns of it sends it to all others, once.
///
/// @param reason one of the constants
/// @param text one line that says what happened and what to do
record CollectiveFault(byte reason, String text) {
    static final byte MISMATCH = 1;
    static final byte DEADLINE = 2;
    static final byte PROTOCOL = 3;
    static final byte OTHER = 4;

    /// A fault whose reason and text come from a peer.
    static CollectiveFault fromPeer(int rank, byte reason, byte[] text) {
        return new CollectiveFault(reason, "rank " + rank + " has ended the collectives: " + Printable.text(text));
    }

    /// The exception of the call in progress.
    RdmaException failure() {
        return switch (reason) {
            case MISMATCH -> new CollectiveMismatchException(text, null);
            case DEADLINE -> new DeadlineException(text, null);
            case PROTOCOL -> new PeerFailedException(PeerFailedException.Reason.PROTOCOL_VIOLATED, text, null);
            default -> new RdmaException(text, null);
        };
    }

    /// The exception of later calls.
    ClosedException refusal() {
        return new ClosedException("the collectives of this mesh have ended; join again: " + text, failure());
    }
}
