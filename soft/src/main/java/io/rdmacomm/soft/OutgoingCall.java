package io.rdmacomm.soft;

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

/// A connection that a queue pair opens to its peer, until the peer has answered. Goes on when the queue pair
/// does not want it any more: a peer that has accepted must be told so, or it would take the end for a failure.
final class OutgoingCall extends Call {
    private final SoftQueuePair queuePair;
    private final PeerHandshake handshake;
    private final MpaNegotiation wishes;
    private final MpaFrame request;
    private final ByteBuffer bytes;
    private final MpaFrameReader reader = new MpaFrameReader(MpaFrame.Kind.REPLY);

    OutgoingCall(SoftQueuePair queuePair, SocketChannel channel, PeerHandshake handshake) {
        super(queuePair.context().links(), channel);
        this.queuePair = queuePair;
        this.handshake = handshake;
        this.wishes = queuePair.wishes();
        this.request = wishes.request(handshake.appendTo(new byte[0]));
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
                // Nobody listens there: a matter of retries, not of protocol.
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
        MpaTerms terms = wishes.initiatorTerms(request, reply);
        leave();
        queuePair.connected(
                this,
                channel(),
                new LinkTerms(
                        terms,
                        LinkTerms.FEATURES & peer.features(),
                        LinkTerms.segmentLimit(peer, queuePair.context().settings()),
                        true,
                        peer.source().number()));
    }

    @Override
    void onEnd() {
        queuePair.callEnded(this);
    }
}
