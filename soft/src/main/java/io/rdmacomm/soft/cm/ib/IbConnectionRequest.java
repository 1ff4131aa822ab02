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
import io.rdmacomm.verbs.spi.ConnectionFacts;
import io.rdmacomm.verbs.spi.ConnectionRequestDriver;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/// A peer's request for a connection.
final class IbConnectionRequest implements ConnectionRequestDriver {
    private static final String ACCEPT = "accept (rdma_accept)";
    private static final byte[] NO_DATA = {};

    private final IbDevice device;
    private final Conversation conversation;
    private final ConnectRequest request;
    private final ConnectionFacts facts;
    private volatile boolean closing;

    IbConnectionRequest(IbDevice device, Conversation conversation) {
        this.device = device;
        this.conversation = conversation;
        this.request = conversation.request();
        ProgramAddress addresses = request.addresses();
        this.facts = new ConnectionFacts(
                new InetSocketAddress(device.address(), PortSpace.port(request.service())),
                new InetSocketAddress(conversation.peer(), addresses == null ? 0 : addresses.port()),
                request.privateData(),
                request.depths().makes(),
                request.depths().accepts());
    }

    @Override
    public ConnectionFacts facts() {
        return facts;
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
        ReadDepths own = device.depths(parameters);
        ReadDepths agreed = new ReadDepths(
                Math.min(own.accepts(), request.depths().makes()),
                Math.min(own.makes(), request.depths().accepts()));
        ConnectionTerms terms = new ConnectionTerms(queuePair, parameters, agreed);
        terms.bringUp(
                IbDevice.path(conversation.peer(), request.trafficClass()),
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
                device.guid(),
                parameters.privateData()));
        Conversation.State state = conversation.awaitChange(Conversation.State.ACCEPTING, timeoutNanos);
        if (closing) {
            throw new IllegalStateException(this + " was closed while accepting");
        }
        return switch (state) {
            case CONNECTED, ENDED ->
                IbConnection.confirmed(device, conversation, terms, facts.withDepths(agreed.accepts(), agreed.makes()));
            case ACCEPTING ->
                throw new DeadlineException(
                        ACCEPT + ": " + facts.remote() + " did not complete the connection within "
                                + TimeUnit.NANOSECONDS.toMillis(timeoutNanos) + " ms",
                        null);
            case UNANSWERED ->
                throw new ConnectFailedException(
                        ACCEPT, Errno.ETIMEDOUT, facts.remote() + " did not complete the connection");
            case REQUESTING, ACCEPTED, REQUESTED, DISCONNECTING, REFUSED ->
                throw new ConnectFailedException(
                        ACCEPT, Errno.ECONNRESET, facts.remote() + " gave up before its request was accepted");
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
        return "connection request of " + facts.remote() + " on " + device;
    }
}
