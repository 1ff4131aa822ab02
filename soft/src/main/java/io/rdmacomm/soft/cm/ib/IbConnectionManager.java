package io.rdmacomm.soft.cm.ib;

import io.rdmacomm.soft.cm.RouteProbe;
import io.rdmacomm.soft.roce.RocePort;
import io.rdmacomm.soft.roce.cm.Inquiry;
import io.rdmacomm.soft.roce.cm.ListeningPort;
import io.rdmacomm.soft.roce.mad.ConnectRequest;
import io.rdmacomm.soft.roce.mad.PortSpace;
import io.rdmacomm.soft.roce.mad.ProgramAddress;
import io.rdmacomm.soft.roce.mad.ServiceReply;
import io.rdmacomm.soft.roce.mad.ServiceRequest;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.ConnectionRejectedException;
import io.rdmacomm.verbs.cm.DatagramService;
import io.rdmacomm.verbs.cm.DatagramTarget;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.spi.ConnectionManagerDriver;
import io.rdmacomm.verbs.spi.ConnectionRequestDriver;
import io.rdmacomm.verbs.spi.DatagramRequestDriver;
import io.rdmacomm.verbs.spi.ListenerDriver;
import io.rdmacomm.verbs.spi.MulticastDriver;
import io.rdmacomm.verbs.spi.RouteDriver;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Connects queue pairs by address with the messages of InfiniBand's connection manager, as rdma_cm does for RoCE
/// devices: the peer may be an adapter, rxe, or another software device. Ports are those of the manager, not of TCP.
public final class IbConnectionManager implements ConnectionManagerDriver {
    private static final String LISTEN = "listen (rdma_listen)";
    private static final String LOOK_UP = "look up datagram service (rdma_connect)";
    private static final String JOIN = "join multicast group (rdma_join_multicast)";
    /// Each waiting request only takes the memory of its datagram.
    private static final int LEAST_BACKLOG = 256;
    private static final int MOST_BACKLOG = 4096;

    private final IbDevice device;
    private final Set<Inquiry> inquiries = ConcurrentHashMap.newKeySet();
    private volatile boolean closing;

    /// Connects queue pairs of one context.
    ///
    /// @param device its name, for messages
    /// @param address of the device
    /// @param mostReads how many READs and atomics a queue pair can have in flight
    public IbConnectionManager(String device, RocePort port, InetAddress address, long guid, int mostReads) {
        this.device = new IbDevice(device, port, address, guid, mostReads);
    }

    @Override
    public int privateDataLimit() {
        return ConnectRequest.MOST_PRIVATE_DATA;
    }

    // ---- Connections ----

    @Override
    public ListenerDriver<ConnectionRequestDriver> listen(
            InetSocketAddress where, int backlog, IdentifierOptions options) {
        check(LISTEN, where.getAddress());
        return IbListener.forConnections(
                device, opened(where, device.protocol().listen(where.getPort(), room(backlog))));
    }

    private static int room(int backlog) {
        return Math.clamp(backlog, LEAST_BACKLOG, MOST_BACKLOG);
    }

    private static <R> ListeningPort<R> opened(InetSocketAddress where, @Nullable ListeningPort<R> opened) {
        if (opened == null) {
            throw new VerbException(
                    LISTEN, Errno.EADDRINUSE, "port " + where.getPort() + " is taken; use another one, or 0 for any");
        }
        return opened;
    }

    /// Rejects an address that this device's packets do not have.
    private void check(String operation, InetAddress local) {
        if (!local.isAnyLocalAddress() && !local.equals(device.address())) {
            throw new VerbException(
                    operation,
                    Errno.EADDRNOTAVAIL,
                    local.getHostAddress() + " is not the address of " + device.name() + ", which is "
                            + device.address().getHostAddress());
        }
    }

