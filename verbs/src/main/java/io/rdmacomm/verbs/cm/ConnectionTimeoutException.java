package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.Errno;
import java.io.Serial;

/// The timeout of a call passed before the connection manager reported an event; errno is ETIMEDOUT.
public final class ConnectionTimeoutException extends ConnectionException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// The failure.
    ///
    /// @param operation the call in words, with its C name
    /// @param detail what the call waited for, how long, and what to do
    public ConnectionTimeoutException(String operation, String detail) {
        super(operation, ConnectionEvent.UNKNOWN, Errno.ETIMEDOUT, detail);
    }
}
