package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.fixture.PeerFailure.peer;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.CompletionHandler;
import io.rdmacomm.comm.Deadlines;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.EndPointState;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.PeerFailedException;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.PortForward;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaInterruptedException;
import io.rdmacomm.verbs.statistics.ChannelCounter;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Closing and barriers where a completion does not mean arrival, as on iWARP: the data channels are held up
/// while the control channel is not.
@ExtendWith(LeakCheck.class)
final class ArrivalTest {
    private static final SessionOptions OPTIONS =
            SessionOptions.defaults().withDeadlines(Deadlines.defaults().withClose(TIMEOUT));
    /// No call goes out from it, which might have the port that is to be listened on.
    private static final String ADDRESS = "127.0.0.2";

    private static final Duration WHILE = Duration.ofMillis(200);
    private static final int MESSAGES = 5;

    /// A server and a client, whose data channels can be held up.
    private static final class Pair implements AutoCloseable {
        final ServerSession server;
        final ForeignLines lines;
        final ClientSession client;
        final EndPoint serverEnd;
        final EndPoint clientEnd;

        Pair(SessionOptions options) throws IOException {
            int inside = PortForward.freePort();
            server = ServerSession.listen(options.withAddress(ADDRESS, 0).withConnectionPort(inside));
            lines = new ForeignLines(ADDRESS, inside);
            client = ClientSession.connect(
                    options.withAddress(ADDRESS, server.port()).withConnectionPort(lines.port()));
            serverEnd = server.accept(TIMEOUT);
            clientEnd = client.endPoint();
            // The client is the first to speak on each line. Held up before that, the server could not speak either.
            CompletableFuture<Void> other = running(() -> serverEnd.barrier(TIMEOUT));
            clientEnd.barrier(TIMEOUT);
            other.join();
        }

        RdmaChannel serverChannel() {
            return serverEnd.channel(0);
        }

        RdmaChannel clientChannel() {
            return clientEnd.channel(0);
        }

        /// Sends messages of 1, 2, ... bytes, all of which complete.
        void sendFromClient() {
            RdmaBuffer text = client.allocate("text", 64);
            send(clientChannel(), text);
        }

        void sendFromServer() {
            RdmaBuffer text = server.allocate("text", 64);
            send(serverChannel(), text);
        }

        private static void send(RdmaChannel channel, RdmaBuffer text) {
            for (int i = 1; i <= MESSAGES; i++) {
                channel.blocking(TIMEOUT).send(text.slice(0, i));
            }
        }

        @Override
        public void close() throws IOException {
            lines.release();
            try (lines;
                    server) {
                client.close();
            }
        }
    }

    private static Stream<Arguments> modes() {
        return Arrays.stream(ThreadMode.values())
                .flatMap(threads -> Arrays.stream(WorkMode.values()).map(work -> Arguments.of(threads, work)));
    }

    private static SessionOptions in(ThreadMode threads, WorkMode work) {
        return OPTIONS.withThreadMode(threads).withWorkMode(work);
    }

    private static CompletableFuture<Void> running(Runnable call) {
        return CompletableFuture.runAsync(call, task -> Thread.ofVirtual().start(task));
    }

    private static void assertAllReceived(RdmaChannel channel) {
        for (int i = 1; i <= MESSAGES; i++) {
            try (Message message = channel.blocking(TIMEOUT).receive()) {
                assertThat(message.segment().byteSize()).isEqualTo(i);
            }
        }
    }

    private static void assertClosedWell(EndPoint endPoint) {
        assertThat(endPoint.failure()).isNull();
        assertThat(endPoint.state()).isEqualTo(EndPointState.CLOSED);
    }

    @ParameterizedTest
    @MethodSource("modes")
    void theLastMessagesArriveBeforeTheClientIsDone(ThreadMode threads, WorkMode work) throws IOException {
        try (Pair pair = new Pair(in(threads, work))) {
            pair.lines.hold();
            pair.sendFromClient();
            CompletableFuture<Void> closing = running(pair.clientEnd::close);

            assertThat(pair.serverEnd.awaitPeerDone(WHILE)).isFalse();
            assertThat(pair.serverChannel().tryReceive()).isNull();
            pair.lines.release();

            closing.join();
            assertAllReceived(pair.serverChannel());
            assertThatThrownBy(() -> pair.serverChannel().blocking(TIMEOUT).receive())
                    .isInstanceOf(ClosedException.class)
                    .hasMessageContaining("is done");
            assertThat(pair.serverEnd.failure()).isNull();
            assertClosedWell(pair.clientEnd);
            assertThat(pair.clientChannel().statistics().value(ChannelCounter.COMPLETED))
                    .as("what the user has started")
                    .isEqualTo(MESSAGES);
        }
    }

