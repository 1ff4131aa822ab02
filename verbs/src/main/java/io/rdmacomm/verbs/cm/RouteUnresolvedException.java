package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.Errno;
import java.io.Serial;

/// There is no route to the destination (RDMA_CM_EVENT_ROUTE_ERROR, rdma_resolve_route(3)).
public final class RouteUnresolvedException extends ConnectionException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// The failure.
    ///
    /// @param operation the call in words, with its C name
    /// @param errno the cause, as far as it is known
    /// @param detail what happened, to which address, and what to do
    public RouteUnresolvedException(String operation, Errno errno, String detail) {
        super(operation, ConnectionEvent.ROUTE_ERROR, errno, detail);
    }
}
