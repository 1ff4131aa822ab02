package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.Errno;
import java.io.Serial;

/// The peer does not reply (RDMA_CM_EVENT_UNREACHABLE, rdma_connect(3)).
public final class PeerUnreachableException extends ConnectionException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// The failure.
    ///
    /// @param operation the call in words, with its C name
    /// @param errno the cause, as far as it is known
    /// @param detail what happened, to which address, and what to do
    public PeerUnreachableException(String operation, Errno errno, String detail) {
        super(operation, ConnectionEvent.UNREACHABLE, errno, detail);
    }
}
