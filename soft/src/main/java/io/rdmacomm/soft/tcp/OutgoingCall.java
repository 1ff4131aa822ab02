package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.iwarp.MpaFrame;
import io.rdmacomm.soft.iwarp.MpaFrameReader;
import io.rdmacomm.soft.iwarp.MpaNegotiation;
import io.rdmacomm.soft.iwarp.MpaTerms;
import io.rdmacomm.soft.iwarp.PeerHandshake;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;

/// A connection that a queue pair opens to its peer, until the peer has answered. Continues even if the queue pair
/// no longer wants it: a peer that has accepted must be notified, or it would see a failure. Before the peer's host
/// has answered, a new call may replace this one: TCP retransmits a lost SYN only after a second (RFC 6298 2.1),
/// when most queue pairs have exhausted their retries.
final class OutgoingCall extends TcpCall {
    private final TcpConnectionSetup setup;
    private final PeerHandshake handshake;
    private final long hostTimeoutNanos;
    private final MpaNegotiation negotiation;
    private final MpaFrame request;
    private final ByteBuffer bytes;
    private final MpaFrameReader reader = new MpaFrameReader(MpaFrame.Kind.REPLY);

    /// Begins a call.
    ///
    /// @param hostTimeoutNanos how long the peer's host may take to answer
    OutgoingCall(
            TcpNode node,
            TcpConnectionSetup setup,
            SocketChannel channel,
            PeerHandshake handshake,
            long hostTimeoutNanos) {
        super(node, channel);
        this.setup = setup;
        this.handshake = handshake;
        this.hostTimeoutNanos = hostTimeoutNanos;
        this.negotiation = setup.negotiation();
        this.request = negotiation.request(handshake.appendTo(new byte[0]));
        this.bytes = request.encode();
    }

    @Override
    void advance(SelectionKey key) throws IOException {
        if (!channel().isConnected()) {
            try {
                if (!channel().finishConnect()) {
                    return;
                }
            } catch (IOException e) {
                // No program listens there: the queue pair retries.
                end();
                return;
            }
        }
        channel().write(bytes);
        key.interestOps(bytes.hasRemaining() ? SelectionKey.OP_WRITE : SelectionKey.OP_READ);
        while (!reader.advance()) {
            int count = channel().read(reader.buffer());
            if (count < 0) {
                throw new EOFException("the peer has hung up");
            }
            if (count == 0) {
                return;
            }
        }
        decide(reader.frame());
    }

    private void decide(MpaFrame reply) throws IOException {
        PeerHandshake peer = PeerHandshake.find(reply.privateData());
        if (reply.isRejected() || peer == null || !peer.answers(handshake)) {
            end();
            return;
        }
        MpaTerms terms = negotiation.initiatorTerms(request, reply);
        leave();
        setup.callAccepted(this, channel(), LinkTerms.with(peer, terms, true, node().settings()));
    }

    /// Whether the peer's host has answered, and the peer is likely to answer.
    boolean isReached() {
        return channel().isConnected() && !isOlderThan(super.timeoutNanos());
    }

    /// Hanging up while the peer's answer is in flight would fail its queue pair. So once its host has answered, the
    /// call may take as long as a link may be silent.
    @Override
    long timeoutNanos() {
        long usual = super.timeoutNanos();
        return channel().isConnected()
                ? Math.max(usual, TimeUnit.SECONDS.toNanos(node().settings().silenceSeconds()))
                : Math.min(usual, hostTimeoutNanos);
    }

    @Override
    void onEnd() {
        setup.callFailed(this);
    }
}
