package io.rdmacomm.soft.cm;

import io.rdmacomm.soft.iwarp.MpaFrame;
import io.rdmacomm.soft.iwarp.MpaNegotiation;
import io.rdmacomm.soft.iwarp.PeerHandshake;
import io.rdmacomm.soft.iwarp.QueuePairAddress;
import io.rdmacomm.soft.tcp.LinkTerms;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SocketChannel;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/// Lets both ends of a connection by address agree to use shared memory, over their TCP connection:
///
/// 1. The responder's reply names its context and its queue pair, if the initiator is on the same host.
/// 2. The initiator answers with a second request frame. If it finds the responder's context in shared memory,
///    and its control file has the same identity, the frame names the initiator's context; otherwise both stay
///    with TCP.
/// 3. The responder looks for the initiator in the same way, and confirms with a second reply frame.
///
/// The TCP connection stays open: closing it disconnects.
final class HostAgreement {
    private static final int PSN_LIMIT = 1 << 24;
    private static final byte[] NO_DATA = {};

    private final SocketChannel channel;
    private final PeerHandshake peer;
    private final @Nullable PeerHandshake answer;

    private HostAgreement(SocketChannel channel, PeerHandshake peer, @Nullable PeerHandshake answer) {
        this.channel = channel;
        this.peer = peer;
        this.answer = answer;
    }

    /// Whether both ends of a TCP connection are most likely on this host: an address of the host connects to
    /// itself.
    static boolean mayShareMemory(InetSocketAddress local, InetSocketAddress remote) {
        return local.getAddress().isLoopbackAddress() || local.getAddress().equals(remote.getAddress());
    }

    /// The handshake for the responder's reply.
    ///
    /// @param own its queue pair
    /// @param identity identifies its context; [PeerHandshake#NO_HOST] if it does not use shared memory
    static PeerHandshake offer(QueuePairAddress own, UUID identity) {
        return handshake(
                MpaFrame.Kind.REPLY,
                PeerHandshake.Verdict.ACCEPTED,
                ThreadLocalRandom.current().nextLong(),
                identity,
                own,
                ThreadLocalRandom.current().nextInt(PSN_LIMIT),
                ThreadLocalRandom.current().nextInt(PSN_LIMIT),
                QueuePairAddress.NONE);
    }

    /// Answers an offer that names a context; the initiator.
    ///
    /// @param own its queue pair
    /// @param contexts finds the responder's context
    /// @return null if both stay with TCP; the responder was told
    /// @throws IOException if the connection is lost
    static @Nullable HostAgreement answer(
            SocketChannel channel, PeerHandshake offer, QueuePairAddress own, HostContexts contexts)
            throws IOException {
        boolean reached = contexts.reaches(offer.source(), offer.host());
        PeerHandshake answer = handshake(
                MpaFrame.Kind.REQUEST,
                reached ? PeerHandshake.Verdict.USE_SHARED_MEMORY : PeerHandshake.Verdict.ACCEPTED,
                offer.nonce(),
                contexts.identity(),
                own,
                /* firstPsn= */ offer.expectedPsn(),
                /* expectedPsn= */ offer.firstPsn(),
                offer.source());
        if (reached) {
            return new HostAgreement(channel, offer, answer);
        }
        send(channel, request(answer));
        return null;
    }

    /// Waits for the answer to an offer; the responder.
    ///
    /// @return null if both stay with TCP
    /// @throws IOException if the connection is lost, the initiator does not answer in time, its answer does not
    ///        fit the offer, or it names a context that cannot be reached
    static @Nullable HostAgreement await(
            SocketChannel channel, PeerHandshake offer, HostContexts contexts, long deadline) throws IOException {
        PeerHandshake answer = PeerHandshake.find(
                await(channel, MpaFrame.Kind.REQUEST, deadline).privateData());
        if (answer == null || answer.kind() != MpaFrame.Kind.REQUEST || answer.nonce() != offer.nonce()) {
            throw new IOException("unexpected answer from the peer");
        }
        if (answer.verdict() != PeerHandshake.Verdict.USE_SHARED_MEMORY) {
            return null;
        }
        boolean fits = answer.destination().equals(offer.source())
                && answer.firstPsn() == offer.expectedPsn()
                && answer.expectedPsn() == offer.firstPsn();
        if (!fits || !contexts.reaches(answer.source(), answer.host())) {
            throw new IOException("the peer wants to use shared memory, but was not found there");
        }
        return new HostAgreement(channel, answer, null);
    }

    private static PeerHandshake handshake(
            MpaFrame.Kind kind,
            PeerHandshake.Verdict verdict,
            long nonce,
            UUID identity,
            QueuePairAddress own,
            int firstPsn,
            int expectedPsn,
            QueuePairAddress peer) {
        return new PeerHandshake(
                kind,
                verdict,
                LinkTerms.FEATURES | PeerHandshake.FEATURE_SHARED_MEMORY,
                LinkTerms.LONGEST_SEGMENT,
                nonce,
                identity,
                own,
                firstPsn,
                expectedPsn,
                peer);
    }

    /// The TCP connection.
    SocketChannel channel() {
        return channel;
    }

    /// The peer's queue pair.
    QueuePairAddress peer() {
        return peer.source();
    }

    /// The number of the first packet to send.
    int sendPsn() {
        return peer.expectedPsn();
    }

    /// The number of the first packet that is expected.
    int receivePsn() {
        return peer.firstPsn();
    }

    /// Tells the peer that this side's queue pair is ready, and waits until the peer's is.
    ///
    /// @throws IOException if the connection is lost, or the responder does not confirm in time
    void confirm(long deadline) throws IOException {
        if (answer == null) {
            send(channel, MpaFrame.of(MpaFrame.Kind.REPLY, null, false, NO_DATA));
        } else {
            send(channel, request(answer));
            await(channel, MpaFrame.Kind.REPLY, deadline);
        }
    }

    private static MpaFrame request(PeerHandshake answer) {
        return new MpaNegotiation(false, 0, 0).plainRequest(answer.appendTo(NO_DATA));
    }

    /// One write is enough: few bytes were sent on this connection before, so the send buffer has room.
    private static void send(SocketChannel channel, MpaFrame frame) throws IOException {
        ByteBuffer bytes = frame.encode();
        channel.write(bytes);
        if (bytes.hasRemaining()) {
            throw new IOException("the frame does not fit into the send buffer");
        }
    }

    private static MpaFrame await(SocketChannel channel, MpaFrame.Kind kind, long deadline) throws IOException {
        try {
            channel.configureBlocking(true);
            MpaFrame frame = MpaExchange.await(channel.socket(), kind, deadline);
            channel.configureBlocking(false);
            return frame;
        } catch (IOException e) {
            if (Thread.currentThread().isInterrupted()) {
                throw new ClosedByInterruptException();
            }
            if (!channel.isOpen()) {
                throw new AsynchronousCloseException();
            }
            throw e;
        }
    }
}