    @Test
    void aFailedEndPointTellsWhyItsConnectionEnded() throws IOException {
        try (Pair pair = new Pair(OPTIONS)) {
            // The server does not notice it: otherwise it would end the control channel, which may be noticed first.
            pair.lines.hold();
            pair.lines.spoil();

            assertThatThrownBy(() -> pair.clientChannel().blocking(TIMEOUT).receive())
                    .isInstanceOf(ClosedException.class)
                    .hasMessageContaining("has lost its connection: what the peer sent was refused: ")
                    .cause()
                    .satisfies(peer(PeerFailedException.Reason.GONE));
        }
    }

    @Test
    void theLastMessagesArriveBeforeTheServerIsDone() throws IOException {
        try (Pair pair = new Pair(OPTIONS)) {
            pair.lines.hold();
            pair.sendFromServer();
            CompletableFuture<Void> closing = running(pair.serverEnd::close);

            assertThat(pair.clientEnd.awaitPeerDone(WHILE)).isFalse();
            pair.lines.release();

            closing.join();
            assertAllReceived(pair.clientChannel());
            assertClosedWell(pair.serverEnd);
        }
    }

    /// Messages on their way to the side that closes still reach its handler.
    @ParameterizedTest
    @EnumSource(ThreadMode.class)
    void theSideThatClosesTakesWhatItsPeerHasSent(ThreadMode threads) throws IOException {
        try (Pair pair = new Pair(in(threads, WorkMode.ADAPTIVE))) {
            AtomicInteger handled = new AtomicInteger();
            pair.clientChannel().onMessage((on, message) -> handled.incrementAndGet());
            pair.lines.hold();
            pair.sendFromServer();
            CompletableFuture<Void> closing = running(pair.clientEnd::close);
            assertThat(pair.serverEnd.awaitPeerDone(TIMEOUT))
                    .as("the client has sent nothing")
                    .isTrue();
            assertThatThrownBy(() -> closing.get(WHILE.toMillis(), TimeUnit.MILLISECONDS))
                    .as("the server has not answered")
                    .isInstanceOf(TimeoutException.class);
            pair.lines.release();

            closing.join();

            assertThat(handled).hasValue(MESSAGES);
            assertClosedWell(pair.clientEnd);
        }
    }

    @ParameterizedTest
    @EnumSource(ThreadMode.class)
    void bothSidesCloseAtTheSameTimeAndNothingIsLost(ThreadMode threads) throws IOException {
        try (Pair pair = new Pair(in(threads, WorkMode.ADAPTIVE))) {
            AtomicInteger handled = new AtomicInteger();
            pair.clientChannel().onMessage((on, message) -> handled.incrementAndGet());
            pair.serverChannel().onMessage((on, message) -> handled.incrementAndGet());
            pair.lines.hold();
            pair.sendFromServer();
            pair.sendFromClient();
            CompletableFuture<Void> one = running(pair.clientEnd::close);
            CompletableFuture<Void> other = running(pair.serverEnd::close);
            pair.lines.release();
            one.join();
            other.join();

            assertThat(handled).hasValue(2 * MESSAGES);
            assertClosedWell(pair.clientEnd);
            assertClosedWell(pair.serverEnd);
        }
    }

    @ParameterizedTest
    @MethodSource("modes")
    void messagesSentBeforeABarrierHaveArrivedAfterIt(ThreadMode threads, WorkMode work) throws IOException {
        try (Pair pair = new Pair(in(threads, work))) {
            AtomicInteger handled = new AtomicInteger();
            pair.clientChannel().onMessage((on, message) -> handled.incrementAndGet());
            pair.lines.hold();
            pair.sendFromClient();
            pair.sendFromServer();
            List<CompletableFuture<Void>> barriers = List.of(
                    running(() -> {
                        pair.clientEnd.barrier(TIMEOUT);
                        assertThat(handled).hasValue(MESSAGES);
                    }),
                    running(() -> {
                        pair.serverEnd.barrier(TIMEOUT);
                        for (int i = 1; i <= MESSAGES; i++) {
                            try (Message message = pair.serverChannel().tryReceive()) {
                                assertThat(message)
                                        .as("message %d of client", i)
                                        .isNotNull();
                            }
                        }
                    }));

            assertThat(pair.serverEnd.awaitPeerDone(WHILE)).isFalse();
            assertThat(barriers).noneMatch(CompletableFuture::isDone);
            pair.lines.release();

            barriers.forEach(CompletableFuture::join);
        }
    }

