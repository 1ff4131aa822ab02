package io.rdmacomm.ibverbs.cm;

import io.rdmacomm.ibverbs.ffm.LibRdmacm;
import io.rdmacomm.ibverbs.structs.Deadline;
import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.ibverbs.structs.SocketAddresses;
import io.rdmacomm.verbs.cm.DatagramService;
import io.rdmacomm.verbs.cm.DatagramTarget;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.spi.ConnectionManagerDriver;
import io.rdmacomm.verbs.spi.ConnectionRequestDriver;
import io.rdmacomm.verbs.spi.DatagramRequestDriver;
import io.rdmacomm.verbs.spi.DeviceDriver;
import io.rdmacomm.verbs.spi.DeviceValues;
import io.rdmacomm.verbs.spi.ListenerDriver;
import io.rdmacomm.verbs.spi.MulticastDriver;
import io.rdmacomm.verbs.spi.RouteDriver;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/// The connection manager of a device over librdmacm.
public final class IbvConnectionManager implements ConnectionManagerDriver {
    private static final String LOOK_UP = "look up datagram service (rdma_connect)";
    private static final String JOIN = "join multicast group (rdma_join_multicast)";
    private static final int PRIVATE_DATA_LIMIT = 56;
    /// With more data, siw writes a wrong length.
    private static final int IWARP_PRIVATE_DATA_LIMIT = 251;

    private final DeviceConnections connections;
    private final LibRdmacm library;
    private final ConnectionEventChannel channel;

    /// @param device the open device
    /// @param attributes its attributes when it was opened
    /// @param queuePairs its open queue pairs
    /// @param connectPauseNanos how long a new connection waits until the peer can be expected to receive
    public IbvConnectionManager(
            DeviceDriver device,
            DeviceValues attributes,
            ConnectedQueuePair.Table queuePairs,
            LibRdmacm library,
            long connectPauseNanos) {
        this.connections = new DeviceConnections(device, attributes, queuePairs, library, connectPauseNanos);
        this.library = library;
        this.channel = connections.channel();
    }

    @Override
    public int privateDataLimit() {
        return connections.transitions().isIwarp() ? IWARP_PRIVATE_DATA_LIMIT : PRIVATE_DATA_LIMIT;
    }

    @Override
    public ListenerDriver<ConnectionRequestDriver> listen(
            InetSocketAddress address, int backlog, IdentifierOptions options) {
        return new IbvListener<>(
                ListeningPort.listen(connections, PortSpace.CONNECTIONS, address, backlog, options),
                (identifier, event) -> new IbvConnectionRequest(connections, identifier, event));
    }

    @Override
    public RouteDriver resolve(InetSocketAddress destination, IdentifierOptions options, long timeoutNanos)
            throws InterruptedException {
        ConnectionIdentifier identifier = connections.create(PortSpace.CONNECTIONS);
        boolean success = false;
        try {
            connections.resolve(identifier, destination, options, Deadline.after(timeoutNanos), timeoutNanos);
            RouteDriver route = new IbvRoute(connections, identifier, destination, options);
            success = true;
            return route;
        } finally {
            if (!success) {
                identifier.destroy(connections);
            }
        }
    }

    @Override
    public ListenerDriver<DatagramRequestDriver> listenForDatagrams(InetSocketAddress address, int backlog) {
        return new IbvListener<>(
                ListeningPort.listen(connections, PortSpace.DATAGRAMS, address, backlog, IdentifierOptions.none()),
                (identifier, event) -> new IbvDatagramRequest(connections, identifier, event));
    }

    @Override
    public DatagramService lookUp(InetSocketAddress destination, byte[] privateData, long timeoutNanos)
            throws InterruptedException {
        ConnectionIdentifier identifier = connections.create(PortSpace.DATAGRAMS);
        try {
            long deadline = Deadline.after(timeoutNanos);
            connections.resolve(identifier, destination, IdentifierOptions.none(), deadline, timeoutNanos);
            int errno = ParameterStruct.ofDatagrams(
                    privateData, 0, pointer -> identifier.call(id -> library.connect(id, pointer)));
            IbvFailure.check(LOOK_UP, errno, destination.toString());
            IdentifierEvent answer = identifier.await(deadline);
            DatagramTarget target = answer == null ? null : answer.target();
            if (answer == null || target == null) {
                throw IdentifierFailures.ofLookingUp(LOOK_UP, answer, destination.toString(), timeoutNanos);
            }
            return new DatagramService(target, answer.privateData());
        } finally {
            identifier.destroy(connections);
        }
    }

    @Override
    public MulticastDriver joinMulticast(InetAddress local, InetAddress group, long timeoutNanos)
            throws InterruptedException {
        ConnectionIdentifier identifier = connections.create(PortSpace.DATAGRAMS);
        boolean success = false;
        try {
            connections.bind(identifier, new InetSocketAddress(local, 0));
            String name = group.getHostAddress();
            int errno = SocketAddresses.with(
                    new InetSocketAddress(group, 0),
                    pointer -> identifier.call(id -> library.joinMulticast(id, pointer)));
            IbvFailure.check(JOIN, errno, name);
            IdentifierEvent answer = identifier.await(Deadline.after(timeoutNanos));
            DatagramTarget target = answer == null ? null : answer.target();
            if (target == null) {
                throw IdentifierFailures.ofJoining(JOIN, answer, name, timeoutNanos);
            }
            MulticastDriver membership = new IbvMulticastMembership(connections, identifier, target);
            success = true;
            return membership;
        } finally {
            if (!success) {
                identifier.destroy(connections);
            }
        }
    }

    @Override
    public void closing() {
        channel.wake();
    }

    @Override
    public void close() {
        channel.close();
    }

    @Override
    public String toString() {
        return "connection manager of " + connections;
    }
}
