package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.comm.ConnectedPair.eventually;
import static io.rdmacomm.tests.fixture.PeerFailure.peer;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.CompletionHandler;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.EndPointState;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.OperationException;
import io.rdmacomm.comm.PeerFailedException;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.statistics.ChannelCounter;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/// Peers in processes of their own that end in order or are killed.
final class PeerDeathTest {
    private static final SessionOptions OPTIONS = SessionOptions.defaults().withAddress("127.0.0.1", 0);

    @Test
    void twoProcessesExchangeMessagesAndMemoryAndEndInOrder() throws IOException, InterruptedException {
        try (PeerProgram peer = PeerProgram.start("server")) {
            int port = Integer.parseInt(peer.readLine());
            try (ClientSession session = ClientSession.connect(OPTIONS.withPort(port))) {
                RdmaBuffer source = session.allocate("source", 64);
                RdmaChannel channel = session.endPoint().channel(0);
                RemoteBuffer remote = session.endPoint().peerBuffer("target", TIMEOUT);
                for (int i = 0; i < 100; i++) {
                    channel.blocking(TIMEOUT).send(source.slice(0, i % 64), i);
                    try (Message message = channel.blocking(TIMEOUT).receive()) {
                        assertThat(message.tag()).isEqualTo(i);
                        assertThat(message.length()).isEqualTo(i % 64);
                    }
                    channel.blocking(TIMEOUT).write(source.block(0), remote, i * 64L);
                    assertThat(channel.blocking(TIMEOUT).fetchAndAdd(remote, 0, 1))
                            .isNotNegative();
                }
            }
            assertThat(peer.awaitExit()).isZero();
        }
    }

    @Test
    void aKilledPeerFailsItsEndPointAndEverythingInFlightEnds() throws IOException {
        try (PeerProgram peer = PeerProgram.start("server")) {
            int port = Integer.parseInt(peer.readLine());
            try (ClientSession session = ClientSession.connect(OPTIONS.withPort(port))) {
                EndPoint endPoint = session.endPoint();
                RdmaChannel channel = endPoint.channel(0);
                RdmaBuffer source = session.allocate("source", 64);
                RemoteBuffer remote = endPoint.peerBuffer("target", TIMEOUT);
                AtomicLong taken = new AtomicLong();
                AtomicLong ended = new AtomicLong();
                CompletionHandler handler = (on, context, status, result) -> ended.incrementAndGet();
                CompletableFuture<Message> receive = channel.async().receive();
                Thread writer =
                        Thread.ofPlatform().start(() -> writeUntilItFails(channel, source, remote, handler, taken));
                eventually(() -> taken.get() > 1000);

                long killed = System.nanoTime();
                peer.kill();
                eventually(() -> endPoint.state() == EndPointState.FAILED);

                assertThat(Duration.ofNanos(System.nanoTime() - killed)).isLessThan(Duration.ofSeconds(1));
                eventually(() -> !writer.isAlive());
                eventually(() -> ended.get() == taken.get());
                assertThat(channel.inFlight()).isZero();
                assertThat(endPoint.failure()).satisfies(peer(PeerFailedException.Reason.GONE));
                assertThatThrownBy(receive::join).hasCauseInstanceOf(ClosedException.class);
                assertThatThrownBy(() -> channel.blocking(TIMEOUT).send(source.block(0)))
                        .isInstanceOf(ClosedException.class)
                        .cause()
                        .satisfies(peer(PeerFailedException.Reason.GONE));
                assertThatThrownBy(() -> endPoint.peerBuffer("other", TIMEOUT)).isInstanceOf(ClosedException.class);
                long closing = System.nanoTime();
                endPoint.close();
                assertThat(Duration.ofNanos(System.nanoTime() - closing)).isLessThan(Duration.ofSeconds(1));
                assertThat(endPoint.state()).isEqualTo(EndPointState.FAILED);
            }
        }
    }