    /// The operations are in flight, not ended, when the barrier is called.
    @Test
    void operationsStartedBeforeABarrierHaveArrivedAfterIt() throws IOException {
        int bytes = 1 << 24;
        try (Pair pair = new Pair(OPTIONS)) {
            RdmaBuffer inbox = pair.server.allocate("inbox", bytes);
            pair.serverEnd.announce(inbox, AccessFlag.allRemote());
            RdmaBuffer source = pair.client.allocate("source", bytes);
            source.segment().fill((byte) 7);
            RemoteBuffer remote = pair.clientEnd.peerBuffer("inbox", TIMEOUT);
            pair.lines.hold();
            assertThat(pair.clientChannel()
                            .tryWrite(source.block(0), remote, 0, CompletionHandler.NONE, 0)
                            .isAccepted())
                    .isTrue();
            CompletableFuture<Void> barrier = running(() -> pair.clientEnd.barrier(TIMEOUT));
            pair.lines.release();

            pair.serverEnd.barrier(TIMEOUT);

            assertThat(inbox.segment().mismatch(source.segment())).isEqualTo(-1);
            barrier.join();
        }
    }

    @Test
    void aBarrierThatTimesOutCanBeTriedAgain() throws IOException {
        try (Pair pair = new Pair(OPTIONS)) {
            pair.lines.hold();
            pair.sendFromClient();
            assertThatThrownBy(() -> pair.clientEnd.barrier(WHILE))
                    .isInstanceOf(DeadlineException.class)
                    .hasMessageContaining("have not arrived");
            pair.lines.release();

            CompletableFuture<Void> again = running(() -> pair.clientEnd.barrier(TIMEOUT));
            pair.serverEnd.barrier(TIMEOUT);
            again.join();
            assertAllReceived(pair.serverChannel());
        }
    }

    @Test
    void aBarrierInAHandlerIsRejected() throws IOException {
        try (Pair pair = new Pair(OPTIONS)) {
            CompletableFuture<Void> refused = new CompletableFuture<>();
            pair.serverChannel().onMessage((on, message) -> {
                try {
                    pair.serverEnd.barrier(TIMEOUT);
                    refused.complete(null);
                } catch (RuntimeException e) {
                    refused.completeExceptionally(e);
                }
            });
            pair.sendFromClient();
            assertThatThrownBy(refused::join).hasCauseInstanceOf(IllegalStateException.class);
        }
    }

    /// The send queue is full of one operation that does not end: the arrival read has a slot of its own.
    @Test
    void aFullWindowDoesNotHoldAnArrivalReadUp() throws IOException {
        int bytes = 1 << 24;
        ChannelOptions narrow = ChannelOptions.defaults().withSendWindow(1).withReceives(4);
        try (Pair pair = new Pair(OPTIONS.withChannel(narrow))) {
            RdmaBuffer inbox = pair.server.allocate("inbox", bytes);
            pair.serverEnd.announce(inbox, AccessFlag.allRemote());
            RdmaBuffer source = pair.client.allocate("source", bytes);
            source.segment().fill((byte) 7);
            RemoteBuffer remote = pair.clientEnd.peerBuffer("inbox", TIMEOUT);
            pair.lines.hold();
            assertThat(pair.clientChannel()
                            .tryWrite(source.block(0), remote, 0, CompletionHandler.NONE, 0)
                            .isAccepted())
                    .isTrue();
            CompletableFuture<Void> closing = running(pair.clientEnd::close);
            assertThat(pair.serverEnd.awaitPeerDone(WHILE)).isFalse();
            assertThat(closing).isNotDone();
            pair.lines.release();

            closing.join();

            assertThat(inbox.segment().mismatch(source.segment())).isEqualTo(-1);
            assertClosedWell(pair.clientEnd);
        }
    }

