package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.Errno;
import java.io.Serial;

/// The peer refused the connection (RDMA_CM_EVENT_REJECTED, rdma_connect(3)); errno is ECONNREFUSED.
public final class ConnectionRejectedException extends ConnectionException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final byte[] privateData;

    /// The refusal.
    ///
    /// @param operation the call in words with its C name
    /// @param detail who refused and, as far as it is known, why
    /// @param privateData what the peer's program sent along
    public ConnectionRejectedException(String operation, String detail, byte[] privateData) {
        super(operation, ConnectionEvent.REJECTED, Errno.ECONNREFUSED, detail);
        this.privateData = privateData.clone();
    }

    /// A copy of the bytes that the peer's program sent along with its refusal; on InfiniBand and RoCE padded with
    /// zeros.
    public byte[] privateData() {
        return privateData.clone();
    }
}
