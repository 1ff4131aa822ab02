package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.Resource;
import io.rdmacomm.verbs.UnsupportedVerbException;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.lifetime.ContextAccess;
import io.rdmacomm.verbs.lifetime.Lifetime;
import io.rdmacomm.verbs.spi.ConnectionDriver;
import io.rdmacomm.verbs.spi.ConnectionManagerDriver;
import io.rdmacomm.verbs.spi.ConnectionRequestDriver;
import io.rdmacomm.verbs.spi.ContextDriver;
import io.rdmacomm.verbs.spi.DatagramRequestDriver;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/// Connects queue pairs of one device by network address (rdma_cm(7)), like a `rdma_event_channel` with its
/// identifiers in C. Thread-safe. Every call that waits has a timeout and suits virtual threads. [#close()] ends
/// all waits and closes everything created here, including open connections.
public final class ConnectionManager implements Resource {
    /// The largest private data of a request for a datagram service, in bytes (rdma_connect(3)).
    public static final int DATAGRAM_REQUEST_BYTES = 180;
    /// The largest private data of the answer to such a request, in bytes (rdma_accept(3)).
    public static final int DATAGRAM_ANSWER_BYTES = 136;

    /// The default limit of requests that wait at a listener.
    public static final int DEFAULT_BACKLOG = 128;

    private final Context context;
    private final ConnectionManagerDriver driver;
    private final Lifetime lifetime;

    private ConnectionManager(Context context, Lifetime parent, ConnectionManagerDriver driver) {
        this.context = context;
        this.driver = driver;
        this.lifetime = new Lifetime(this, parent, driver);
    }

    /// Opens the connection manager of a device (rdma_create_event_channel(3)). The caller closes it; closing
    /// the context also closes it.
    ///
    /// @throws UnsupportedVerbException if the device has none; check [Capability#CONNECTION_MANAGER] first
    /// @throws VerbException with the errno of opening it, and what to do
    public static ConnectionManager open(Context context) {
        ContextAccess access = ContextAccess.get();
        ContextDriver device = access.driver(context);
        Lifetime parent = access.lifetime(context);
        if (!context.supports(Capability.CONNECTION_MANAGER)) {
            throw new UnsupportedVerbException(
                    "open connection manager (rdma_create_event_channel)",
                    Capability.CONNECTION_MANAGER,
                    context.device().name(),
                    device.whyNoConnectionManager());
        }
        parent.checkOpen();
        ConnectionManager manager = new ConnectionManager(context, parent, device.openConnectionManager());
        parent.adopt(manager.lifetime);
        return manager;
    }

    /// The open device whose queue pairs it connects.
    public Context context() {
        return context;
    }

    /// The largest private data, in bytes, of a request, reply or rejection: 56 on InfiniBand and RoCE, 251 on
    /// iWARP.
    public int privateDataLimit() {
        return driver.privateDataLimit();
    }

    /// Listens for connection requests (rdma_bind_addr(3), rdma_listen(3)). Does not block.
    ///
    /// Up to [#DEFAULT_BACKLOG] requests may wait for [Listener#awaitRequest].
    ///
    /// @param address the local address; the wildcard address for all addresses of the device, port 0 for any free
    ///         port
    /// @throws VerbException EADDRINUSE if the port is in use, EADDRNOTAVAIL if the address does
    ///         not belong to this device, EINVAL if the address is unresolved
    public Listener<ConnectionRequest> listen(InetSocketAddress address) {
        return listen(address, DEFAULT_BACKLOG);
    }

    /// Listens with a limit for requests that wait. Does not block.
    ///
    /// @param address as for [#listen(InetSocketAddress)]
    /// @param backlog the limit of requests that wait for [Listener#awaitRequest], at least 1
    /// @throws VerbException as [#listen(InetSocketAddress)]
    public Listener<ConnectionRequest> listen(InetSocketAddress address, int backlog) {
        return listen(address, backlog, IdentifierOptions.none());
    }

    /// Listens with options (rdma_set_option(3)). Does not block.
    ///
    /// @param address as for [#listen(InetSocketAddress)]
    /// @param backlog as for [#listen(InetSocketAddress, int)]
    /// @throws UnsupportedVerbException if the device lacks [Capability#CONNECTION_TYPE_OF_SERVICE] and the
    ///         options set a type of service
    /// @throws VerbException as [#listen(InetSocketAddress)]; EOPNOTSUPP if the device cannot listen at the
    ///         IPv6 wildcard address for IPv6 only
    public Listener<ConnectionRequest> listen(InetSocketAddress address, int backlog, IdentifierOptions options) {
        lifetime.checkOpen();
        checkResolved("listen (rdma_listen)", address);
        check(options);
        Listener<ConnectionRequest> listener = new Listener<>(
                this, "listener", driver.listen(address, checked(backlog), options), ConnectionManager::arrived);
        lifetime.adopt(listener.lifetime());
        return listener;
    }