    /// Many messages run on credits, and barriers come in between.
    @Test
    void arrivalReadsAreNotCountedAsOperationsOfTheUser() throws IOException {
        ChannelOptions narrow = ChannelOptions.defaults().withSendWindow(2).withReceives(2);
        try (Pair pair = new Pair(OPTIONS.withChannel(narrow))) {
            RdmaBuffer text = pair.client.allocate("text", 64);
            int rounds = 100;
            CompletableFuture<Void> receiving = running(() -> {
                for (int i = 0; i < rounds; i++) {
                    for (int j = 1; j <= 3; j++) {
                        try (Message message =
                                pair.serverChannel().blocking(TIMEOUT).receive()) {
                            assertThat(message.segment().byteSize()).isEqualTo(j);
                        }
                    }
                    pair.serverEnd.barrier(TIMEOUT);
                }
            });
            for (int i = 0; i < rounds; i++) {
                for (int j = 1; j <= 3; j++) {
                    pair.clientChannel().blocking(TIMEOUT).send(text.slice(0, j));
                }
                pair.clientEnd.barrier(TIMEOUT);
            }
            receiving.join();
            assertThat(pair.clientChannel().statistics().value(ChannelCounter.COMPLETED))
                    .isEqualTo(3L * rounds);
            assertThat(pair.clientChannel().inFlight()).isZero();
        }
    }

    @Test
    void manyThreadsMeetAtBarriers() throws IOException {
        try (Pair pair = new Pair(OPTIONS.withChannels(3))) {
            List<CompletableFuture<Void>> threads = new ArrayList<>();
            for (EndPoint end : List.of(pair.clientEnd, pair.serverEnd)) {
                for (int i = 0; i < 4; i++) {
                    threads.add(running(() -> {
                        for (int round = 0; round < 20; round++) {
                            end.barrier(TIMEOUT);
                        }
                    }));
                }
            }
            threads.forEach(CompletableFuture::join);
        }
    }

