package io.rdmacomm.soft.cm;

import io.rdmacomm.soft.iwarp.MpaFrame;
import io.rdmacomm.soft.iwarp.MpaNegotiation;
import io.rdmacomm.soft.iwarp.PeerHandshake;
import io.rdmacomm.soft.tcp.LinkTerms;
import io.rdmacomm.soft.tcp.TcpConnectionSetup;
import io.rdmacomm.soft.tcp.TcpSettings;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.cm.ConnectFailedException;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.spi.ConnectionDriver;
import io.rdmacomm.verbs.spi.ConnectionFacts;
import io.rdmacomm.verbs.spi.ConnectionRequestDriver;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SocketChannel;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/// A peer's unanswered MPA request.
final class SoftConnectionRequest implements ConnectionRequestDriver {
    private static final String ACCEPT = "accept (rdma_accept)";
    /// The timeout of Linux siw.
    private static final long CONFIRM_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final SoftConnectionManager connections;
    private final MpaRequest request;
    private final ConnectionFacts facts;
    private volatile boolean accepting;
    private volatile boolean closing;

    SoftConnectionRequest(SoftConnectionManager manager, MpaRequest request) {
        this.connections = manager;
        this.request = request;
        this.facts = new ConnectionFacts(
                request.localAddress(),
                request.remoteAddress(),
                request.frame().privateData(),
                SoftConnection.depth(request.frame().outboundReads()),
                SoftConnection.depth(request.frame().inboundReads()));
    }

    @Override
    public ConnectionFacts facts() {
        return facts;
    }

    @Override
    public ConnectionDriver accept(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos)
            throws InterruptedException {
        accepting = true;
        try {
            checkOpen();
            return establish(queuePair, parameters, timeoutNanos);
        } catch (ClosedByInterruptException e) {
            Thread.interrupted();
            throw new InterruptedException("interrupted while accepting a " + this);
        } catch (IOException e) {
            request.drop();
            checkOpen();
            throw failure(e, timeoutNanos);
        } finally {
            accepting = false;
        }
    }

    private void checkOpen() {
        if (closing) {
            request.drop();
            throw new IllegalStateException(this + " was closed while accepting");
        }
    }

    private SoftConnection establish(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos)
            throws IOException {
        TcpConnectionSetup setup = setup(queuePair);
        MpaFrame frame = request.frame();
        MpaNegotiation negotiation = connections.negotiation(parameters, facts.local(), facts.remote());
        boolean ours = frame.asksForHandshake();
        PeerHandshake offer = HostAgreement.offer(connections.addressOf(queuePair), identity());
        byte[] privateData = parameters.privateData();
        MpaFrame reply = negotiation.acceptance(frame, ours ? offer.appendTo(privateData) : privateData);
        long deadline = System.nanoTime() + Math.min(timeoutNanos, CONFIRM_NANOS);
        SocketChannel channel = reply(reply);
        TcpSettings own = connections.settings();
        LinkTerms terms = new LinkTerms(
                negotiation.responderTerms(frame, reply),
                ours ? LinkTerms.FEATURES : 0,
                ours
                        ? own.segmentLimit()
                        : SoftConnection.segmentLimit(facts.local().getAddress(), own),
                false,
                0);
        SoftConnection connection =
                new SoftConnection(setup, queuePair, facts.local(), facts.remote(), facts.privateData());
        HostAgreement agreed = ours && offer.namesHost()
                ? HostAgreement.await(channel, offer, connections.contexts(), deadline)
                : null;
        if (agreed != null) {
            connection.beginOnHost(agreed, terms, parameters, facts.responderResources(), deadline);
        } else {
            connection.begin(channel, terms, parameters, facts.responderResources());
        }
        return connection;
    }

    private RdmaException failure(IOException cause, long timeoutNanos) {
        if (!(cause instanceof SocketTimeoutException)) {
            return new ConnectFailedException(
                    ACCEPT,
                    Errno.ECONNRESET,
                    facts.remote() + " did not complete the connection: " + cause.getMessage());
        }
        String silent = facts.remote() + " did not complete the connection";
        return timeoutNanos < CONFIRM_NANOS
                ? new DeadlineException(
                        ACCEPT + ": " + silent + " within " + TimeUnit.NANOSECONDS.toMillis(timeoutNanos) + " ms",
                        cause)
                : new ConnectFailedException(ACCEPT, Errno.ETIMEDOUT, silent + " within 10 s");
    }

    /// Identifies this side's context to a peer that may find it in shared memory.
    private UUID identity() {
        boolean near = HostAgreement.mayShareMemory(facts.local(), facts.remote());
        return near ? connections.contexts().identity() : PeerHandshake.NO_HOST;
    }

    private SocketChannel reply(MpaFrame reply) {
        try {
            return request.reply(reply);
        } catch (IOException e) {
            checkOpen();
            throw new ConnectFailedException(
                    ACCEPT,
                    Errno.ECONNRESET,
                    facts.remote() + " disconnected before its request was accepted: " + e.getMessage());
        }
    }

    private TcpConnectionSetup setup(QueuePair queuePair) {
        try {
            return connections.setup(queuePair);
        } catch (IllegalStateException e) {
            request.drop();
            throw e;
        }
    }

    @Override
    public void reject(byte[] privateData) {
        request.reject(privateData);
    }

    @Override
    public void closing() {
        closing = true;
        if (accepting) {
            request.drop();
        }
    }

    /// An accepted request's channel belongs to the queue pair, a rejected one's is closed.
    @Override
    public void close() {}

    @Override
    public String toString() {
        return "connection request of " + facts.remote() + " on " + connections.device();
    }
}
