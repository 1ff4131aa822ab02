package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.Resource;
import io.rdmacomm.verbs.UnsupportedVerbException;
import io.rdmacomm.verbs.VerbException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/// Connects queue pairs of one device by network address (rdma_cm(7)), like a `rdma_event_channel` with its
/// identifiers in C. Thread-safe. Every call that waits has a timeout and suits virtual threads. [#close()] ends
/// all waits and closes everything created here, including open connections.
public abstract class ConnectionManager extends Resource {
    /// The largest private data of a request for a datagram service, in bytes (rdma_connect(3)).
    public static final int DATAGRAM_REQUEST_BYTES = 180;
    /// The largest private data of the answer to such a request, in bytes (rdma_accept(3)).
    public static final int DATAGRAM_ANSWER_BYTES = 136;

    private static final int DEFAULT_BACKLOG = 128;

    private final Context context;

    /// For providers.
    protected ConnectionManager(Context context) {
        super(context);
        this.context = context;
    }

    /// Opens the connection manager of a device (rdma_create_event_channel(3)). The caller closes it; closing the
    /// context does so too.
    ///
    /// @throws UnsupportedVerbException if the device has none; check [Capability#CONNECTION_MANAGER] first
    /// @throws VerbException with the errno of opening it, and what to do
    public static ConnectionManager open(Context context) {
        ConnectionManagerProvider provider = context instanceof ConnectionManagerProvider able ? able : null;
        if (provider != null && context.supports(Capability.CONNECTION_MANAGER)) {
            return provider.openConnectionManager();
        }
        throw new UnsupportedVerbException(
                "open connection manager (rdma_create_event_channel)",
                Capability.CONNECTION_MANAGER,
                context.device().name(),
                provider == null ? "" : provider.whyNoConnectionManager());
    }

    /// The open device whose queue pairs it connects.
    public final Context context() {
        return context;
    }

    /// The largest private data, in bytes, of a request, reply or rejection: 56 on InfiniBand and RoCE, 251 on
    /// iWARP.
    public abstract int privateDataLimit();

    /// Listens for connection requests (rdma_bind_addr(3), rdma_listen(3)). Does not block.
    ///
    /// @param address the local address; the wildcard address for all addresses of the device, port 0 for any free
    ///         port
    /// @param backlog how many requests may wait for [Listener#awaitRequest]; 0 for a default
    /// @throws VerbException EADDRINUSE if the port is in use, EADDRNOTAVAIL if the address does
    ///         not belong to this device, EINVAL if the address is unresolved
    public final Listener listen(InetSocketAddress address, int backlog) {
        return listen(address, backlog, IdentifierOptions.none());
    }

    /// Listens with options (rdma_set_option(3)). Does not block.
    ///
    /// @param address as for [#listen(InetSocketAddress, int)]
    /// @param backlog as for [#listen(InetSocketAddress, int)]
    /// @throws UnsupportedVerbException if the device lacks [Capability#CONNECTION_TYPE_OF_SERVICE] and the options
    ///         name a type of service
    /// @throws VerbException as [#listen(InetSocketAddress, int)]; EOPNOTSUPP if the device
    ///         cannot listen at the IPv6 wildcard address for IPv6 alone
    public final Listener listen(InetSocketAddress address, int backlog, IdentifierOptions options) {
        checkOpen();
        CommunicationIdentifier.checkResolved("listen (rdma_listen)", address);
        check(options);
        return adopt(doListen(address, backlog > 0 ? backlog : DEFAULT_BACKLOG, options));
    }

    /// Finds the route to a peer (rdma_resolve_addr(3), rdma_resolve_route(3)). Blocks.
    ///
    /// @param destination the address where the peer listens
    /// @param timeout the longest wait
    /// @throws AddressUnresolvedException if the destination cannot be reached through this device
    /// @throws RouteUnresolvedException if there is no route
    /// @throws ConnectionTimeoutException if the timeout passed first
    /// @throws InterruptedException if the thread was interrupted
    public final Route resolve(InetSocketAddress destination, Duration timeout) throws InterruptedException {
        return resolve(destination, IdentifierOptions.none(), timeout);
    }

