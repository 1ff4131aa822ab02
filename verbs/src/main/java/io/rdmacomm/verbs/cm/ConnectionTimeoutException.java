package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.Errno;
import java.io.Serial;

/// The deadline of a call passed before the connection manager reported anything; errno is ETIMEDOUT.
public final class ConnectionTimeoutException extends ConnectionException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// The failure.
    ///
    /// @param operation the call in words with its C name
    /// @param detail what was waited for and how long, and what to do
    public ConnectionTimeoutException(String operation, String detail) {
        super(operation, ConnectionEvent.UNKNOWN, Errno.ETIMEDOUT, detail);
    }
}
