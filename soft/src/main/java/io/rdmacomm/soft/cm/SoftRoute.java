package io.rdmacomm.soft.cm;

import io.rdmacomm.soft.iwarp.MpaException;
import io.rdmacomm.soft.iwarp.PeerHandshake;
import io.rdmacomm.soft.tcp.LinkTerms;
import io.rdmacomm.soft.tcp.TcpConnectionSetup;
import io.rdmacomm.soft.tcp.TcpSettings;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.cm.ConnectFailedException;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRejectedException;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.cm.PeerUnreachableException;
import io.rdmacomm.verbs.spi.ConnectionDriver;
import io.rdmacomm.verbs.spi.RouteDriver;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The route to a peer's TCP port.
final class SoftRoute implements RouteDriver {
    private static final String CONNECT = "connect (rdma_connect)";
    /// After this time the peer is unreachable. A server with a full backlog may take as long. A process that calls
    /// itself with its last file descriptor waits this long, because it cannot accept.
    private static final long REPLY_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final SoftConnectionManager connections;
    private final InetSocketAddress local;
    private final InetSocketAddress remote;
    /// The address to bind to, if the program has chosen one.
    private final @Nullable InetSocketAddress wanted;
    private final MpaInitiator initiator;

    SoftRoute(
            SoftConnectionManager manager,
            InetSocketAddress local,
            InetSocketAddress remote,
            IdentifierOptions options) {
        this.connections = manager;
        this.local = local;
        this.remote = remote;
        this.wanted = options.localAddress();
        this.initiator = new MpaInitiator(remote, options);
    }

    /// The address that this side will have; its port is chosen when it connects.
    @Override
    public InetSocketAddress localAddress() {
        return local;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return remote;
    }

    @Override
    public ConnectionDriver connect(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos)
            throws InterruptedException {
        TcpConnectionSetup setup = connections.setup(queuePair);
        try {
            return establish(setup, queuePair, parameters, Math.min(timeoutNanos, REPLY_NANOS));
        } catch (ClosedByInterruptException e) {
            Thread.interrupted();
            throw new InterruptedException("interrupted while connecting to " + remote);
        } catch (AsynchronousCloseException e) {
            throw new IllegalStateException(this + " was closed while connecting");
        } catch (IOException e) {
            if (e instanceof SocketTimeoutException) {
                // The peer may consider itself connected, so this queue pair must not be used again.
                queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
            }
            throw failure(e, timeoutNanos);
        }
    }

    private SoftConnection establish(
            TcpConnectionSetup setup, QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos)
            throws IOException {
        long deadline = System.nanoTime() + timeoutNanos;
        MpaConnection made = initiator.connect(
                connections.negotiation(parameters, localAddress(), remoteAddress()),
                parameters.privateData(),
                timeoutNanos);
        PeerHandshake peer = PeerHandshake.find(made.reply().privateData());
        TcpSettings own = connections.settings();
        LinkTerms terms = peer == null
                ? new LinkTerms(made.terms(), 0, SoftConnection.segmentLimit(local.getAddress(), own), true, 0)
                : LinkTerms.with(peer, made.terms(), true, own);
        byte[] privateData = PeerHandshake.withoutBlock(made.reply().privateData());
        SoftConnection connection =
                new SoftConnection(setup, queuePair, addressOf(made.channel()), remote, privateData);
        int peerReads = SoftConnection.depth(made.reply().outboundReads());
        boolean complete = false;
        try {
            HostAgreement agreed = peer == null ? null : answer(made.channel(), peer, queuePair);
            if (agreed != null) {
                connection.beginOnHost(agreed, terms, parameters, peerReads, deadline);
            } else {
                connection.begin(made.channel(), terms, parameters, peerReads);
            }
            initiator.release();
            complete = true;
            return connection;
        } finally {
            if (!complete) {
                initiator.drop();
            }
        }
    }

    /// Agrees to use shared memory, if the peer offers it; null for TCP.
    private @Nullable HostAgreement answer(SocketChannel channel, PeerHandshake peer, QueuePair queuePair)
            throws IOException {
        return peer.namesHost()
                ? HostAgreement.answer(channel, peer, connections.addressOf(queuePair), connections.contexts())
                : null;
    }

    private InetSocketAddress addressOf(SocketChannel channel) {
        try {
            return (InetSocketAddress) channel.getLocalAddress();
        } catch (IOException e) {
            return local;
        }
    }

    private RdmaException failure(IOException cause, long timeoutNanos) {
        return switch (cause) {
            case MpaRejectedException rejection ->
                new ConnectionRejectedException(
                        CONNECT,
                        remote + " rejected the connection",
                        PeerHandshake.withoutBlock(rejection.privateData()));
            case NoRouteToHostException e ->
                unreachable(Errno.EHOSTUNREACH, "no route (" + e.getMessage() + "); check the network");
            case BindException e ->
                new ConnectFailedException(
                        CONNECT,
                        Errno.EADDRINUSE,
                        "cannot connect from " + wanted + " (" + e.getMessage() + "); use another port, or 0 for any");
            case ConnectException e ->
                new ConnectionRejectedException(
                        CONNECT,
                        "no program listens at " + remote + " (" + e.getMessage() + "); check address and port",
                        new byte[0]);
            case SocketTimeoutException e
            when timeoutNanos >= REPLY_NANOS ->
                unreachable(Errno.ETIMEDOUT, "no answer within 30 s; check that it speaks iWARP");
            case SocketTimeoutException e ->
                new DeadlineException(
                        CONNECT + ": " + remote + " did not answer within "
                                + TimeUnit.NANOSECONDS.toMillis(timeoutNanos)
                                + " ms; check that it speaks iWARP, or wait longer",
                        cause);
            case MpaException e ->
                new ConnectFailedException(
                        CONNECT,
                        Errno.EIO,
                        remote + " does not speak MPA: " + e.getMessage()
                                + "; check the port, and that the peer uses RDMA there");
            default ->
                new ConnectFailedException(
                        CONNECT, Errno.ECONNRESET, remote + " ended the connection: " + cause.getMessage());
        };
    }

    private PeerUnreachableException unreachable(Errno errno, String detail) {
        return new PeerUnreachableException(CONNECT, errno, remote + " cannot be reached: " + detail);
    }

    @Override
    public void closing() {
        initiator.close();
    }

    @Override
    public void close() {}

    @Override
    public String toString() {
        return "route to " + remote + " on " + connections.device();
    }
}
