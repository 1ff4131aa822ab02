package io.rdmacomm.soft.cm;

import io.rdmacomm.soft.iwarp.MpaNegotiation;
import io.rdmacomm.soft.iwarp.QueuePairAddress;
import io.rdmacomm.soft.tcp.TcpConnectionSetup;
import io.rdmacomm.soft.tcp.TcpSettings;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.spi.ConnectionManagerDriver;
import io.rdmacomm.verbs.spi.ConnectionRequestDriver;
import io.rdmacomm.verbs.spi.ListenerDriver;
import io.rdmacomm.verbs.spi.RouteDriver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// Connects queue pairs by address, with MPA over TCP (RFC 5044, RFC 6581), as rdma_cm does for iWARP devices: the
/// peer may be any iWARP device. Listens on real TCP ports, at any address of this host.
public final class SoftConnectionManager implements ConnectionManagerDriver {
    /// The limit of Linux siw, not counting the 4 bytes of IRD and ORD.
    private static final int PRIVATE_DATA_LIMIT = 251;

    private final String device;
    private final TcpSettings settings;
    private final Gid gid;
    private final int lid;
    private final HostContexts contexts;
    private final IntFunction<@Nullable TcpConnectionSetup> setups;

    /// Connects queue pairs of one context.
    ///
    /// @param device its name, for messages
    /// @param contexts finds the contexts of this host
    /// @param setups the TCP side of the queue pair with a number; null if it is closed
    public SoftConnectionManager(
            String device,
            TcpSettings settings,
            Gid gid,
            int lid,
            HostContexts contexts,
            IntFunction<@Nullable TcpConnectionSetup> setups) {
        this.device = device;
        this.settings = settings;
        this.gid = gid;
        this.lid = lid;
        this.contexts = contexts;
        this.setups = setups;
    }

    TcpSettings settings() {
        return settings;
    }

    /// The name of the device.
    String device() {
        return device;
    }

    /// The TCP side of a queue pair.
    ///
    /// @throws IllegalStateException if it was closed meanwhile
    TcpConnectionSetup setup(QueuePair queuePair) {
        TcpConnectionSetup setup = setups.apply(queuePair.number());
        if (setup == null) {
            throw new IllegalStateException(queuePair + " is closed");
        }
        return setup;
    }

    HostContexts contexts() {
        return contexts;
    }

    QueuePairAddress addressOf(QueuePair queuePair) {
        return new QueuePairAddress(gid, lid, queuePair.number());
    }

    @Override
    public int privateDataLimit() {
        return PRIVATE_DATA_LIMIT;
    }

    @Override
    public ListenerDriver<ConnectionRequestDriver> listen(
            InetSocketAddress address, int backlog, IdentifierOptions options) {
        checkFamily(address.getAddress(), options);
        try {
            return new SoftListener(this, new MpaAcceptor(address, AcceptLimits.withBacklog(backlog), options));
        } catch (IOException e) {
            throw cannotListen(address, e);
        }
    }

    private static void checkFamily(InetAddress address, IdentifierOptions options) {
        if (options.addressFamilyOnly() && address instanceof Inet6Address && address.isAnyLocalAddress()) {
            throw new VerbException(
                    "set address family only (rdma_set_option)",
                    Errno.EOPNOTSUPP,
                    "sockets of Java that listen at " + address.getHostAddress()
                            + " do so for IPv4 as well; listen at one IPv6 address, or leave the option out");
        }
    }

    private static VerbException cannotListen(InetSocketAddress address, IOException cause) {
        String operation = "listen (rdma_listen)";
        if (!isOfThisHost(address.getAddress())) {
            String hint = address + " is not an address of this host; use one of its own or the wildcard";
            return new VerbException(operation, Errno.EADDRNOTAVAIL, hint, cause);
        }
        if (cause instanceof BindException) {
            String hint = "port " + address.getPort() + " is taken; use another one, or 0 for any";
            return new VerbException(operation, Errno.EADDRINUSE, hint, cause);
        }
        Errno errno = cause instanceof SocketException ? Errno.EACCES : Errno.EIO;
        return new VerbException(operation, errno, "cannot listen at " + address + ": " + cause.getMessage(), cause);
    }

    private static boolean isOfThisHost(InetAddress address) {
        try {
            return address.isAnyLocalAddress()
                    || address.isLoopbackAddress()
                    || NetworkInterface.getByInetAddress(address) != null;
        } catch (SocketException e) {
            throw new UncheckedIOException("reading the network interfaces", e);
        }
    }

    @Override
    public RouteDriver resolve(InetSocketAddress destination, IdentifierOptions options, long timeoutNanos) {
        InetSocketAddress local = RouteProbe.localAddress(destination, options.localAddress());
        return new SoftRoute(this, local, destination, options);
    }

    /// The terms that this side asks for.
    MpaNegotiation negotiation(ConnectionParameters parameters, InetSocketAddress local, InetSocketAddress remote) {
        boolean checksum = settings.checksumBetween(local.getAddress(), remote.getAddress());
        return new MpaNegotiation(checksum, parameters.responderResources(), parameters.initiatorDepth());
    }

    @Override
    public void close() {}

    @Override
    public String toString() {
        return "connection manager of " + device;
    }
}
