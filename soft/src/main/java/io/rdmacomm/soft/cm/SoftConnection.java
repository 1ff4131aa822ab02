package io.rdmacomm.soft.cm;

import io.rdmacomm.soft.iwarp.EnhancedSetup;
import io.rdmacomm.soft.iwarp.Fpdu;
import io.rdmacomm.soft.iwarp.QueuePairAddress;
import io.rdmacomm.soft.tcp.LinkTerms;
import io.rdmacomm.soft.tcp.TcpConnectionSetup;
import io.rdmacomm.soft.tcp.TcpSettings;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.RetryOptions;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.spi.ConnectionDriver;
import io.rdmacomm.verbs.spi.ConnectionFacts;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// A connection that was set up with MPA. The queue pair drives it; this class only tracks whether it still exists,
/// and ends it.
final class SoftConnection implements ConnectionDriver {
    private static final long DRAIN_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int HOP_LIMIT = 64;

    private static final int IPV4_AND_TCP = 40;
    private static final int IPV6_AND_TCP = 60;
    private static final int TIME_STAMPS = 12;
    private static final int ETHERNET = 1500;

    private final QueuePair queuePair;
    private final TcpConnectionSetup setup;
    private final AtomicReference<@Nullable String> reason = new AtomicReference<>();
    private final CompletableFuture<String> ended = new CompletableFuture<>();
    private volatile ConnectionFacts facts;

    /// @param setup the TCP side of the queue pair
    /// @param privateData the private data of the peer's program
    SoftConnection(
            TcpConnectionSetup setup,
            QueuePair queuePair,
            InetSocketAddress local,
            InetSocketAddress remote,
            byte[] privateData) {
        this.queuePair = queuePair;
        this.setup = setup;
        this.facts = new ConnectionFacts(local, remote, privateData, 0, 0);
    }

    /// Takes over a connection when the queue pair is ready.
    private interface Takeover {
        void run() throws IOException;
    }

    /// Brings up the queue pair, which is in INIT, and hands the TCP connection over to it.
    ///
    /// @param peerReads how many READs and atomics the peer wants to have outstanding
    /// @throws IOException if the connection is no longer usable; it is closed then
    void begin(SocketChannel channel, LinkTerms terms, ConnectionParameters parameters, int peerReads)
            throws IOException {
        QueuePairAddress peer = new QueuePairAddress(Gid.of(facts.remote().getAddress()), 0, terms.peerNumber());
        agree(terms, peerReads);
        setup.expectConnection();
        bringUp(
                channel,
                readyToReceive(peer, 0, terms),
                readyToSend(0, terms, parameters),
                () -> setup.adopt(channel, terms, this::end));
    }

    /// Connects the queue pair, which is in INIT, over shared memory. Closing the TCP connection disconnects it.
    ///
    /// @param peerReads how many READs and atomics the peer wants to have outstanding
    /// @param deadline when the peer must be ready, by [System#nanoTime()]
    /// @throws IOException if the connection is lost, or the peer is not ready in time; it is closed then
    void beginOnHost(
            HostAgreement agreed, LinkTerms terms, ConnectionParameters parameters, int peerReads, long deadline)
            throws IOException {
        agree(terms, peerReads);
        setup.expectOnHost();
        bringUp(
                agreed.channel(),
                readyToReceive(agreed.peer(), agreed.receivePsn(), terms),
                readyToSend(agreed.sendPsn(), terms, parameters),
                () -> {
                    agreed.confirm(deadline);
                    setup.watch(agreed.channel(), this::end);
                });
    }

    /// Stores the agreed values. The link accepts more, because siw sends more than it asked for.
    private void agree(LinkTerms terms, int peerReads) {
        facts = facts.withDepths(
                Math.min(terms.mpa().inboundReads(), peerReads), terms.mpa().outboundReads());
    }

