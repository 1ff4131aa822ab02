package io.rdmacomm.ibverbs.cm;

import io.rdmacomm.ibverbs.ffm.ConnectionIdentifierLayout;

/// The service of an identifier; each has its own port numbers (`enum rdma_port_space`, rdma_create_id(3)).
enum PortSpace {
    /// Connections.
    CONNECTIONS(ConnectionIdentifierLayout.PORT_SPACE_TCP),
    /// Datagrams.
    DATAGRAMS(ConnectionIdentifierLayout.PORT_SPACE_UDP);

    private final int code;

    PortSpace(int code) {
        this.code = code;
    }

    /// Its number in C.
    int code() {
        return code;
    }
}