    /// Finds the route to a peer for a connection with options (rdma_set_option(3)). Blocks.
    ///
    /// @param destination the address where the peer listens
    /// @param timeout the longest wait
    /// @throws UnsupportedVerbException if the device lacks [Capability#CONNECTION_TYPE_OF_SERVICE] and the options
    ///         name a type of service
    /// @throws ConnectionException as [#resolve(InetSocketAddress, Duration)]
    /// @throws InterruptedException if the thread was interrupted
    public final Route resolve(InetSocketAddress destination, IdentifierOptions options, Duration timeout)
            throws InterruptedException {
        checkOpen();
        CommunicationIdentifier.checkResolved("resolve address (rdma_resolve_addr)", destination);
        check(options);
        return adopt(doResolve(destination, options, timeout.toNanos()));
    }

    /// Resolves and connects in one call, for a queue pair whose receives are posted, or whose peer waits for the
    /// first message.
    ///
    /// @param timeout the longest wait for each of the two steps
    /// @throws ConnectionException as [#resolve(InetSocketAddress, Duration)] and [Route#connect]
    /// @throws InterruptedException if the thread was interrupted
    public final Connection connect(
            InetSocketAddress destination, QueuePair queuePair, ConnectionParameters parameters, Duration timeout)
            throws InterruptedException {
        try (Route route = resolve(destination, timeout)) {
            return route.connect(queuePair, parameters, timeout);
        }
    }

    /// Listens for programs that look for a queue pair that receives datagrams (rdma_listen(3) in the port space
    /// `RDMA_PS_UDP`, whose ports are not those of connections). Does not block.
    ///
    /// @param address as for [#listen(InetSocketAddress, int)]
    /// @param backlog as for [#listen(InetSocketAddress, int)]
    /// @throws UnsupportedVerbException if the device lacks [Capability#DATAGRAM_SERVICES]
    /// @throws VerbException as [#listen(InetSocketAddress, int)]
    public final DatagramListener listenForDatagrams(InetSocketAddress address, int backlog) {
        String operation = "listen for datagram requests (rdma_listen)";
        checkOpen();
        CommunicationIdentifier.checkResolved(operation, address);
        requireDatagramServices(operation);
        return adopt(doListenForDatagrams(address, backlog > 0 ? backlog : DEFAULT_BACKLOG));
    }

    /// Asks which queue pair receives datagrams at an address (rdma_connect(3) in the port space `RDMA_PS_UDP`).
    /// Blocks.
    ///
    /// @param destination the address where the peer listens for datagram requests
    /// @param privateData bytes for the peer's program, at most [#DATAGRAM_REQUEST_BYTES]
    /// @param timeout the longest wait
    /// @throws UnsupportedVerbException if the device lacks [Capability#DATAGRAM_SERVICES]
    /// @throws VerbException EINVAL if the private data is too long
    /// @throws ConnectionRejectedException if nobody listens there, or the peer rejected the request
    /// @throws PeerUnreachableException if the peer did not reply
    /// @throws ConnectionException as [#resolve(InetSocketAddress, Duration)]
    /// @throws InterruptedException if the thread was interrupted
    public final DatagramService lookUp(InetSocketAddress destination, byte[] privateData, Duration timeout)
            throws InterruptedException {
        String operation = "look up datagram service (rdma_connect)";
        checkOpen();
        CommunicationIdentifier.checkResolved(operation, destination);
        requireDatagramServices(operation);
        checkPrivateData(operation, privateData, DATAGRAM_REQUEST_BYTES);
        return doLookUp(destination, privateData, timeout.toNanos());
    }

