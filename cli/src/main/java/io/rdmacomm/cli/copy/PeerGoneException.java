package io.rdmacomm.cli.copy;

import java.io.Serial;

/// The other side of a socket has closed it.
public final class PeerGoneException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// The only thing that is known.
    public PeerGoneException() {
        super("the other side closed the connection");
    }
}
