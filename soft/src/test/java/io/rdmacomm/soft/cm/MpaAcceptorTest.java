package io.rdmacomm.soft.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.soft.iwarp.MpaFrame;
import io.rdmacomm.soft.iwarp.MpaNegotiation;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// A listener that faces the network: whatever a stranger does costs that stranger's connection and is counted.
class MpaAcceptorTest {
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final long LONG = TimeUnit.SECONDS.toNanos(10);
    private static final MpaNegotiation OWN = new MpaNegotiation(false, 16, 16);
    private static final String RPING = Wire.REQUEST + "1002 0004 0001 0001";

    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
    }

    private <T extends AutoCloseable> T kept(T resource) {
        open.add(resource);
        return resource;
    }

    private MpaAcceptor listen(AcceptLimits limits) throws IOException {
        return kept(new MpaAcceptor(ANY_PORT, limits, IdentifierOptions.none()));
    }

    private Wire call(MpaAcceptor acceptor) throws IOException {
        return kept(Wire.to(acceptor.localAddress()));
    }

    private static MpaRequest request(MpaAcceptor acceptor) throws InterruptedException {
        MpaRequest request = acceptor.await(LONG);
        if (request == null) {
            throw new AssertionError("no request came: " + acceptor.counters());
        }
        return request;
    }

    /// The count is taken by the listener's thread, after the peer has seen the effect.
    private static void awaitCount(LongSupplier counter, long expected) {
        long deadline = System.nanoTime() + LONG;
        while (counter.getAsLong() < expected && System.nanoTime() - deadline < 0) {
            Thread.onSpinWait();
        }
        assertThat(counter.getAsLong()).isEqualTo(expected);
    }

    @Test
    void acceptsWhatRpingOnSiwSends() throws Exception {
        MpaAcceptor acceptor = listen(AcceptLimits.withBacklog(4));
        Wire peer = call(acceptor);
        peer.send(RPING);
        MpaRequest request = request(acceptor);
        assertThat(request.frame().asksForHandshake()).isFalse();
        assertThat(request.remoteAddress().getAddress()).isEqualTo(InetAddress.getLoopbackAddress());
        assertThat(request.localAddress()).isEqualTo(acceptor.localAddress());
        MpaFrame reply = OWN.acceptance(request.frame(), new byte[] {7});
        try (SocketChannel channel = request.reply(reply)) {
            assertThat(peer.readFrame()).isEqualTo(Wire.plain(Wire.REPLY + "1002 0005 0010 0001 07"));
            // The first byte behind the request is the first of the stream.
            peer.send("000e");
            ByteBuffer first = ByteBuffer.allocate(2);
            channel.configureBlocking(true);
            while (first.hasRemaining()) {
                channel.read(first);
            }
            assertThat(first.array()).containsExactly(0, 14);
        }
        assertThat(peer.isEnded()).isTrue();
    }

    /// Here of its log, about a stranger; those that are ready at the same time are served, too.
    @Test
    void anErrorCostsOneConnection() throws Exception {
        MpaAcceptor acceptor = listen(AcceptLimits.withBacklog(4));
        Logger logger = Logger.getLogger(MpaAcceptor.class.getName());
        List<Error> errors =
                new ArrayList<>(List.of(new OutOfMemoryError("no"), new StackOverflowError(), new AssertionError()));
        logger.setLevel(Level.FINE);
        logger.setFilter(entry -> {
            if (entry.getLevel().equals(Level.FINE) && !errors.isEmpty()) {
                throw errors.removeLast();
            }
            return false;
        });
        try {
            for (int i = 0; i < 3; i++) {
                Wire peer = call(acceptor);
                Wire stranger = call(acceptor);
                stranger.send("47".repeat(32));
                peer.send(RPING);
                request(acceptor).drop();
                assertThat(stranger.isEnded()).isTrue();
            }
            assertThat(errors).isEmpty();
        } finally {
            logger.setFilter(null);
            logger.setLevel(null);
        }
    }

    @Test
    void aLogThatFailsCostsNobodyButTheStranger() throws Exception {
        MpaAcceptor acceptor = listen(AcceptLimits.withBacklog(4));
        Logger logger = Logger.getLogger(MpaAcceptor.class.getName());
        logger.setLevel(Level.FINE);
        logger.setFilter(entry -> {
            throw new OutOfMemoryError("whatever it does");
        });
        try {
            Wire stranger = call(acceptor);
            stranger.send("47".repeat(32));
            assertThat(stranger.isEnded()).isTrue();
            Wire peer = call(acceptor);
            peer.send(RPING);
            request(acceptor).drop();
            assertThat(acceptor.isEnded()).isFalse();
        } finally {
            logger.setFilter(null);
            logger.setLevel(null);
        }
    }

    @Test
    void requestsMayTrickleIn() throws Exception {
        MpaAcceptor acceptor = listen(AcceptLimits.withBacklog(4));
        Wire peer = call(acceptor);
        peer.sendByteByByte(Wire.REQUEST + "5402 00ff 8010 c010" + "5a".repeat(251));
        MpaRequest request = request(acceptor);
        assertThat(request.frame().privateData()).hasSize(251);
        assertThat(request.frame().asksForHandshake()).isTrue();
        request.drop();
        assertThat(peer.isEnded()).isTrue();
    }

    @Test
    void initiatorThatDoesNotWaitForTheReplyIsNotConnected() throws Exception {
        MpaAcceptor acceptor = listen(AcceptLimits.withBacklog(4));
        Wire peer = call(acceptor);
        peer.send(RPING);
        MpaRequest request = request(acceptor);
        peer.send("000ec140");
        assertNotConnected(request, "did not wait");
        assertThat(peer.isEnded()).isTrue();
        // The program does not even hear of one that goes on at once.
        Wire hasty = call(acceptor);
        hasty.send(RPING + "000ec140");
        awaitCount(acceptor.counters()::requests, 2);
        assertThat(acceptor.await(0)).isNull();
        assertThat(hasty.isEnded()).isTrue();
    }

    @Test
    void initiatorThatHasDisconnectedIsNotConnected() throws Exception {
        MpaAcceptor acceptor = listen(AcceptLimits.withBacklog(4));
        Wire peer = call(acceptor);
        peer.send(RPING);
        MpaRequest request = request(acceptor);
        peer.close();
        assertNotConnected(request, "has disconnected");
    }

    private static void assertNotConnected(MpaRequest request, String why) {
        assertThatThrownBy(() -> request.reply(OWN.acceptance(request.frame(), new byte[0])))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(why);
    }

    @Test
    void rejectionCarriesPrivateData() throws Exception {
        MpaAcceptor acceptor = listen(AcceptLimits.withBacklog(4));
        Wire peer = call(acceptor);
        peer.send(RPING);
        request(acceptor).reject(new byte[] {1, 2, 3});
        assertThat(peer.readFrame()).isEqualTo(Wire.plain(Wire.REPLY + "3002 0007 0001 0001 010203"));
        assertThat(peer.isEnded()).isTrue();
    }

    @Test
    void revisionOneIsAnsweredInKind() throws Exception {
        MpaAcceptor acceptor = listen(AcceptLimits.withBacklog(4));
        Wire peer = call(acceptor);
        peer.send(Wire.REQUEST + "4001 0002 aabb");
        MpaRequest request = request(acceptor);
        assertThat(request.frame().privateData()).containsExactly(0xaa, 0xbb);
        kept(request.reply(OWN.acceptance(request.frame(), new byte[] {1})));
        assertThat(peer.readFrame()).isEqualTo(Wire.plain(Wire.REPLY + "4001 0001 01"));
    }

    @Test
    void markersAreRejectedWithAReply() throws Exception {
        MpaAcceptor acceptor = listen(AcceptLimits.withBacklog(4));
        Wire peer = call(acceptor);
        peer.send(Wire.REQUEST + "8002 0000");
        assertThat(peer.readFrame()).isEqualTo(Wire.plain(Wire.REPLY + "2001 0000"));
        assertThat(peer.isEnded()).isTrue();
        awaitCount(acceptor.counters()::violations, 1);
    }

    @Test
    void garbageEndsItsConnectionOnly() throws Exception {
        MpaAcceptor acceptor = listen(AcceptLimits.withBacklog(16));
        String[] garbage = {
            "47455420", // HTTP
            "16030100", // TLS
            Wire.REPLY + "1002 0004 00010001",
            Wire.REQUEST + "1009 0000",
            Wire.REQUEST + "1002 ffff",
            Wire.REQUEST + "1002 0003 000000",
        };
        Wire honest = call(acceptor);
        honest.send(RPING.substring(0, 10));
        for (String each : garbage) {
            Wire peer = call(acceptor);
            peer.send(each);
            assertThat(peer.isEnded()).as(each).isTrue();
        }
        awaitCount(acceptor.counters()::violations, garbage.length);
        honest.send(RPING.substring(10));
        request(acceptor).drop();
    }

    @Test
    void seededGarbageNeverStopsTheListener() throws Exception {
        long seed = Long.getLong("rdma.fuzz.seed", System.nanoTime());
        int peers = Integer.getInteger("rdma.fuzz.peers", 300);
        Random random = new Random(seed);
        MpaAcceptor acceptor = listen(AcceptLimits.withBacklog(peers));
        for (int i = 0; i < peers; i++) {
            byte[] bytes = Wire.bytes(Wire.REQUEST + "5002 0008 00010001 01020304");
            for (int m = random.nextInt(4); m > 0; m--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            try (Wire peer = Wire.to(acceptor.localAddress())) {
                peer.send(HexFormat.of().formatHex(bytes, 0, random.nextInt(bytes.length + 1)));
                if (random.nextBoolean()) {
                    peer.reset();
                }
            } catch (IOException e) {
                // The listener hung up while the rest was being sent: its right.
                assertThat(e).as("seed %d", seed).isInstanceOf(SocketException.class);
            }
        }
        awaitCount(acceptor.counters()::accepted, peers);
        for (MpaRequest stale = acceptor.await(0); stale != null; stale = acceptor.await(0)) {
            stale.drop();
        }
        Wire honest = call(acceptor);
        // Garbage can be a request without private data, but not one with this much.
        String longer = "0102030405060708";
        honest.send(Wire.REQUEST + "1002 000c 0001 0001" + longer);
        for (MpaRequest request = request(acceptor); ; request = request(acceptor)) {
            // Complete requests of peers that have gone may still come before it.
            boolean last =
                    HexFormat.of().formatHex(request.frame().privateData()).equals(longer);
            request.drop();
            if (last) {
                break;
            }
        }
        assertThat(honest.isEnded()).as("seed %d", seed).isTrue();
    }

    @Test
    void slowPeersAreDroppedWhateverTheySend() throws Exception {
        MpaAcceptor acceptor = listen(new AcceptLimits(16, 16, TimeUnit.MILLISECONDS.toNanos(300), 4, 4));
        Wire silent = call(acceptor);
        Wire slow = call(acceptor);
        CompletableFuture<Void> dripping = CompletableFuture.runAsync(() -> {
            try {
                while (true) {
                    slow.send("4d");
                    slow.send("50");
                    if (slow.isEnded()) {
                        return;
                    }
                }
            } catch (IOException e) {
                // Reset: it has been given up.
            }
        });
        assertThat(silent.isEnded()).isTrue();
        dripping.get(10, TimeUnit.SECONDS);
        awaitCount(() -> acceptor.counters().timeouts() + acceptor.counters().violations(), 2);
    }

    @Test
    void singleBytesDoNotExtendTheDeadline() throws Exception {
        MpaAcceptor acceptor = listen(new AcceptLimits(16, 16, TimeUnit.MILLISECONDS.toNanos(400), 4, 4));
        Wire slow = call(acceptor);
        byte[] good = Wire.bytes(RPING);
        long start = System.nanoTime();
        boolean ended = false;
        try {
            for (int i = 0; i < good.length - 1 && !ended; i++) {
                slow.send(HexFormat.of().toHexDigits(good[i]));
                long next = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(50);
                while (System.nanoTime() - next < 0) {
                    Thread.onSpinWait();
                }
                ended = System.nanoTime() - start > TimeUnit.SECONDS.toNanos(2);
            }
        } catch (IOException e) {
            ended = true;
        }
        assertThat(ended || slow.isEnded()).isTrue();
        awaitCount(acceptor.counters()::timeouts, 1);
        assertThat(acceptor.counters().requests()).isZero();
    }

    @Test
    void floodOfHalfOpenConnectionsIsBounded() throws Exception {
        MpaAcceptor acceptor = listen(new AcceptLimits(8, 8, LONG, 4, 4));
        List<Wire> flood = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            flood.add(call(acceptor));
        }
        awaitCount(acceptor.counters()::displaced, 32);
        assertThat(flood.getFirst().isEnded()).isTrue();
        // An honest peer gets through, because the oldest goes first.
        Wire honest = call(acceptor);
        honest.send(RPING);
        request(acceptor).reject(new byte[0]);
        assertThat(honest.readFrame()).startsWith(Wire.REPLY);
    }

    /// A peer that has sent its request is not silent, however many come behind it.
    @Test
    void aBurstOfHonestPeersDisplacesNobody() throws Exception {
        MpaAcceptor acceptor = listen(new AcceptLimits(4, 4, LONG, 200, 200));
        List<Wire> burst = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            Wire peer = call(acceptor);
            peer.send(RPING);
            burst.add(peer);
        }
        for (int i = 0; i < burst.size(); i++) {
            request(acceptor).drop();
        }
        assertThat(acceptor.counters().displaced()).isZero();
    }

    @Test
    void silentPeersDisplaceThoseOfTheirOwnAddress() throws Exception {
        MpaAcceptor acceptor = listen(new AcceptLimits(8, 4, LONG, 4, 4));
        Wire honest = kept(Wire.from(InetAddress.ofLiteral("127.0.0.2"), acceptor.localAddress()));
        honest.send(RPING.substring(0, 10));
        for (int i = 0; i < 40; i++) {
            call(acceptor);
        }
        awaitCount(acceptor.counters()::displaced, 36);
        honest.send(RPING.substring(10));
        assertThat(request(acceptor).remoteAddress().getAddress()).isEqualTo(InetAddress.ofLiteral("127.0.0.2"));
    }

    @Test
    void requestsBeyondTheBacklogWait() throws Exception {
        MpaAcceptor acceptor = listen(AcceptLimits.withBacklog(2));
        for (int i = 0; i < 5; i++) {
            call(acceptor).send(RPING);
        }
        awaitCount(acceptor.counters()::requests, 5);
        for (int i = 0; i < 5; i++) {
            request(acceptor).drop();
        }
        assertThat(acceptor.counters().overflows()).isZero();
    }

    @Test
    void whoNoLongerWaitsIsNotShown() throws Exception {
        MpaAcceptor acceptor = listen(AcceptLimits.withBacklog(2));
        Wire gone = call(acceptor);
        gone.send(RPING);
        awaitCount(acceptor.counters()::requests, 1);
        gone.close();
        call(acceptor).send(Wire.REQUEST + "1002 0005 0001 0001 07");
        MpaRequest shown = request(acceptor);
        assertThat(shown.frame().privateData()).containsExactly(7);
        awaitCount(acceptor.counters()::vanished, 1);
    }

    @Test
    void whenTooManyRequestsWaitTheOldestIsRejected() throws Exception {
        MpaAcceptor acceptor = listen(new AcceptLimits(8, 8, LONG, 2, 2));
        Wire first = call(acceptor);
        first.send(RPING);
        awaitCount(acceptor.counters()::requests, 1);
        for (int i = 0; i < 2; i++) {
            call(acceptor).send(RPING);
        }
        assertThat(first.readFrame()).isEqualTo(Wire.plain(Wire.REPLY + "3002 0004 0001 0001"));
        awaitCount(acceptor.counters()::overflows, 1);
        request(acceptor).drop();
        request(acceptor).drop();
    }

    @Test
    void peersThatDisconnectAreCounted() throws Exception {
        MpaAcceptor acceptor = listen(AcceptLimits.withBacklog(4));
        Wire closes = call(acceptor);
        closes.send(RPING.substring(0, 20));
        closes.close();
        Wire resets = call(acceptor);
        resets.send(RPING.substring(0, 20));
        resets.reset();
        awaitCount(acceptor.counters()::vanished, 2);
        assertThat(acceptor.counters().toString()).contains("2 vanished");
    }

    @Test
    void closingWakesWaitersAndRejectsRequests() throws Exception {
        MpaAcceptor acceptor = listen(AcceptLimits.withBacklog(4));
        Wire waits = call(acceptor);
        waits.send(RPING);
        awaitCount(acceptor.counters()::requests, 1);
        Wire half = call(acceptor);
        half.send(RPING.substring(0, 8));
        awaitCount(acceptor.counters()::accepted, 2);
        acceptor.close();
        assertThat(waits.readFrame()).startsWith(Wire.REPLY + "30");
        assertThat(half.isEnded()).isTrue();
        assertThat(acceptor.await(LONG)).isNull();
        acceptor.close();
    }

    @Test
    void closingWakesAWaiter() throws Exception {
        MpaAcceptor acceptor = listen(AcceptLimits.withBacklog(4));
        CompletableFuture<Boolean> waiter = new CompletableFuture<>();
        Thread thread = Thread.ofVirtual().start(() -> {
            try {
                waiter.complete(acceptor.await(TimeUnit.MINUTES.toNanos(5)) == null);
            } catch (InterruptedException e) {
                waiter.completeExceptionally(e);
            }
        });
        while (thread.getState() == Thread.State.NEW || thread.getState() == Thread.State.RUNNABLE) {
            Thread.onSpinWait();
        }
        acceptor.close();
        assertThat(waiter.get(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void portInUse() throws Exception {
        MpaAcceptor acceptor = listen(AcceptLimits.withBacklog(4));
        assertThatThrownBy(() ->
                        new MpaAcceptor(acceptor.localAddress(), AcceptLimits.withBacklog(4), IdentifierOptions.none()))
                .isInstanceOf(BindException.class);
    }

    @Test
    void awaitHasATimeout() throws Exception {
        MpaAcceptor acceptor = listen(AcceptLimits.withBacklog(4));
        assertThat(acceptor.await(0)).isNull();
        assertThat(acceptor.await(1_000_000)).isNull();
    }
}