    /// Finds the route to a peer (rdma_resolve_addr(3), rdma_resolve_route(3)). Blocks.
    ///
    /// @param destination the address where the peer listens
    /// @param timeout the longest wait
    /// @throws AddressUnresolvedException if the destination cannot be reached through this device
    /// @throws RouteUnresolvedException if there is no route
    /// @throws io.rdmacomm.verbs.DeadlineException if the timeout passed first
    /// @throws io.rdmacomm.verbs.RdmaInterruptedException if the thread was interrupted
    public Route resolve(InetSocketAddress destination, Duration timeout) {
        return resolve(destination, IdentifierOptions.none(), timeout);
    }

    /// Finds the route to a peer for a connection with options (rdma_set_option(3)). Blocks.
    ///
    /// @param destination the address where the peer listens
    /// @param timeout the longest wait
    /// @throws UnsupportedVerbException if the device lacks [Capability#CONNECTION_TYPE_OF_SERVICE] and the
    ///         options set a type of service
    /// @throws VerbException EADDRNOTAVAIL if the local address of the options does not belong to the device; the
    ///         call or [Route#connect] fails with EADDRINUSE if its port is in use
    /// @throws ConnectionException as [#resolve(InetSocketAddress, Duration)]
    /// @throws io.rdmacomm.verbs.RdmaInterruptedException if the thread was interrupted
    public Route resolve(InetSocketAddress destination, IdentifierOptions options, Duration timeout) {
        lifetime.checkOpen();
        checkResolved("resolve address (rdma_resolve_addr)", destination);
        check(options);
        Route route = new Route(
                this,
                BlockingCall.of(
                        "resolving", destination, () -> driver.resolve(destination, options, timeout.toNanos())));
        lifetime.adopt(route.lifetime());
        return route;
    }

    /// Resolves and connects in one call, for a queue pair whose receives are posted, or whose peer does not
    /// send first.
    ///
    /// @param timeout the longest wait for each of the two steps
    /// @throws ConnectionException as [#resolve(InetSocketAddress, Duration)] and [Route#connect]
    /// @throws io.rdmacomm.verbs.RdmaInterruptedException if the thread was interrupted
    public Connection connect(
            InetSocketAddress destination, QueuePair queuePair, ConnectionParameters parameters, Duration timeout) {
        try (Route route = resolve(destination, timeout)) {
            return route.connect(queuePair, parameters, timeout);
        }
    }

    /// Listens for requests for a queue pair that receives datagrams (rdma_listen(3) in the port space
    /// `RDMA_PS_UDP`, whose ports are separate from those of connections). Does not block.
    ///
    /// @param address as for [#listen(InetSocketAddress)]
    /// @throws UnsupportedVerbException if the device lacks [Capability#DATAGRAM_SERVICES]
    /// @throws VerbException as [#listen(InetSocketAddress)]
    public Listener<DatagramRequest> listenForDatagrams(InetSocketAddress address) {
        return listenForDatagrams(address, DEFAULT_BACKLOG);
    }

    /// Listens for datagram requests with a limit for those that wait. Does not block.
    ///
    /// @param address as for [#listen(InetSocketAddress)]
    /// @param backlog as for [#listen(InetSocketAddress, int)]
    /// @throws UnsupportedVerbException if the device lacks [Capability#DATAGRAM_SERVICES]
    /// @throws VerbException as [#listen(InetSocketAddress)]
    public Listener<DatagramRequest> listenForDatagrams(InetSocketAddress address, int backlog) {
        String operation = "listen for datagram requests (rdma_listen)";
        lifetime.checkOpen();
        checkResolved(operation, address);
        requireDatagramServices(operation);
        Listener<DatagramRequest> listener = new Listener<>(
                this,
                "datagram listener",
                driver.listenForDatagrams(address, checked(backlog)),
                ConnectionManager::asked);
        lifetime.adopt(listener.lifetime());
        return listener;
    }

