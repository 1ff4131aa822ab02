package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.iwarp.MpaFrame;
import io.rdmacomm.soft.iwarp.MpaNegotiation;
import io.rdmacomm.soft.iwarp.PeerHandshake;
import io.rdmacomm.soft.iwarp.QueuePairAddress;
import io.rdmacomm.soft.transport.ConnectionSetup;
import io.rdmacomm.soft.transport.Destination;
import io.rdmacomm.soft.transport.QueuePairResources;
import io.rdmacomm.soft.transport.SendLock;
import io.rdmacomm.soft.transport.Transport;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.SendOpcode;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Gets a queue pair its TCP connection: calls the peer, answers the peer's call, or takes over the connection that a
/// connection manager has made. Under the queue pair's send lock, unless stated otherwise.
public final class TcpConnectionSetup implements ConnectionSetup {
    private static final long CALL_NANOS = 2_000_000;
    private static final long DRAIN_NAP_NANOS = 100_000;

    /// How the queue pair finds its peer.
    private enum ConnectedBy {
        /// The two were connected by numbers, so one calls the other.
        NUMBERS,
        /// A connection manager makes the connection.
        ADDRESS,
        /// A connection manager has found the peer on this host.
        ADDRESS_ON_HOST
    }

    private final TcpNode node;
    private final QueuePairResources resources;
    private final Destination destination;
    private final SendLock lock;
    private final Owner owner;
    private final TcpArrivals sendArrivals;
    private final TcpArrivals receiveArrivals;
    private @Nullable TcpTransport current;
    private @Nullable OutgoingCall call;
    private @Nullable DisconnectLine line;
    private boolean asked;
    private ConnectedBy connectedBy = ConnectedBy.NUMBERS;
    private long nextCall = System.nanoTime();
    private int expectedPsn = -1;

    /// No connection yet.
    ///
    /// @param sendArrivals of the completion queue of sends
    /// @param receiveArrivals of the completion queue of receives
    public TcpConnectionSetup(
            TcpNode node,
            QueuePairResources resources,
            Owner owner,
            TcpArrivals sendArrivals,
            TcpArrivals receiveArrivals) {
        this.node = node;
        this.resources = resources;
        this.destination = resources.destination();
        this.lock = resources.lock();
        this.owner = owner;
        this.sendArrivals = sendArrivals;
        this.receiveArrivals = receiveArrivals;
    }

    // ---- Calling ----

    /// Calls the peer, unless a call is in progress, or was tried just now.
    @Override
    public void call() {
        long now = System.nanoTime();
        if (!destination.isSending()
                || connectedBy != ConnectedBy.NUMBERS
                || call != null
                || asked
                || now - nextCall < 0) {
            return;
        }
        asked = true;
        PeerHandshake handshake = new PeerHandshake(
                MpaFrame.Kind.REQUEST,
                PeerHandshake.Verdict.ACCEPTED,
                LinkTerms.FEATURES,
                LinkTerms.LONGEST_SEGMENT,
                ThreadLocalRandom.current().nextLong(),
                PeerHandshake.NO_HOST,
                address(),
                destination.sendPsn(),
                destination.receivePsn(),
                peerAddress());
        node.call(this, handshake, resources.retries().callNanos());
    }

    /// Whether the peer's host has taken a call that the peer is likely to answer soon. From then on, TCP soon
    /// retransmits lost data.
    @Override
    public boolean isReached() {
        OutgoingCall now = call;
        return now != null && now.isReached();
    }

    private QueuePairAddress address() {
        return new QueuePairAddress(node.gid(), node.lid(), resources.number());
    }

    private QueuePairAddress peerAddress() {
        return new QueuePairAddress(destination.gid(), destination.lid(), destination.number());
    }

    /// The terms that this side asks for.
    MpaNegotiation negotiation() {
        // A device at the loopback address is called only by queue pairs of the same host.
        TcpSettings settings = node.settings();
        boolean checksum = settings.checksumBetween(InetAddress.getLoopbackAddress(), settings.address());
        return new MpaNegotiation(checksum, destination.inboundReads(), LinkTerms.MOST_READS);
    }

    /// A call has begun; the engine, without the lock.
    ///
    /// @return false if it is no longer wanted
    boolean callBegins(OutgoingCall begun) {
        lock.enter();
        try {
            boolean wanted = asked;
            asked = false;
            if (wanted) {
                call = begun;
            }
            return wanted;
        } finally {
            lock.leave();
        }
    }