    /// Only the queue pairs can see that the peer's process has ended.
    @Test
    void aPeerWhoseQueuePairsDoNotAnswerIsGone() throws IOException {
        try (PeerProgram peer = PeerProgram.start("server");
                Relay line = new Relay(Integer.parseInt(peer.readLine()));
                ClientSession session = ClientSession.connect(OPTIONS.withPort(line.port()))) {
            EndPoint endPoint = session.endPoint();
            RdmaBuffer source = session.allocate("source", 64);
            RemoteBuffer remote = endPoint.peerBuffer("target", TIMEOUT);

            peer.kill();

            assertThatThrownBy(() -> writeUntilItFails(endPoint.channel(0), source, remote))
                    .isInstanceOfAny(ClosedException.class, OperationException.class)
                    .cause()
                    .satisfies(peer(PeerFailedException.Reason.GONE));
            assertThat(endPoint.failure()).satisfies(peer(PeerFailedException.Reason.GONE));
        }
    }

    private static void writeUntilItFails(RdmaChannel channel, RdmaBuffer source, RemoteBuffer remote) {
        while (true) {
            channel.blocking(TIMEOUT).write(source.block(0), remote, 0);
        }
    }

    private static void writeUntilItFails(
            RdmaChannel channel, RdmaBuffer source, RemoteBuffer remote, CompletionHandler handler, AtomicLong taken) {
        try {
            while (true) {
                if (channel.tryWrite(source.block(0), remote, 0, handler, 0).isAccepted()) {
                    taken.incrementAndGet();
                } else {
                    channel.checkOpen();
                }
            }
        } catch (ClosedException e) {
            assertThat(e).hasCauseInstanceOf(RdmaException.class);
        }
    }

    @Test
    void theDeathOfOneClientLeavesTheOthersAlone() throws IOException {
        try (ServerSession session = ServerSession.listen(OPTIONS);
                PeerProgram one = PeerProgram.start("client", "" + session.port());
                PeerProgram two = PeerProgram.start("client", "" + session.port())) {
            assertThat(one.readLine()).isEqualTo("ready");
            assertThat(two.readLine()).isEqualTo("ready");
            EndPoint first = session.accept(TIMEOUT);
            EndPoint second = session.accept(TIMEOUT);
            RdmaBuffer source = session.allocate("source", 64);

            one.kill();
            eventually(() -> first.state() == EndPointState.FAILED || second.state() == EndPointState.FAILED);
            EndPoint alive = first.state() == EndPointState.FAILED ? second : first;
            RemoteBuffer remote = alive.peerBuffer("target", TIMEOUT);
            for (int i = 0; i < 1000; i++) {
                alive.channel(0).blocking(TIMEOUT).write(source.block(0), remote, i);
            }

            two.goOn();
            assertThat(alive.awaitPeerDone(TIMEOUT)).isTrue();
            assertThat(alive.state()).isEqualTo(EndPointState.PEER_DONE);
            assertThat(alive.failure()).isNull();
        }
    }

    @Test
    void aBlockedOperationEndsWithTheCauseWhenThePeerDies() throws IOException {
        try (ServerSession session = ServerSession.listen(OPTIONS);
                PeerProgram peer = PeerProgram.start("client", "" + session.port())) {
            assertThat(peer.readLine()).isEqualTo("ready");
            EndPoint endPoint = session.accept(TIMEOUT);
            RdmaBuffer source = session.allocate("source", 64);
            // The client receives no message: soon there is no room for another.
            CompletableFuture<Void> blocked = CompletableFuture.runAsync(
                    () -> {
                        while (true) {
                            endPoint.channel(0).blocking(TIMEOUT).send(source.block(0));
                        }
                    },
                    task -> Thread.ofVirtual().start(task));
            eventually(() -> endPoint.channel(0).statistics().value(ChannelCounter.CREDIT_STALLS) > 0);

            peer.kill();

            assertThatThrownBy(blocked::join)
                    .cause()
                    .isInstanceOfAny(ClosedException.class, OperationException.class)
                    .cause()
                    .satisfies(peer(PeerFailedException.Reason.GONE));
        }
    }
}