    /// Joins a multicast group (rdma_join_multicast(3)). Blocks.
    ///
    /// @param local an address of this device, which selects the port
    /// @param group a multicast address of the same family
    /// @param timeout the longest wait
    /// @throws UnsupportedVerbException if the device lacks [Capability#MULTICAST]
    /// @throws VerbException EINVAL if `group` is no multicast address, EADDRNOTAVAIL if the local address does
    ///         not belong to this device, or the errno with which the network or the device rejected it
    /// @throws ConnectionTimeoutException if the timeout passed first
    /// @throws InterruptedException if the thread was interrupted
    public final MulticastMembership joinMulticast(InetAddress local, InetAddress group, Duration timeout)
            throws InterruptedException {
        String operation = "join multicast group (rdma_join_multicast)";
        checkOpen();
        require(Capability.MULTICAST, operation, "send a datagram to each receiver instead");
        if (!group.isMulticastAddress()) {
            throw new VerbException(operation, Errno.EINVAL, group.getHostAddress() + " is no multicast address");
        }
        return adopt(doJoinMulticast(local, group, timeout.toNanos()));
    }

    private void requireDatagramServices(String operation) {
        require(
                Capability.DATAGRAM_SERVICES,
                operation,
                "exchange queue pair numbers in another way, for example over TCP");
    }

    /// Rejects private data that does not fit.
    final void checkPrivateData(String operation, byte[] privateData, int limit) {
        if (privateData.length > limit) {
            throw new VerbException(
                    operation,
                    Errno.EINVAL,
                    privateData.length + " bytes of private data, " + this + " allows " + limit);
        }
    }

    @Override
    public final String toString() {
        return "connection manager of " + context;
    }

    private void check(IdentifierOptions options) {
        if (options.typeOfService() != null) {
            require(
                    Capability.CONNECTION_TYPE_OF_SERVICE,
                    "set type of service (rdma_set_option)",
                    "leave it out; its driver sends with that of the system");
        }
    }

    /// Rejects parameters that the device cannot apply.
    final void check(ConnectionParameters parameters) {
        if (parameters.ackTimeout() != null) {
            require(
                    Capability.CONNECTION_ACK_TIMEOUT,
                    "set acknowledgement timeout (rdma_set_option)",
                    "leave it out; on iWARP TCP decides when it repeats what is not acknowledged");
        }
    }

    private void require(Capability needed, String operation, String hint) {
        if (!context.supports(needed)) {
            throw new UnsupportedVerbException(
                    operation, needed, context.device().name(), hint);
        }
    }

    /// Adopts a connection, which a provider creates outside the calls of this class.
    final Connection established(Connection connection) {
        return adopt(connection);
    }

    /// Adopts a request that arrived at a listener.
    final <R extends Resource> R arrived(R request) {
        return adopt(request);
    }

    /// Binds and listens for [#listen(InetSocketAddress, int, IdentifierOptions)].
    protected abstract Listener doListen(InetSocketAddress address, int backlog, IdentifierOptions options);

    /// Resolves for [#resolve(InetSocketAddress, IdentifierOptions, Duration)].
    protected abstract Route doResolve(InetSocketAddress destination, IdentifierOptions options, long timeoutNanos)
            throws InterruptedException;

    /// Binds and listens for [#listenForDatagrams]; only for devices with [Capability#DATAGRAM_SERVICES].
    protected DatagramListener doListenForDatagrams(InetSocketAddress address, int backlog) {
        throw new UnsupportedOperationException(context.device().name());
    }

    /// Asks for [#lookUp]; only for devices with [Capability#DATAGRAM_SERVICES].
    protected DatagramService doLookUp(InetSocketAddress destination, byte[] privateData, long timeoutNanos)
            throws InterruptedException {
        throw new UnsupportedOperationException(context.device().name());
    }

    /// Joins for [#joinMulticast]; only for devices with [Capability#MULTICAST].
    protected MulticastMembership doJoinMulticast(InetAddress local, InetAddress group, long timeoutNanos)
            throws InterruptedException {
        throw new UnsupportedOperationException(context.device().name());
    }
}
