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
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.cm.ConnectFailedException;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.spi.ConnectionDriver;
import io.rdmacomm.verbs.spi.ConnectionRequestDriver;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/// A peer's request for a connection.
final class IbConnectionRequest implements ConnectionRequestDriver {
    private static final String ACCEPT = "accept (rdma_accept)";
    private static final byte[] NO_DATA = {};

    private final IbConnectionManager connections;
    private final Conversation conversation;
    private final ConnectRequest request;
    private volatile boolean closing;

    IbConnectionRequest(IbConnectionManager manager, Conversation conversation) {
        this.connections = manager;
        this.conversation = conversation;
        this.request = conversation.request();
    }

    @Override
    public InetSocketAddress localAddress() {
        return new InetSocketAddress(connections.address(), PortSpace.port(request.service()));
    }

    @Override
    public InetSocketAddress remoteAddress() {
        ProgramAddress addresses = request.addresses();
        return new InetSocketAddress(conversation.peer(), addresses == null ? 0 : addresses.port());
    }

    @Override
    public byte[] privateData() {
        return request.privateData().clone();
    }

    @Override
    public int responderResources() {
        return request.depths().makes();
    }

    @Override
    public int initiatorDepth() {
        return request.depths().accepts();
    }

    @Override
    public void prepare(QueuePair queuePair) {
        IbConnectionManager.prepare(queuePair);
    }

    @Override
    public ConnectionDriver accept(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos)
            throws InterruptedException {
        boolean complete = false;
        try {
            IbConnection connection = establish(queuePair, parameters, timeoutNanos);
            complete = true;
            return connection;
        } finally {
            if (!complete) {
                conversation.refuse(Rejection.PROGRAM, NO_DATA);
                IbConnection.fail(queuePair);
            }
        }
    }

    private IbConnection establish(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos)
            throws InterruptedException {
        ReadDepths own = connections.depths(parameters);
        ReadDepths agreed = new ReadDepths(
                Math.min(own.accepts(), request.depths().makes()),
                Math.min(own.makes(), request.depths().accepts()));
        ConnectionTerms terms = new ConnectionTerms(queuePair, parameters, agreed);
        terms.bringUp(
                IbConnectionManager.path(conversation.peer(), request.trafficClass()),
                PathMtu.ofCode(request.mtu()),
                request.queuePair(),
                request.psn(),
                agreed,
                request.rnrRetries());
        conversation.accept(new ConnectReply(
                conversation.id(),
                request.id(),
                queuePair.number(),
                terms.receivePsn(),
                agreed,
                parameters.rnrRetry(),
                connections.guid(),
                parameters.privateData()));
        Conversation.State state = conversation.awaitChange(Conversation.State.ACCEPTING, timeoutNanos);
        if (closing) {
            throw new IllegalStateException(this + " was closed while accepting");
        }
        return switch (state) {
            case CONNECTED, ENDED ->
                IbConnection.confirmed(
                        connections, conversation, terms, agreed, localAddress(), remoteAddress(), privateData());
            case ACCEPTING ->
                throw new DeadlineException(
                        ACCEPT + ": " + remoteAddress() + " did not complete the connection within "
                                + TimeUnit.NANOSECONDS.toMillis(timeoutNanos) + " ms",
                        null);
            case UNANSWERED ->
                throw new ConnectFailedException(
                        ACCEPT, Errno.ETIMEDOUT, remoteAddress() + " did not complete the connection");
            case REQUESTING, ACCEPTED, REQUESTED, DISCONNECTING, REFUSED ->
                throw new ConnectFailedException(
                        ACCEPT, Errno.ECONNRESET, remoteAddress() + " gave up before its request was accepted");
        };
    }

    @Override
    public void reject(byte[] privateData) {
        conversation.refuse(Rejection.PROGRAM, privateData);
    }

    @Override
    public void closing() {
        closing = true;
        // TIMEOUT lets the peer try again.
        conversation.giveUp(Rejection.TIMEOUT);
    }

    /// Does nothing: the connection does not need the request.
    @Override
    public void close() {}

    @Override
    public String toString() {
        return "connection request of " + remoteAddress() + " on " + connections;
    }
}