    /// Asks which queue pair receives datagrams at an address (rdma_connect(3) in the port space `RDMA_PS_UDP`).
    /// Blocks.
    ///
    /// @param destination the address where the peer listens for datagram requests
    /// @param privateData bytes for the peer's program, at most [#DATAGRAM_REQUEST_BYTES]
    /// @param timeout the longest wait
    /// @throws UnsupportedVerbException if the device lacks [Capability#DATAGRAM_SERVICES]
    /// @throws VerbException EINVAL if the private data is too long
    /// @throws ConnectionRejectedException if no program listens there, or the peer rejected the request
    /// @throws PeerUnreachableException if the peer did not reply
    /// @throws ConnectionException as [#resolve(InetSocketAddress, Duration)]
    /// @throws io.rdmacomm.verbs.RdmaInterruptedException if the thread was interrupted
    public DatagramService lookUp(InetSocketAddress destination, byte[] privateData, Duration timeout) {
        String operation = "look up datagram service (rdma_connect)";
        lifetime.checkOpen();
        checkResolved(operation, destination);
        requireDatagramServices(operation);
        checkPrivateData(operation, privateData, DATAGRAM_REQUEST_BYTES);
        return BlockingCall.of(
                "looking up", destination, () -> driver.lookUp(destination, privateData, timeout.toNanos()));
    }

    /// Joins a multicast group (rdma_join_multicast(3)). Blocks.
    ///
    /// @param local an address of this device, which selects the port
    /// @param group a multicast address of the same family
    /// @param timeout the longest wait
    /// @throws UnsupportedVerbException if the device lacks [Capability#MULTICAST]
    /// @throws VerbException EINVAL if `group` is not a multicast address, EADDRNOTAVAIL if the local address
    ///         does not belong to this device, or the errno of the rejection by the network or the device
    /// @throws io.rdmacomm.verbs.DeadlineException if the timeout passed first
    /// @throws io.rdmacomm.verbs.RdmaInterruptedException if the thread was interrupted
    public MulticastMembership joinMulticast(InetAddress local, InetAddress group, Duration timeout) {
        String operation = "join multicast group (rdma_join_multicast)";
        lifetime.checkOpen();
        require(Capability.MULTICAST, operation, "send a datagram to each receiver instead");
        if (!group.isMulticastAddress()) {
            throw new VerbException(operation, Errno.EINVAL, group.getHostAddress() + " is not a multicast address");
        }
        MulticastMembership membership = new MulticastMembership(
                this, BlockingCall.of("joining", group, () -> driver.joinMulticast(local, group, timeout.toNanos())));
        lifetime.adopt(membership.lifetime());
        return membership;
    }

    private static int checked(int backlog) {
        if (backlog < 1) {
            throw new IllegalArgumentException(
                    "backlog is " + backlog + ", must be at least 1; for the default, omit it");
        }
        return backlog;
    }

    private void requireDatagramServices(String operation) {
        require(
                Capability.DATAGRAM_SERVICES,
                operation,
                "exchange queue pair numbers in another way, for example over TCP");
    }

    /// Rejects private data of a connection that does not fit.
    void checkPrivateData(String operation, byte[] privateData) {
        checkPrivateData(operation, privateData, privateDataLimit());
    }

    /// Rejects private data that does not fit.
    void checkPrivateData(String operation, byte[] privateData, int limit) {
        if (privateData.length > limit) {
            throw new VerbException(
                    operation,
                    Errno.EINVAL,
                    privateData.length + " bytes of private data, " + this + " allows " + limit);
        }
    }

    @Override
    public String toString() {
        return "connection manager of " + context;
    }

    private void check(IdentifierOptions options) {
        if (options.typeOfService().isPresent()) {
            require(
                    Capability.CONNECTION_TYPE_OF_SERVICE,
                    "set type of service (rdma_set_option)",
                    "leave it out; its driver sends with that of the system");
        }
    }

    /// Rejects parameters that the device cannot apply.
    void check(ConnectionParameters parameters) {
        if (parameters.ackTimeout().isPresent()) {
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

    private static void checkResolved(String operation, InetSocketAddress address) {
        if (address.isUnresolved()) {
            throw new VerbException(
                    operation, Errno.EINVAL, "host name " + address.getHostString() + " cannot be resolved; check it");
        }
    }

    /// Wraps an established connection. It belongs to this manager, not to its route or request.
    Connection established(QueuePair queuePair, ConnectionDriver connected) {
        Connection connection = new Connection(this, queuePair, connected);
        lifetime.adopt(connection.lifetime());
        return connection;
    }

    private ConnectionRequest arrived(ConnectionRequestDriver arrived) {
        ConnectionRequest request = new ConnectionRequest(this, arrived);
        lifetime.adopt(request.lifetime());
        return request;
    }

    private DatagramRequest asked(DatagramRequestDriver asked) {
        DatagramRequest request = new DatagramRequest(this, asked);
        lifetime.adopt(request.lifetime());
        return request;
    }

    Lifetime lifetime() {
        return lifetime;
    }

    @Override
    public boolean isOpen() {
        return lifetime.isOpen();
    }

    @Override
    public void close() {
        lifetime.close();
    }
}