    /// A call has failed; the engine, without the lock.
    void callFailed(OutgoingCall failed) {
        lock.enter();
        try {
            endCall(failed);
        } finally {
            lock.leave();
        }
    }

    /// @return whether the call was still wanted
    @SuppressWarnings("ReferenceEquality") // that call, not one like it
    private boolean endCall(OutgoingCall ended) {
        if (call != ended) {
            return false;
        }
        call = null;
        nextCall = System.nanoTime() + CALL_NANOS;
        return true;
    }

    /// The peer has accepted the call; the engine, without the lock.
    ///
    /// @throws IOException if the connection is no longer usable
    void callAccepted(OutgoingCall accepted, SocketChannel channel, LinkTerms terms) throws IOException {
        lock.enter();
        try {
            // A peer that accepts uses no shared memory, even if it did a moment ago.
            boolean linked = current != null && current.equals(owner.transport());
            if (endCall(accepted) && owner.isConnected() && !linked) {
                begin(channel, terms, null);
            } else {
                transport(channel, terms, null).stop(true);
            }
        } finally {
            lock.leave();
        }
    }

    // ---- Being called ----

    /// Decides about a call of a peer, and accepts it if it is the right one; the engine, without the lock.
    ///
    /// @throws IOException if the caller cannot be answered
    PeerHandshake.Verdict answer(IncomingCall incoming, MpaFrame request, PeerHandshake peer) throws IOException {
        lock.enter();
        try {
            if (!owner.isConnected()) {
                return PeerHandshake.Verdict.NOT_THERE;
            }
            PeerHandshake.Verdict verdict = consider(peer, incoming.origin());
            if (verdict == PeerHandshake.Verdict.ACCEPTED) {
                MpaNegotiation negotiation = negotiation();
                MpaFrame reply = negotiation.acceptance(
                        request, LinkTerms.reply(peer, verdict).appendTo(new byte[0]));
                incoming.accept(reply);
                hangUp();
                expectedPsn = peer.expectedPsn();
                LinkTerms terms =
                        LinkTerms.with(peer, negotiation.responderTerms(request, reply), false, node.settings());
                begin(incoming.channel(), terms, null);
            }
            return verdict;
        } finally {
            lock.leave();
        }
    }

    /// The caller must be the queue pair that this one was connected to, with the same numbers. When both call each
    /// other, the call of the lower address wins.
    private PeerHandshake.Verdict consider(PeerHandshake request, Gid origin) {
        QueuePairAddress theirs = peerAddress();
        boolean right = connectedBy == ConnectedBy.NUMBERS
                && request.destination().equals(address())
                && request.source().equals(theirs)
                && request.firstPsn() == destination.receivePsn()
                && (!destination.isSending() || request.expectedPsn() == destination.sendPsn());
        if (!right || !mayCallFrom(origin)) {
            return PeerHandshake.Verdict.NOT_THERE;
        }
        Transport present = owner.transport();
        if (present != null && present.isAgreed()) {
            return present.equals(current) ? PeerHandshake.Verdict.BUSY : PeerHandshake.Verdict.USE_SHARED_MEMORY;
        }
        boolean calling = call != null || asked;
        return calling && isBefore(address(), theirs) ? PeerHandshake.Verdict.BUSY : PeerHandshake.Verdict.ACCEPTED;
    }

    /// Whether the call comes from the peer's address: a caller on another host may have seen or guessed the numbers
    /// of a waiting queue pair.
    private boolean mayCallFrom(Gid origin) {
        if (node.settings().callersFromAnywhere() || origin.equals(destination.gid())) {
            return true;
        }
        node.wrongOrigin(
                address() + " rejects a call that is right but comes from " + origin.address() + " and not from "
                        + destination.gid().address() + "; if that host is behind NAT, set the option callers=any in"
                        + " rdmacomm.soft.devices");
        return false;
    }

    private static boolean isBefore(QueuePairAddress one, QueuePairAddress other) {
        int order = Long.compareUnsigned(one.gid().high(), other.gid().high());
        order = order != 0
                ? order
                : Long.compareUnsigned(one.gid().low(), other.gid().low());
        order = order != 0 ? order : Integer.compare(one.lid(), other.lid());
        return (order != 0 ? order : Integer.compare(one.number(), other.number())) < 0;
    }

    /// Whether the peer of the present connection called before this side knew the number of its own first packet,
    /// and expects a different one.
    @Override
    public boolean isMistaken() {
        return current != null && expectedPsn != -1 && expectedPsn != destination.sendPsn();
    }