    private void bringUp(
            SocketChannel channel,
            QueuePairAttributes readyToReceive,
            QueuePairAttributes readyToSend,
            Takeover takeover)
            throws IOException {
        try {
            queuePair.modify(readyToReceive);
            queuePair.modify(readyToSend);
            takeover.run();
        } catch (IOException | RuntimeException e) {
            try (channel) {
                fail();
            } catch (IOException | RuntimeException closing) {
                e.addSuppressed(closing);
            }
            throw e;
        }
    }

    private static QueuePairAttributes readyToReceive(QueuePairAddress peer, int receivePsn, LinkTerms terms) {
        return new QueuePairAttributes()
                .state(QueuePairState.READY_TO_RECEIVE)
                .addressVector(new AddressVector(peer.gid(), peer.lid(), 0, 1, 0, 0, HOP_LIMIT, 0))
                .pathMtu(PathMtu.MTU_4096)
                .destinationNumber(peer.number())
                .receivePsn(receivePsn)
                .maxDestinationReadAtomic(terms.mpa().inboundReads())
                .minRnrTimer(RetryOptions.defaults().rnrTimer());
    }

    private static QueuePairAttributes readyToSend(int sendPsn, LinkTerms terms, ConnectionParameters parameters) {
        return new QueuePairAttributes()
                .state(QueuePairState.READY_TO_SEND)
                .sendPsn(sendPsn)
                .timeout(parameters.ackTimeout().orElse(RetryOptions.defaults().timeout()))
                .retryCount(parameters.retryCount())
                .rnrRetry(parameters.rnrRetry())
                .maxReadAtomic(terms.mpa().outboundReads());
    }

    /// The queue pair's link has ended, or this side ends it; any thread, perhaps under the queue pair's locks. The
    /// first reason counts.
    private void end(String why) {
        String known = reason.compareAndExchange(null, why);
        ended.complete(known == null ? why : known);
    }

    /// A depth, which a third-party peer may not have negotiated.
    static int depth(int asked) {
        return asked == EnhancedSetup.NOT_NEGOTIATED ? LinkTerms.MOST_READS : Math.min(asked, LinkTerms.MOST_READS);
    }

    /// The longest segment for a third-party peer: RNICs accept what fits into one TCP segment. The MTU of the
    /// first hop is known; where the path takes less, [TcpSettings#segment] reduces it.
    static int segmentLimit(InetAddress local, TcpSettings own) {
        int headers = (local instanceof Inet4Address ? IPV4_AND_TCP : IPV6_AND_TCP) + TIME_STAMPS;
        return Math.min(own.segmentLimit(), Fpdu.segmentLimit(mtu(local) - headers));
    }

    private static int mtu(InetAddress local) {
        try {
            NetworkInterface device = NetworkInterface.getByInetAddress(local);
            return device == null ? ETHERNET : device.getMTU();
        } catch (IOException e) {
            return ETHERNET;
        }
    }

    @Override
    public ConnectionFacts facts() {
        return facts;
    }

    @Override
    public @Nullable String disconnectReason() {
        return reason.get();
    }

    /// Sends what was posted before, if the peer accepts it, then ends the connection with FIN: iWARP has no
    /// message for an orderly end.
    @Override
    public void disconnect() {
        if (reason.get() == null && setup.awaitIdle(DRAIN_NANOS)) {
            reason.compareAndSet(null, "this side disconnected");
        }
        String why = "this side disconnected before everything was sent";
        reason.compareAndSet(null, why);
        fail();
        end(why);
    }

    private void fail() {
        try {
            if (queuePair.state() != QueuePairState.ERROR) {
                queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
            }
        } catch (IllegalStateException e) {
            // The owner has closed the queue pair, which ended the connection.
        }
    }

    @Override
    public CompletableFuture<String> ended() {
        return ended;
    }

    @Override
    public void close() {
        disconnect();
    }

    @Override
    public String toString() {
        return "connection of " + queuePair + " to " + facts.remote();
    }
}
