package io.rdmacomm.comm;

import java.io.Serial;

/// The peer has closed its side in an orderly way: everything that it sent has arrived, and all messages were
/// received. Nothing more can be sent.
public final class PeerDoneException extends ClosedException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// An orderly close; the message names the endpoint in one line.
    public PeerDoneException(String message) {
        super(message, null);
    }

    @Override
    PeerDoneException again() {
        return new PeerDoneException(String.valueOf(getMessage()));
    }
}
