package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.Errno;
import java.io.Serial;

/// The peer rejected the connection (RDMA_CM_EVENT_REJECTED, rdma_connect(3)); errno is ECONNREFUSED.
public final class ConnectionRejectedException extends ConnectionException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final byte[] privateData;

    /// The rejection.
    ///
    /// @param operation the call in words, with its C name
    /// @param detail the peer, and the reason if known
    /// @param privateData the private data of the rejection
    public ConnectionRejectedException(String operation, String detail, byte[] privateData) {
        super(operation, ConnectionEvent.REJECTED, Errno.ECONNREFUSED, detail);
        this.privateData = privateData.clone();
    }

    /// A copy of the private data of the rejection, on InfiniBand and RoCE padded with zeros.
    public byte[] privateData() {
        return privateData.clone();
    }
}