    @Override
    public RouteDriver resolve(InetSocketAddress destination, IdentifierOptions options, long timeoutNanos) {
        InetSocketAddress wanted = options.localAddress();
        checkReachable("resolve address (rdma_resolve_addr)", destination.getAddress());
        if (wanted != null) {
            check("bind (rdma_bind_addr)", wanted.getAddress());
        }
        InetSocketAddress local = RouteProbe.localAddress(destination, new InetSocketAddress(device.address(), 0));
        int from = wanted == null ? 0 : wanted.getPort();
        return new IbRoute(device, new InetSocketAddress(local.getAddress(), from), destination);
    }

    private static void checkReachable(String operation, InetAddress destination) {
        if (!(destination instanceof Inet4Address)) {
            throw new VerbException(
                    operation,
                    Errno.EAFNOSUPPORT,
                    destination.getHostAddress() + " is not an IPv4 address, and RoCE devices of Java have no others");
        }
    }

    // ---- Datagrams ----

    @Override
    public ListenerDriver<DatagramRequestDriver> listenForDatagrams(InetSocketAddress where, int backlog) {
        check(LISTEN, where.getAddress());
        return IbListener.forDatagrams(
                device, opened(where, device.protocol().listenForDatagrams(where.getPort(), room(backlog))));
    }

    @Override
    public DatagramService lookUp(InetSocketAddress destination, byte[] privateData, long timeoutNanos)
            throws InterruptedException {
        checkReachable(LOOK_UP, destination.getAddress());
        ProgramAddress addresses = new ProgramAddress(0, Gid.of(device.address()), Gid.of(destination.getAddress()));
        long service = PortSpace.DATAGRAMS.service(destination.getPort());
        try (Inquiry inquiry = device.protocol()
                .inquire(destination.getAddress(), id -> new ServiceRequest(id, service, addresses, privateData))) {
            inquiries.add(inquiry);
            try {
                return answer(inquiry, destination, closing ? 0 : timeoutNanos, timeoutNanos);
            } finally {
                inquiries.remove(inquiry);
            }
        }
    }

    private DatagramService answer(Inquiry inquiry, InetSocketAddress destination, long timeout, long timeoutNanos)
            throws InterruptedException {
        ServiceReply reply = inquiry.await(timeout);
        if (closing) {
            throw new IllegalStateException(this + " was closed while looking up " + destination);
        }
        if (reply == null) {
            throw silent(inquiry, destination, timeoutNanos);
        }
        if (reply.status() != ServiceReply.FOUND) {
            throw new ConnectionRejectedException(
                    LOOK_UP, destination + " rejected the request: " + why(reply.status()), reply.privateData());
        }
        DatagramTarget target =
                new DatagramTarget(IbDevice.path(destination.getAddress(), 0), reply.queuePair(), reply.queueKey());
        return new DatagramService(target, reply.privateData());
    }

    @Override
    public MulticastDriver joinMulticast(InetAddress local, InetAddress group, long timeoutNanos) {
        check(JOIN, local);
        checkReachable(JOIN, group);
        try {
            return new IbMulticastMembership(device, (Inet4Address) group);
        } catch (IOException e) {
            throw new VerbException(
                    JOIN,
                    Errno.EIO,
                    group.getHostAddress() + " cannot be joined at "
                            + device.address().getHostAddress() + ": " + e.getMessage(),
                    e);
        }
    }

    private static RuntimeException silent(Inquiry inquiry, InetSocketAddress destination, long timeoutNanos) {
        return inquiry.isUnanswered()
                ? IbDevice.unreachable(LOOK_UP, destination)
                : new DeadlineException(
                        LOOK_UP + ": " + destination + " did not answer within "
                                + TimeUnit.NANOSECONDS.toMillis(timeoutNanos)
                                + " ms; check that it runs, or wait longer",
                        null);
    }

    private static String why(int status) {
        return switch (status) {
            case ServiceReply.NOBODY_LISTENS -> "no program listens for datagram requests there";
            case ServiceReply.REJECTED -> "its program declined it";
            default -> "status " + status;
        };
    }

    @Override
    public void closing() {
        closing = true;
        inquiries.forEach(Inquiry::close);
    }

    @Override
    public void close() {
        closing();
    }

    @Override
    public String toString() {
        return device.toString();
    }
}
