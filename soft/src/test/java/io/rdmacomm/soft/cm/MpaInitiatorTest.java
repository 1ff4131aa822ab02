package io.rdmacomm.soft.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.soft.iwarp.MpaException;
import io.rdmacomm.soft.iwarp.MpaNegotiation;
import io.rdmacomm.soft.iwarp.MpaTerms;
import io.rdmacomm.soft.iwarp.MpaViolation;
import io.rdmacomm.soft.iwarp.ReadyToReceive;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SocketChannel;
import java.util.HexFormat;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class MpaInitiatorTest {
    private static final MpaNegotiation OWN = new MpaNegotiation(true, 16, 8);
    private static final long LONG = TimeUnit.SECONDS.toNanos(10);
    private static final String ASKED = Wire.REQUEST + "5402 0005 8010 c008 2a";

    private ServerSocket server;
    private MpaInitiator initiator;

    @BeforeEach
    void listen() throws IOException {
        server = Wire.listen();
        initiator = new MpaInitiator(Wire.addressOf(server), IdentifierOptions.none());
    }

    @AfterEach
    void close() throws IOException {
        initiator.close();
        server.close();
    }

    private CompletableFuture<MpaConnection> connecting(long timeoutNanos) {
        return async(() -> initiator.connect(OWN, new byte[] {42}, timeoutNanos));
    }

    private static <T> CompletableFuture<T> async(Callable<T> task) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            try {
                result.complete(task.call());
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    private Wire accept() throws IOException {
        return new Wire(server.accept());
    }

    private static MpaConnection get(CompletableFuture<MpaConnection> connecting) throws Exception {
        return connecting.get(10, TimeUnit.SECONDS);
    }

    private static Throwable failure(CompletableFuture<MpaConnection> connecting) {
        try {
            throw new AssertionError("connected: " + get(connecting));
        } catch (ExecutionException e) {
            return e.getCause();
        } catch (Exception e) {
            return e;
        }
    }

    /// siw answers by overwriting the key of what it got, so reserved bits come back.
    @Test
    void siwEchoesReservedBits() throws Exception {
        CompletableFuture<MpaConnection> connecting = connecting(LONG);
        try (Wire peer = accept()) {
            assertThat(peer.readFrame()).isEqualTo(Wire.plain(ASKED));
            peer.send(Wire.REPLY + "5402 0004 0001 0001");
            try (var channel = get(connecting).channel()) {
                assertThat(get(connecting).terms()).isEqualTo(new MpaTerms(true, 16, 1, ReadyToReceive.NONE));
                assertThat(get(connecting).reply().privateData()).isEmpty();
                assertThat(channel.isBlocking()).isFalse();
            }
            assertThat(peer.isEnded()).isTrue();
        }
    }

    @Test
    void replyByteByByteWithAFrameBehindIt() throws Exception {
        CompletableFuture<MpaConnection> connecting = connecting(LONG);
        try (Wire peer = accept()) {
            peer.readFrame();
            peer.sendByteByByte(Wire.REPLY + "5002 0006 8010 8008 0102" + "000ec140");
            MpaConnection connection = get(connecting);
            assertThat(connection.terms()).isEqualTo(new MpaTerms(true, 16, 8, ReadyToReceive.WRITE));
            assertThat(connection.reply().privateData()).containsExactly(1, 2);
            try (var channel = connection.channel()) {
                ByteBuffer first = ByteBuffer.allocate(8);
                channel.configureBlocking(true);
                while (first.position() < 4) {
                    channel.read(first);
                }
                assertThat(first.getInt(0)).isEqualTo(0x000ec140);
            }
        }
    }

    @Test
    void rejectionWithPrivateData() throws Exception {
        CompletableFuture<MpaConnection> connecting = connecting(LONG);
        try (Wire peer = accept()) {
            peer.readFrame();
            peer.send(Wire.REPLY + "3002 0007 0001 0001 414243");
            assertThat(failure(connecting))
                    .isInstanceOfSatisfying(
                            MpaRejectedException.class,
                            e -> assertThat(e.privateData()).containsExactly('A', 'B', 'C'));
            assertThat(peer.isEnded()).isTrue();
        }
    }

    @Test
    void peerThatHangsUpOnRevisionTwoIsAskedWithRevisionOne() throws Exception {
        CompletableFuture<MpaConnection> connecting = connecting(LONG);
        try (Wire peer = accept()) {
            peer.readFrame();
            peer.reset();
        }
        try (Wire peer = accept()) {
            assertThat(peer.readFrame()).isEqualTo(Wire.plain(Wire.REQUEST + "4001 0001 2a"));
            peer.send(Wire.REPLY + "4001 0000");
            assertThat(get(connecting).terms()).isEqualTo(new MpaTerms(true, 16, 8, ReadyToReceive.NONE));
            get(connecting).channel().close();
        }
    }

    @Test
    void peerThatHangsUpTwice() throws Exception {
        CompletableFuture<MpaConnection> connecting = connecting(LONG);
        accept().close();
        accept().close();
        assertThat(failure(connecting)).isInstanceOf(IOException.class);
    }

    @Test
    void peerThatHangsUpInItsReplyIsNotAskedAgain() throws Exception {
        CompletableFuture<MpaConnection> connecting = connecting(LONG);
        try (Wire peer = accept()) {
            peer.readFrame();
            peer.send(Wire.REPLY);
        }
        assertThat(failure(connecting)).isInstanceOf(IOException.class).hasMessageContaining("during its reply");
    }

    @Test
    void violations() throws Exception {
        assertViolation("485454502f312e31", MpaViolation.NOT_MPA);
        assertViolation(Wire.REQUEST + "1002 0004 00010001", MpaViolation.OTHER_KIND);
        assertViolation(Wire.REPLY + "9002 0004 0001 0001", MpaViolation.MARKERS);
        assertViolation(Wire.REPLY + "1002 0004 0001 0011", MpaViolation.TOO_MANY_READS);
        assertViolation(Wire.REPLY + "1003 0000", MpaViolation.REVISION);
        assertViolation(Wire.REPLY + "1002 0201", MpaViolation.PRIVATE_DATA_TOO_LONG);
    }

    private void assertViolation(String reply, MpaViolation expected) throws Exception {
        CompletableFuture<MpaConnection> connecting = connecting(LONG);
        try (Wire peer = accept()) {
            peer.readFrame();
            peer.send(reply);
            assertThat(failure(connecting))
                    .isInstanceOfSatisfying(
                            MpaException.class, e -> assertThat(e.violation()).isEqualTo(expected));
            assertThat(peer.isEnded()).isTrue();
        }
    }

    @Test
    void silentAndSlowPeersAreDropped() throws Exception {
        CompletableFuture<MpaConnection> connecting = connecting(TimeUnit.MILLISECONDS.toNanos(200));
        try (Wire peer = accept()) {
            assertThat(failure(connecting)).isInstanceOf(SocketTimeoutException.class);
            peer.readFrame();
            assertThat(peer.isEnded()).isTrue();
        }
        CompletableFuture<MpaConnection> slowly = connecting(TimeUnit.MILLISECONDS.toNanos(400));
        try (Wire peer = accept()) {
            peer.readFrame();
            byte[] reply = Wire.bytes(Wire.REPLY);
            for (int i = 0; i < reply.length && !slowly.isDone(); i++) {
                peer.send(HexFormat.of().toHexDigits(reply[i]));
                long next = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(40);
                while (System.nanoTime() - next < 0 && !slowly.isDone()) {
                    Thread.onSpinWait();
                }
            }
            assertThat(failure(slowly)).isInstanceOf(SocketTimeoutException.class);
        }
    }

    @Test
    void nobodyListens() throws Exception {
        InetSocketAddress address = Wire.addressOf(server);
        server.close();
        assertThatThrownBy(() -> new MpaInitiator(address, IdentifierOptions.none()).connect(OWN, new byte[0], LONG))
                .isInstanceOf(ConnectException.class);
    }

    @Test
    void closingEndsIt() throws Exception {
        CompletableFuture<MpaConnection> connecting = connecting(TimeUnit.MINUTES.toNanos(5));
        try (Wire peer = accept()) {
            peer.readFrame();
            initiator.close();
            assertThat(failure(connecting)).isInstanceOf(AsynchronousCloseException.class);
            assertThat(peer.isEnded()).isTrue();
        }
        assertThatThrownBy(() -> initiator.connect(OWN, new byte[0], LONG))
                .isInstanceOf(AsynchronousCloseException.class);
    }

    /// The queue pair has it already, and closes it when the peer ends it at once: nobody has closed this side.
    @Test
    void aConnectionThatThePeerEndsAtOnceWasNotClosedHere() throws Exception {
        CompletableFuture<MpaConnection> connecting = connecting(LONG);
        try (Wire peer = accept()) {
            peer.readFrame();
            peer.send(Wire.REPLY + "5402 0004 0001 0001");
            get(connecting).channel().close();
        }

        assertThatThrownBy(initiator::release)
                .isInstanceOf(IOException.class)
                .isNotInstanceOf(AsynchronousCloseException.class);
        initiator.close();
        assertThatThrownBy(initiator::release).isInstanceOf(AsynchronousCloseException.class);
    }

    @Test
    void anInterruptEndsIt() throws Exception {
        CompletableFuture<Throwable> outcome = new CompletableFuture<>();
        Thread thread = Thread.ofPlatform().start(() -> {
            try {
                outcome.completeExceptionally(new AssertionError(
                        "connected: " + initiator.connect(OWN, new byte[0], TimeUnit.MINUTES.toNanos(5))));
            } catch (IOException e) {
                outcome.complete(e);
            }
        });
        try (Wire peer = accept()) {
            peer.readFrame();
            thread.interrupt();
            assertThat(outcome.get(10, TimeUnit.SECONDS)).isInstanceOf(ClosedByInterruptException.class);
            assertThat(peer.isEnded()).isTrue();
        }
    }

    @Test
    void eachSideSendsWithItsTypeOfService() throws Exception {
        IdentifierOptions options = IdentifierOptions.none();
        InetSocketAddress any = new InetSocketAddress(server.getInetAddress(), 0);
        try (MpaAcceptor acceptor = new MpaAcceptor(any, AcceptLimits.withBacklog(1), options.withTypeOfService(72))) {
            MpaInitiator caller = new MpaInitiator(acceptor.localAddress(), options.withTypeOfService(104));
            CompletableFuture<MpaConnection> connecting = async(() -> caller.connect(OWN, new byte[0], LONG));
            MpaRequest request = acceptor.await(LONG);
            try (var accepted =
                            request.reply(new MpaNegotiation(false, 4, 4).acceptance(request.frame(), new byte[100]));
                    var called = get(connecting).channel()) {
                assertThat(accepted.getOption(StandardSocketOptions.IP_TOS)).isEqualTo(72);
                assertThat(called.getOption(StandardSocketOptions.IP_TOS)).isEqualTo(104);
            }
        }
    }

    @Test
    void theWildcardAddressCanStandForOneFamily() throws Exception {
        InetSocketAddress any = new InetSocketAddress(InetAddress.getByAddress(new byte[4]), 0);
        try (MpaAcceptor acceptor = new MpaAcceptor(
                        any,
                        AcceptLimits.withBacklog(1),
                        IdentifierOptions.none().withAddressFamilyOnly(true));
                SocketChannel ipv6 = SocketChannel.open()) {
            int port = acceptor.localAddress().getPort();
            assertThatThrownBy(() -> ipv6.connect(new InetSocketAddress(InetAddress.ofLiteral("::1"), port)))
                    .isInstanceOf(ConnectException.class);
        }
    }

    @Test
    void ourOwnAcceptor() throws Exception {
        try (MpaAcceptor acceptor = new MpaAcceptor(
                new InetSocketAddress(server.getInetAddress(), 0),
                AcceptLimits.withBacklog(1),
                IdentifierOptions.none())) {
            MpaInitiator caller = new MpaInitiator(acceptor.localAddress(), IdentifierOptions.none());
            CompletableFuture<MpaConnection> connecting = async(() -> caller.connect(OWN, new byte[251], LONG));
            MpaRequest request = acceptor.await(LONG);
            assertThat(request).isNotNull();
            assertThat(request.frame().asksForHandshake()).isTrue();
            assertThat(request.frame().privateData()).hasSize(251);
            try (var accepted =
                    request.reply(new MpaNegotiation(false, 4, 32).acceptance(request.frame(), new byte[351]))) {
                MpaConnection connection = get(connecting);
                assertThat(connection.reply().privateData()).hasSize(351);
                assertThat(connection.terms()).isEqualTo(new MpaTerms(true, 16, 4, ReadyToReceive.WRITE));
                assertThat(accepted.isConnected()).isTrue();
                connection.channel().close();
            }
        }
    }
}
