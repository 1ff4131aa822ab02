package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.Errno;
import java.io.Serial;

/// The destination cannot be reached through this device (RDMA_CM_EVENT_ADDR_ERROR, rdma_resolve_addr(3)).
public final class AddressUnresolvedException extends ConnectionException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// The failure.
    ///
    /// @param operation the call in words, with its C name
    /// @param errno the cause, as far as it is known
    /// @param detail what happened, to which address, and what to do
    public AddressUnresolvedException(String operation, Errno errno, String detail) {
        super(operation, ConnectionEvent.ADDRESS_ERROR, errno, detail);
    }
}