    @Test
    void anInterruptEndsTheWaitOfABarrier() throws IOException {
        try (Pair pair = new Pair(OPTIONS)) {
            pair.lines.hold();
            pair.sendFromClient();
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> pair.clientEnd.barrier(TIMEOUT)).isInstanceOf(RdmaInterruptedException.class);
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    /// The thread that closes returns at once; what it was waiting for happens all the same.
    @ParameterizedTest
    @EnumSource(ThreadMode.class)
    void anInterruptDuringTheCloseEndsTheWaitingAndLosesNothing(ThreadMode threads) throws Exception {
        try (Pair pair = new Pair(in(threads, WorkMode.ADAPTIVE))) {
            AtomicInteger handled = new AtomicInteger();
            pair.clientChannel().onMessage((on, message) -> handled.incrementAndGet());
            pair.lines.hold();
            pair.sendFromClient();
            pair.sendFromServer();
            Thread closer = interruptedWhileItCloses(pair);
            assertThat(pair.serverEnd.awaitPeerDone(WHILE)).isFalse();
            CompletableFuture<Void> again = running(pair.clientEnd::close);
            assertThat(pair.clientEnd.state()).isEqualTo(EndPointState.CLOSING);
            assertThat(again).as("a second call waits").isNotDone();
            pair.lines.release();

            closer.join();
            again.join();
            assertAllReceived(pair.serverChannel());
            assertThat(pair.serverEnd.failure()).isNull();
            assertThat(handled).hasValue(MESSAGES);
            assertClosedWell(pair.clientEnd);
        }
    }

    @Test
    void aCloseThatWasInterruptedEndsAtItsDeadline() throws Exception {
        SessionOptions impatient = OPTIONS.withDeadlines(Deadlines.defaults().withClose(Duration.ofSeconds(1)));
        try (Pair pair = new Pair(impatient)) {
            pair.lines.hold();
            pair.sendFromClient();
            interruptedWhileItCloses(pair).join();

            pair.clientEnd.close();

            assertThat(pair.clientEnd.failure())
                    .isInstanceOf(DeadlineException.class)
                    .hasMessageContaining("what was started last may be lost");
        }
    }

    /// An interrupt may come before the thread closes, in each of its waits, and between them.
    @RepeatedTest(20)
    void anInterruptAtAnyMomentLosesNothing() throws Exception {
        long seed = new SecureRandom().nextLong();
        Random random = new Random(seed);
        try (Pair pair = new Pair(in(ThreadMode.CALLER, WorkMode.ADAPTIVE))) {
            pair.sendFromClient();
            CompletableFuture<Boolean> flag = new CompletableFuture<>();
            Thread closer = Thread.ofPlatform().start(() -> {
                pair.clientEnd.close();
                flag.complete(Thread.interrupted());
            });
            LockSupport.parkNanos(random.nextLong(2_000_000));
            closer.interrupt();

            closer.join();
            pair.clientEnd.close();
            assertAllReceived(pair.serverChannel());
            assertThat(pair.serverEnd.awaitPeerDone(TIMEOUT)).isTrue();
            assertThat(pair.serverEnd.failure()).as("seed %d", seed).isNull();
            assertThat(pair.clientEnd.failure()).as("seed %d", seed).isNull();
            assertThat(flag).isDone();
        }
    }

    /// A thread that has been interrupted while it waited in `close`, and has returned with the interrupt flag set.
    private static Thread interruptedWhileItCloses(Pair pair) throws Exception {
        CompletableFuture<Boolean> flag = new CompletableFuture<>();
        Thread closer = Thread.ofPlatform().start(() -> {
            pair.clientEnd.close();
            flag.complete(Thread.interrupted());
        });
        ConnectedPair.eventually(() -> pair.clientEnd.state() == EndPointState.CLOSING);
        closer.interrupt();
        assertThat(flag.get(TIMEOUT.toMillis() / 2, TimeUnit.MILLISECONDS))
                .as("the interrupt flag")
                .isTrue();
        return closer;
    }

    @Test
    void theWaitForAnAnswerEndsAtTheDeadline() throws IOException {
        SessionOptions impatient = OPTIONS.withDeadlines(Deadlines.defaults().withClose(WHILE));
        try (Pair pair = new Pair(impatient)) {
            pair.lines.hold();
            pair.sendFromClient();

            pair.clientEnd.close();

            assertThat(pair.clientEnd.state()).isEqualTo(EndPointState.FAILED);
            assertThat(pair.clientEnd.failure())
                    .isInstanceOf(DeadlineException.class)
                    .hasMessageContaining("what was started last may be lost");
            assertThat(pair.serverEnd.awaitPeerDone(TIMEOUT)).isTrue();
            assertThat(pair.serverEnd.state()).as("not all has come").isEqualTo(EndPointState.FAILED);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aConnectionThatBreaksEndsTheWait(boolean closing) throws IOException {
        try (Pair pair = new Pair(OPTIONS)) {
            pair.lines.hold();
            pair.sendFromClient();
            CompletableFuture<Void> waiting =
                    running(closing ? pair.clientEnd::close : () -> pair.clientEnd.barrier(TIMEOUT));
            assertThat(pair.serverEnd.awaitPeerDone(WHILE)).isFalse();
            assertThat(waiting).isNotDone();

            pair.lines.cut();

            if (closing) {
                waiting.join();
            } else {
                assertThatThrownBy(waiting::join).hasCauseInstanceOf(ClosedException.class);
                assertThat(pair.clientEnd.state()).isEqualTo(EndPointState.FAILED);
            }
            assertThat(pair.clientEnd.failure()).isNotNull();
        }
    }

    @ParameterizedTest
    @EnumSource(ThreadMode.class)
    void aHandlerMayCloseItsEndPoint(ThreadMode threads) throws IOException {
        try (Pair pair = new Pair(in(threads, WorkMode.ADAPTIVE))) {
            pair.serverChannel().onMessage((on, message) -> pair.serverEnd.closeLater());
            RdmaBuffer text = pair.client.allocate("text", 64);
            pair.clientChannel().blocking(TIMEOUT).send(text.slice(0, 1));
            ConnectedPair.eventually(() -> {
                pair.server.poll();
                pair.client.poll();
                return pair.serverEnd.state() == EndPointState.CLOSED;
            });
            assertThat(pair.serverEnd.failure()).isNull();
            assertThat(pair.clientEnd.failure()).isNull();
        }
    }

    /// The program allows no READ, and the library still needs one.
    @Test
    void theLibraryMayReadWhereTheProgramMayNot() throws IOException {
        ChannelOptions none = ChannelOptions.defaults()
                .withConnection(ConnectionOptions.defaults().withReadAtomic(0));
        try (Pair pair = new Pair(OPTIONS.withChannel(none))) {
            pair.sendFromClient();
            pair.clientEnd.close();
            assertAllReceived(pair.serverChannel());
            assertClosedWell(pair.clientEnd);
        }
    }
}
