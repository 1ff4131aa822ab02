package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.Errno;
import java.io.Serial;

/// Connecting or accepting failed (RDMA_CM_EVENT_CONNECT_ERROR, or DISCONNECTED before the connection was
/// established).
public final class ConnectFailedException extends ConnectionException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// The failure.
    ///
    /// @param operation the call in words, with its C name
    /// @param errno the cause, as far as it is known
    /// @param detail what happened, to which address, and what to do
    public ConnectFailedException(String operation, Errno errno, String detail) {
        super(operation, ConnectionEvent.CONNECT_ERROR, errno, detail);
    }
}
