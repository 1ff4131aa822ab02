package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.iwarp.MpaFrame;
import io.rdmacomm.soft.iwarp.MpaFrameReader;
import io.rdmacomm.soft.iwarp.MpaNegotiation;
import io.rdmacomm.soft.iwarp.PeerHandshake;
import io.rdmacomm.verbs.Gid;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// A connection that a peer has opened, until its request is answered; if it was refused, until the caller hangs up
/// or a short timeout expires.
final class IncomingCall extends TcpCall {
    private final IntFunction<@Nullable TcpConnectionSetup> setups;
    private final InetAddress origin;
    private final MpaFrameReader reader = new MpaFrameReader(MpaFrame.Kind.REQUEST);
    private LingeringClose.@Nullable Lingering refused;

    /// @param setups finds the queue pair with a number
    /// @param origin the caller's address
    IncomingCall(
            TcpNode node, IntFunction<@Nullable TcpConnectionSetup> setups, SocketChannel channel, InetAddress origin) {
        super(node, channel);
        this.setups = setups;
        this.origin = origin;
    }

    /// The caller's address.
    Gid origin() {
        return Gid.of(origin);
    }

    @Override
    void advance(SelectionKey key) throws IOException {
        while (!reader.advance()) {
            int count = channel().read(reader.buffer());
            if (count < 0) {
                throw new EOFException("the caller disconnected");
            }
            if (count == 0) {
                return;
            }
        }
        answer(reader.frame());
    }

    private void answer(MpaFrame request) throws IOException {
        MpaNegotiation.check(request);
        PeerHandshake peer = PeerHandshake.find(request.privateData());
        TcpConnectionSetup setup = peer == null || peer.kind() != MpaFrame.Kind.REQUEST
                ? null
                : setups.apply(peer.destination().number());
        PeerHandshake.Verdict verdict =
                peer == null || setup == null ? PeerHandshake.Verdict.NOT_THERE : setup.answer(this, request, peer);
        if (verdict != PeerHandshake.Verdict.ACCEPTED) {
            refuse(request, peer, verdict);
        }
    }

    /// Sends the accepting reply. The connection belongs to a queue pair from now on.
    ///
    /// @throws IOException if it cannot be sent, or the caller has not waited for it
    void accept(MpaFrame reply) throws IOException {
        checkCallerWaits();
        write(reply);
        leave();
    }

    /// Fails if the caller gave up while this process was stopped: accepting its call would fail the queue pair. A
    /// caller sends nothing before it has the reply (RFC 5044 7.1.2).
    private void checkCallerWaits() throws IOException {
        int count = channel().read(ByteBuffer.allocate(1));
        if (count != 0) {
            throw new IOException(count < 0 ? "the caller has given up" : "the caller sends before it has the reply");
        }
    }

    private void refuse(MpaFrame request, @Nullable PeerHandshake peer, PeerHandshake.Verdict verdict)
            throws IOException {
        byte[] why = peer == null ? new byte[0] : LinkTerms.reply(peer, verdict).appendTo(new byte[0]);
        write(MpaNegotiation.rejection(request, why));
        node().counters().refused();
        refused = node().links().closing().linger(channel(), this::leave);
    }

    /// Makes room for another caller.
    void makeRoom() {
        if (refused == null) {
            node().counters().displaced();
        }
        end();
    }

    @Override
    long timeoutNanos() {
        return refused == null ? super.timeoutNanos() : Long.MAX_VALUE;
    }

    @Override
    void onMalformed() {
        node().counters().malformed();
    }

    @Override
    void onTimeout() {
        node().counters().timedOut();
    }

    @Override
    void onEnd() {
        if (refused != null) {
            refused.end();
        }
    }

    /// One write is enough: a reply is much smaller than the send buffer of a new connection.
    private void write(MpaFrame reply) throws IOException {
        ByteBuffer bytes = reply.encode();
        channel().write(bytes);
        if (bytes.hasRemaining()) {
            throw new IOException("the caller does not accept a reply");
        }
    }
}
