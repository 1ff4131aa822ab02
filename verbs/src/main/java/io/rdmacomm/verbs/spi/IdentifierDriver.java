package io.rdmacomm.verbs.spi;

import java.net.InetSocketAddress;

/// One end of a connection, whether resolved, requested or established (`struct rdma_cm_id`, rdma_create_id(3)).
public interface IdentifierDriver extends Driver {
    /// The address on this side (rdma_get_local_addr(3)).
    InetSocketAddress localAddress();

    /// The address of the peer (rdma_get_peer_addr(3)).
    InetSocketAddress remoteAddress();
}
