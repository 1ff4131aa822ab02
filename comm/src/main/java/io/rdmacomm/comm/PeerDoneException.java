package io.rdmacomm.comm;

import java.io.Serial;

/// The peer has closed its side in an orderly way: everything that it sent has arrived, and what was to be
/// received was received. Nothing can be sent any more.
public final class PeerDoneException extends ClosedException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// An end with one line that says whose it is.
    public PeerDoneException(String message) {
        super(message, null);
    }

    @Override
    PeerDoneException again() {
        return new PeerDoneException(String.valueOf(getMessage()));
    }
}