    // ---- Connected by address ----

    /// A connection manager is about to make the connection: the peer is not called.
    public void expectConnection() {
        connectBy(ConnectedBy.ADDRESS);
    }

    /// A connection manager is about to connect to a peer that is found in shared memory: it is not called.
    public void expectOnHost() {
        connectBy(ConnectedBy.ADDRESS_ON_HOST);
    }

    private void connectBy(ConnectedBy way) {
        lock.enter();
        try {
            connectedBy = way;
        } finally {
            lock.leave();
        }
    }

    /// Whether a connection manager hands the connection over.
    @Override
    public boolean isExpecting() {
        return connectedBy == ConnectedBy.ADDRESS;
    }

    /// Takes over the connection that a connection manager has made; any thread, without the lock.
    ///
    /// @param onEnd called once with the reason why the connection has ended, with the lock held
    /// @throws IOException if the connection is no longer usable, or the queue pair is no longer connected
    public void adopt(SocketChannel channel, LinkTerms terms, Consumer<String> onEnd) throws IOException {
        lock.enter();
        try {
            checkWanted();
            node.prepare(channel);
            begin(channel, terms, onEnd);
        } finally {
            lock.leave();
        }
    }

    /// Treats the end of this connection as the end of a peer in shared memory; any thread, without the lock.
    ///
    /// @param onEnd called once with the reason why the connection has ended, with the lock held
    /// @throws IOException if the connection is no longer usable, or the queue pair is no longer connected
    public void watch(SocketChannel channel, Consumer<String> onEnd) throws IOException {
        lock.enter();
        try {
            checkWanted();
            node.prepare(channel);
            DisconnectLine watched = new DisconnectLine(resources, channel, node.links(), onEnd);
            watched.open();
            line = watched;
        } finally {
            lock.leave();
        }
    }

    private void checkWanted() throws IOException {
        if (!owner.isConnected()) {
            throw new IOException("the queue pair was closed or reset meanwhile");
        }
    }

    /// The queue pair has stopped: tells a peer in shared memory that was found by address.
    ///
    /// @param orderly whether the peer's queue pair should see a disconnect rather than a failure
    @Override
    public void stopped(boolean orderly) {
        DisconnectLine watched = line;
        if (watched != null) {
            line = null;
            watched.end(orderly);
        }
    }

    /// Waits until all posted requests are sent and, if the peer acknowledges, acknowledged; any thread, without the
    /// lock.
    ///
    /// @return false if the time was too short, the thread was interrupted, or the queue pair is not connected
    public boolean awaitIdle(long timeoutNanos) {
        long deadline = System.nanoTime() + timeoutNanos;
        while (true) {
            lock.enter();
            try {
                Transport transport = owner.transport();
                if (transport == null || !resources.sends().isOpen()) {
                    return false;
                }
                transport.resume();
                if (transport.isIdle()) {
                    return true;
                }
            } finally {
                lock.leave();
            }
            if (System.nanoTime() - deadline >= 0 || Thread.currentThread().isInterrupted()) {
                return false;
            }
            LockSupport.parkNanos(DRAIN_NAP_NANOS);
        }
    }

    // ---- The transport ----

    private TcpTransport transport(SocketChannel channel, LinkTerms terms, @Nullable Consumer<String> onEnd) {
        return new TcpTransport(
                resources, node.links(), sendArrivals.links(), receiveArrivals.links(), channel, terms, onEnd);
    }

    private void begin(SocketChannel channel, LinkTerms terms, @Nullable Consumer<String> onEnd) throws IOException {
        TcpTransport transport = transport(channel, terms, onEnd);
        transport.open();
        node.counters().established();
        current = transport;
        Set<SendOpcode> missing = transport.missing();
        String why = missing.isEmpty()
                ? ""
                : channel.getRemoteAddress()
                        + " supports only the requests of iWARP (RFC 5040); use SEND, WRITE or READ";
        owner.begin(transport, missing, why);
    }

    /// The transport has ended, and the peer may be called again.
    @Override
    public void ended() {
        current = null;
    }

    /// The queue pair is no longer connected: gives up a call that is in progress.
    @Override
    public void forget() {
        connectedBy = ConnectedBy.NUMBERS;
        expectedPsn = -1;
        ended();
        hangUp();
    }

    /// The queue pair begins to look for its peer.
    @Override
    public void begin() {
        nextCall = System.nanoTime();
    }

    private void hangUp() {
        call = null;
        asked = false;
    }
}
