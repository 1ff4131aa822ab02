package io.rdmacomm.soft.cm.ib;

import io.rdmacomm.soft.roce.cm.Conversation;
import io.rdmacomm.soft.roce.mad.ConnectReply;
import io.rdmacomm.soft.roce.mad.ConnectRequest;
import io.rdmacomm.soft.roce.mad.PortSpace;
import io.rdmacomm.soft.roce.mad.ProgramAddress;
import io.rdmacomm.soft.roce.mad.ReadDepths;
import io.rdmacomm.soft.roce.mad.Rejection;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.ConnectFailedException;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRejectedException;
import io.rdmacomm.verbs.spi.ConnectionDriver;
import io.rdmacomm.verbs.spi.ConnectionFacts;
import io.rdmacomm.verbs.spi.RouteDriver;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The route to a program of a peer.
final class IbRoute implements RouteDriver {
    private static final String CONNECT = "connect (rdma_connect)";
    private static final byte[] NO_DATA = {};

    private final IbDevice device;
    private final InetSocketAddress local;
    private final InetSocketAddress remote;
    private volatile @Nullable Conversation conversation;
    private volatile boolean closing;

    /// @param local the address to connect from; port 0 for any
    IbRoute(IbDevice device, InetSocketAddress local, InetSocketAddress remote) {
        this.device = device;
        this.local = local;
        this.remote = remote;
    }

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
        int from = device.protocol().takePort(local.getPort());
        if (from == 0) {
            throw new VerbException(
                    CONNECT,
                    Errno.EADDRINUSE,
                    "cannot connect from " + local + ", which another connection has; use another port, or 0 for any");
        }
        boolean complete = false;
        try {
            ConnectionTerms terms = new ConnectionTerms(queuePair, parameters, device.depths(parameters));
            IbConnection connection = connect(from, terms, timeoutNanos);
            complete = true;
            return connection;
        } finally {
            if (!complete) {
                device.protocol().returnPort(from);
            }
        }
    }

    private IbConnection connect(int from, ConnectionTerms terms, long timeoutNanos) throws InterruptedException {
        Conversation asked = device.protocol().connect(remote.getAddress(), id -> request(id, from, terms));
        conversation = asked;
        boolean complete = false;
        try {
            IbConnection connection = establish(asked, from, terms, timeoutNanos);
            complete = true;
            return connection;
        } finally {
            if (!complete) {
                asked.refuse(Rejection.TIMEOUT, NO_DATA);
            }
        }
    }

    private ConnectRequest request(int id, int from, ConnectionTerms terms) {
        Gid source = Gid.of(local.getAddress());
        Gid destination = Gid.of(remote.getAddress());
        ConnectionParameters parameters = terms.parameters();
        return new ConnectRequest(
                id,
                PortSpace.CONNECTIONS.service(remote.getPort()),
                device.guid(),
                terms.queuePair().number(),
                terms.receivePsn(),
                terms.depths(),
                /* reliable= */ true,
                device.port().mtu().code(),
                parameters.retryCount(),
                parameters.rnrRetry(),
                terms.ackTimeout().code(),
                0,
                source,
                destination,
                new ProgramAddress(from, source, destination),
                parameters.privateData());
    }

    private IbConnection establish(Conversation asked, int from, ConnectionTerms terms, long timeoutNanos)
            throws InterruptedException {
        Conversation.State state =
                closing ? Conversation.State.ENDED : asked.awaitChange(Conversation.State.REQUESTING, timeoutNanos);
        ConnectReply reply = asked.reply();
        if (closing) {
            throw new IllegalStateException(this + " was closed while connecting");
        }
        if (state != Conversation.State.ACCEPTED || reply == null) {
            if (state == Conversation.State.REQUESTING || state == Conversation.State.UNANSWERED) {
                // The peer may consider itself connected, so this queue pair must not be used again.
                IbConnection.fail(terms.queuePair());
            }
            throw failure(asked, state, timeoutNanos);
        }
        ReadDepths own = terms.depths();
        ReadDepths agreed = new ReadDepths(
                Math.min(own.accepts(), reply.depths().makes()),
                Math.min(own.makes(), reply.depths().accepts()));
        terms.bringUp(
                IbDevice.path(remote.getAddress(), 0),
                device.port().mtu(),
                reply.queuePair(),
                reply.psn(),
                agreed,
                reply.rnrRetries());
        InetSocketAddress mine = new InetSocketAddress(local.getAddress(), from);
        return IbConnection.confirmed(
                device,
                asked,
                terms,
                new ConnectionFacts(mine, remote, reply.privateData(), agreed.accepts(), agreed.makes()));
    }

    private RuntimeException failure(Conversation asked, Conversation.State state, long timeoutNanos) {
        Rejection refusal = asked.refusal();
        if (refusal != null && refusal.reason() == Rejection.TIMEOUT) {
            return new ConnectFailedException(CONNECT, Errno.ECONNRESET, remote + " gave the connection up");
        }
        if (refusal != null) {
            return new ConnectionRejectedException(
                    CONNECT, remote + " rejected the connection: " + why(refusal.reason()), refusal.privateData());
        }
        return switch (state) {
            case UNANSWERED -> IbDevice.unreachable(CONNECT, remote);
            case REQUESTING ->
                new DeadlineException(
                        CONNECT + ": " + remote + " did not answer within "
                                + TimeUnit.NANOSECONDS.toMillis(timeoutNanos)
                                + " ms; check that it runs, or wait longer",
                        null);
            case ACCEPTED, REQUESTED, ACCEPTING, CONNECTED, DISCONNECTING, REFUSED, ENDED ->
                new ConnectFailedException(CONNECT, Errno.ECONNRESET, remote + " ended the connection at once");
        };
    }

    private static String why(int reason) {
        return switch (reason) {
            case Rejection.NOBODY_LISTENS -> "no program listens there";
            case Rejection.PROGRAM -> "its program declined it";
            case Rejection.STALE -> "it still knows this queue pair from an earlier connection; try again";
            case Rejection.WRONG_GID ->
                "the address in the request is not that of the packet; something between translates addresses";
            case Rejection.WRONG_MTU -> "its path MTU is smaller than that of this device";
            default -> "reason " + reason + " (IBTA 12.6.7.2)";
        };
    }

    @Override
    public void closing() {
        closing = true;
        Conversation asked = conversation;
        if (asked != null) {
            asked.giveUp(Rejection.TIMEOUT);
        }
    }

    /// Does nothing: the connection does not need the route.
    @Override
    public void close() {}

    @Override
    public String toString() {
        return "route to " + remote + " on " + device;
    }
}
