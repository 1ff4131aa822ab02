package io.rdmacomm.verbs.spi;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.cm.DatagramService;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/// The connection manager of a device ([io.rdmacomm.verbs.cm.ConnectionManager]). Thread-safe. Callers pass only
/// resolved addresses, and private data that fits. [#closing()] ends all waits. Calls fail with the exceptions that
/// the user's methods document.
public interface ConnectionManagerDriver extends Driver {
    /// The largest private data of a request, reply or rejection, in bytes.
    int privateDataLimit();

    /// Binds and listens for connections (rdma_bind_addr(3), rdma_listen(3)). Does not block.
    ListenerDriver<ConnectionRequestDriver> listen(InetSocketAddress address, int backlog, IdentifierOptions options);

    /// Finds the route to a peer (rdma_resolve_addr(3), rdma_resolve_route(3)).
    RouteDriver resolve(InetSocketAddress destination, IdentifierOptions options, long timeoutNanos)
            throws InterruptedException;

    /// Binds and listens for datagram requests (rdma_listen(3) in the port space `RDMA_PS_UDP`).
    default ListenerDriver<DatagramRequestDriver> listenForDatagrams(InetSocketAddress address, int backlog) {
        throw Unsupported.verb(this, "listen for datagram requests (rdma_listen)", Capability.DATAGRAM_SERVICES);
    }

    /// Asks which queue pair receives datagrams at an address (rdma_connect(3) in the port space `RDMA_PS_UDP`).
    default DatagramService lookUp(InetSocketAddress destination, byte[] privateData, long timeoutNanos)
            throws InterruptedException {
        throw Unsupported.verb(this, "look up datagram service (rdma_connect)", Capability.DATAGRAM_SERVICES);
    }

    /// Joins a multicast group (rdma_join_multicast(3)).
    default MulticastDriver joinMulticast(InetAddress local, InetAddress group, long timeoutNanos)
            throws InterruptedException {
        throw Unsupported.verb(this, "join multicast group (rdma_join_multicast)", Capability.MULTICAST);
    }
}
