package io.rdmacomm.soft.cm;

import io.rdmacomm.soft.iwarp.MpaFrame;
import io.rdmacomm.soft.iwarp.MpaNegotiation;
import io.rdmacomm.soft.iwarp.PeerHandshake;
import io.rdmacomm.soft.iwarp.QueuePairAddress;
import io.rdmacomm.soft.tcp.LinkTerms;
import io.rdmacomm.soft.tcp.TcpEndpoint;
import io.rdmacomm.soft.tcp.TcpSettings;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.cm.ConnectFailedException;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.spi.ConnectionDriver;
import io.rdmacomm.verbs.spi.ConnectionRequestDriver;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;

/// A peer's MPA request that has not been answered.
final class SoftConnectionRequest implements ConnectionRequestDriver {
    private final SoftConnectionManager connections;
    private final MpaRequest request;

    SoftConnectionRequest(SoftConnectionManager manager, MpaRequest request) {
        this.connections = manager;
        this.request = request;
    }

    @Override
    public InetSocketAddress localAddress() {
        return request.localAddress();
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return request.remoteAddress();
    }

    @Override
    public byte[] privateData() {
        return request.frame().privateData();
    }

    @Override
    public int responderResources() {
        return SoftConnection.depth(request.frame().outboundReads());
    }

    @Override
    public int initiatorDepth() {
        return SoftConnection.depth(request.frame().inboundReads());
    }

    @Override
    public void prepare(QueuePair queuePair) {
        SoftConnectionManager.prepare(queuePair);
    }

    @Override
    public ConnectionDriver accept(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos) {
        TcpEndpoint endpoint = endpoint(queuePair);
        MpaFrame frame = request.frame();
        MpaNegotiation negotiation = connections.negotiation(parameters, localAddress(), remoteAddress());
        boolean ours = frame.asksForHandshake();
        byte[] privateData = parameters.privateData();
        MpaFrame reply =
                negotiation.acceptance(frame, ours ? handshake(queuePair).appendTo(privateData) : privateData);
        SocketChannel channel;
        try {
            channel = request.reply(reply);
        } catch (IOException e) {
            throw new ConnectFailedException(
                    "accept (rdma_accept)",
                    Errno.ECONNRESET,
                    remoteAddress() + " disconnected before its request was accepted: " + e.getMessage());
        }
        TcpSettings own = connections.settings();
        LinkTerms terms = new LinkTerms(
                negotiation.responderTerms(frame, reply),
                ours ? LinkTerms.FEATURES : 0,
                ours
                        ? own.segmentLimit()
                        : SoftConnection.segmentLimit(localAddress().getAddress(), own),
                false,
                0);
        SoftConnection connection =
                new SoftConnection(endpoint, queuePair, localAddress(), remoteAddress(), privateData());
        connection.begin(channel, terms, parameters, responderResources());
        return connection;
    }

    private TcpEndpoint endpoint(QueuePair queuePair) {
        try {
            return connections.endpoint(queuePair);
        } catch (IllegalStateException e) {
            request.drop();
            throw e;
        }
    }

    /// The block for one of our own devices, after the private data of the program.
    private PeerHandshake handshake(QueuePair queuePair) {
        return new PeerHandshake(
                MpaFrame.Kind.REPLY,
                PeerHandshake.Verdict.ACCEPTED,
                LinkTerms.FEATURES,
                LinkTerms.LONGEST_SEGMENT,
                0,
                PeerHandshake.NO_HOST,
                connections.addressOf(queuePair),
                0,
                0,
                QueuePairAddress.NONE);
    }

    @Override
    public void reject(byte[] privateData) {
        request.reject(privateData);
    }

    /// An accepted request's channel belongs to the queue pair, a rejected one's is closed.
    @Override
    public void close() {}

    @Override
    public String toString() {
        return "connection request of " + remoteAddress() + " on " + connections.device();
    }
}
