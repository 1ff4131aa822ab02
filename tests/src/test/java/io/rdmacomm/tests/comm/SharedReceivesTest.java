package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.comm.ConnectedPair.eventually;
import static io.rdmacomm.tests.fixture.SetupFailure.because;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.Admission;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.CompletionHandler;
import io.rdmacomm.comm.Deadlines;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionListener;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.Setup;
import io.rdmacomm.comm.SetupFailedException;
import io.rdmacomm.comm.SetupFailedException.Reason;
import io.rdmacomm.comm.SharedReceives;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import io.rdmacomm.tests.comm.SharedPool.Client;
import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.Fabric;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.PrivateMemory;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.statistics.ChannelCounter;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Servers whose clients share one pool of receives, on every device that is there.
@ExtendWith(LeakCheck.class)
final class SharedReceivesTest {
    static Stream<Fabric> devices() {
        return Fabric.providers();
    }

    @ParameterizedTest
    @MethodSource("devices")
    @Tag("slow")
    void manyClientsUseOnePool(Fabric fabric) throws InterruptedException {
        int clients = 16;
        int messages = Amount.onLine(2000, 100);
        try (SharedPool pool =
                new SharedPool(fabric, SharedReceives.of(64, clients).withGuaranteed(2))) {
            AtomicInteger correct = new AtomicInteger();
            List<Thread> senders = new ArrayList<>();
            for (int c = 0; c < clients; c++) {
                Client client = pool.connect();
                int number = c;
                AtomicLong next = new AtomicLong();
                client.here().channel(0).onMessage((channel, message) -> {
                    boolean right = message.block().get(JAVA_LONG, 0) == number
                            && message.block().get(JAVA_LONG, 8) == next.getAndIncrement();
                    correct.addAndGet(right ? 1 : 0);
                });
                senders.add(Thread.ofVirtual().start(() -> sendNumbers(client, number, messages)));
            }
            for (Thread sender : senders) {
                sender.join();
            }
            eventually(() -> correct.get() == clients * messages);
            assertThat(pool.statistics().channels()).isEqualTo(clients);
            assertThat(pool.server.endPoints()).allMatch(end -> end.failure() == null);
        }
    }

    private static void sendNumbers(Client client, int number, int messages) {
        RdmaBuffer source = client.session().allocate("numbers", 16);
        source.segment().set(JAVA_LONG, 0, number);
        for (long i = 0; i < messages; i++) {
            source.segment().set(JAVA_LONG, 8, i);
            client.there().channel(0).blocking(TIMEOUT).send(source.block(0));
        }
    }

    @ParameterizedTest
    @MethodSource("devices")
    void aClientThatFloodsDoesNotStopOneThatPings(Fabric fabric) throws InterruptedException {
        try (SharedPool pool = new SharedPool(fabric, SharedReceives.of(32, 4).withGuaranteed(2))) {
            Client flooding = pool.connect();
            Client pinging = pool.connect();
            AtomicLong flood = new AtomicLong();
            AtomicBoolean stop = new AtomicBoolean();
            flooding.here().channel(0).onMessage((channel, message) -> flood.incrementAndGet());
            Thread flooder = Thread.ofPlatform().start(() -> flood(flooding, stop));
            try {
                eventually(() -> flood.get() > 100);
                ping(pool, pinging, Amount.onLine(300, 20));
                long before = flood.get();
                eventually(() -> flood.get() > before);
            } finally {
                stop.set(true);
                flooder.join();
            }
            assertThat(flooding.here().channel(0).statistics().value(ChannelCounter.CREDIT_UPDATES))
                    .isPositive();
        }
    }

    private static void flood(Client client, AtomicBoolean stop) {
        BufferSlice slice = client.session().allocate("flood", 64).block(0);
        while (!stop.get()) {
            client.there().channel(0).blocking(TIMEOUT).send(slice);
        }
    }

    private static void ping(SharedPool pool, Client client, int times) {
        RdmaBuffer ask = client.session().allocate("ask", 8);
        RdmaBuffer answer = pool.server.allocate("answer " + client.here().peerAddress(), 8);
        for (int i = 0; i < times; i++) {
            send(client.there(), ask, i);
            assertThat(receive(client.here())).isEqualTo(i);
            send(client.here(), answer, -i);
            assertThat(receive(client.there())).isEqualTo(-i);
        }
    }

    /// The number is in the message, because iWARP has no immediate data.
    private static void send(EndPoint from, RdmaBuffer buffer, long number) {
        buffer.segment().set(JAVA_LONG, 0, number);
        from.channel(0).blocking(TIMEOUT).send(buffer.block(0));
    }

    private static long receive(EndPoint at) {
        try (Message message = at.channel(0).blocking(TIMEOUT).receive()) {
            return message.segment().get(JAVA_LONG, 0);
        }
    }

    @ParameterizedTest
    @MethodSource("devices")
    void aReceiverThatKeepsTheMessagesOfOneChannelStopsThatChannelOnly(Fabric fabric) {
        int guaranteed = 2;
        int lendable = 40;
        try (SharedPool pool = new SharedPool(
                fabric, SharedReceives.of(lendable + 4 * guaranteed, 4).withGuaranteed(guaranteed))) {
            Client greedy = pool.connect();
            Client modest = pool.connect();
            Keeper keeper = new Keeper(greedy.here().channel(0));
            keeper.grow(greedy);
            keeper.keep();
            int kept = keeper.fill(greedy);

            assertThat(kept)
                    .as("at most half of what can be lent, and its own")
                    .isBetween(guaranteed + 1, lendable / 2 + guaranteed);
            assertThat(pool.statistics().kept()).isEqualTo(kept);
            ping(pool, modest, 50);

            keeper.release();
            BufferSlice more = greedy.session().allocate("more", 8).block(0);
            greedy.there().channel(0).blocking(TIMEOUT).send(more);
            eventually(() -> pool.statistics().kept() == 0);
        }
    }

    /// A receiver that keeps its messages if it is told to.
    private static final class Keeper {
        private static final AtomicInteger NUMBERS = new AtomicInteger();
        private static final int MOST_AT_A_TIME = 200;

        private final Queue<Message> kept = new ConcurrentLinkedQueue<>();
        private final AtomicLong arrived = new AtomicLong();
        private volatile boolean keeping;

        Keeper(RdmaChannel... channels) {
            for (RdmaChannel channel : channels) {
                channel.onMessage((on, message) -> {
                    if (keeping) {
                        kept.add(message.retain());
                    }
                    arrived.incrementAndGet();
                });
            }
        }

        /// Lets every channel of the client borrow what it can: it uses all it has again and again.
        void grow(Client client) {
            BufferSlice slice = slice(client);
            for (int round = 0; round < 10; round++) {
                for (RdmaChannel channel : client.there().channels()) {
                    keep();
                    sendAll(channel, slice);
                    release();
                }
            }
        }

        private static BufferSlice slice(Client client) {
            return client.session()
                    .allocate("slice " + NUMBERS.getAndIncrement(), 8)
                    .block(0);
        }

        void keep() {
            keeping = true;
        }

        /// Grows and fills until more than `least` messages are kept.
        int growAndFill(Client client, int least) {
            int filled = 0;
            for (int tries = 0; filled <= least && tries < 100; tries++) {
                release();
                grow(client);
                keep();
                filled = fill(client);
            }
            assertThat(filled).as("messages that are kept").isGreaterThan(least);
            return filled;
        }

        /// Sends until there is no credit on any channel, and returns how many messages are kept.
        int fill(Client client) {
            BufferSlice slice = slice(client);
            // The last credits may still be on their way.
            eventually(() -> {
                client.there().channels().forEach(channel -> sendAll(channel, slice));
                return kept.size() > 2 * client.there().channels().size();
            });
            return kept.size();
        }

        int fillAgain(RdmaChannel channel, BufferSlice slice) {
            sendAll(channel, slice);
            return kept.size();
        }

        private void sendAll(RdmaChannel channel, BufferSlice slice) {
            long sent = 0;
            long before = arrived.get();
            Admission admission = Admission.ACCEPTED;
            while (admission != Admission.NO_CREDIT && sent < MOST_AT_A_TIME) {
                admission = channel.trySend(slice, CompletionHandler.NONE, 0);
                sent += admission.isAccepted() ? 1 : 0;
                channel.checkOpen();
            }
            long goal = before + sent;
            eventually(() -> arrived.get() == goal && channel.inFlight() == 0);
        }

        void release(int count) {
            for (int i = 0; i < count; i++) {
                kept.remove().close();
            }
        }

        void release() {
            keeping = false;
            kept.forEach(Message::close);
            kept.clear();
        }
    }

    @ParameterizedTest
    @MethodSource("devices")
    void whenFewReceivesAreLeftTheDeviceSaysSoAndTheSessionPostsThoseThatAreFree(Fabric fabric) {
        int receives = 64;
        int channels = 8;
        try (SharedPool pool =
                new SharedPool(fabric, SharedReceives.of(receives, channels).withGuaranteed(1))) {
            Client client = pool.connect(pool.options().withChannels(channels));
            Keeper keeper = new Keeper(client.here().channels().toArray(RdmaChannel[]::new));
            int kept = keeper.growAndFill(client, receives * 3 / 4);
            int posted = receives - kept + 3;
            eventually(() -> pool.statistics().refills() > 0);

            // So few that they would wait for others.
            keeper.release(3);

            eventually(() -> pool.statistics().posted() == posted);
            keeper.release();
            eventually(() -> pool.statistics().kept() == 0);
        }
    }

    /// The peers of idle channels give back what they have borrowed.
    @ParameterizedTest
    @MethodSource("devices")
    void whatIdleChannelsHaveBorrowedReturnsToThoseThatNeedIt(Fabric fabric) {
        int lendable = 40;
        try (SharedPool pool =
                new SharedPool(fabric, SharedReceives.of(lendable + 16, 8).withGuaranteed(2))) {
            for (int i = 0; i < 7; i++) {
                Client idle = pool.connect();
                new Keeper(idle.here().channel(0)).grow(idle);
            }
            Client busy = pool.connect();
            Keeper keeper = new Keeper(busy.here().channel(0));
            BufferSlice slice = busy.session().allocate("slice", 8).block(0);

            // The others have left hardly anything.
            eventually(() -> {
                keeper.keep();
                int kept = keeper.fillAgain(busy.there().channel(0), slice);
                keeper.release();
                return kept > lendable / 4;
            });
        }
    }

    @ParameterizedTest
    @MethodSource("devices")
    void aClientThatThePoolCannotServeIsRefusedWithTheReason(Fabric fabric) {
        try (SharedPool pool = new SharedPool(fabric, SharedReceives.of(8, 2).withGuaranteed(4))) {
            Client one = pool.connect();
            Client two = pool.connect();

            assertThatThrownBy(() -> ClientSession.connect(pool.options()))
                    .satisfies(because(Reason.REFUSED))
                    .hasMessageContaining("the shared receives have no room for another channel: 2 of 2 are open");

            ping(pool, one, 3);
            two.session().close();
            two.here().close();
            Client three = pool.connect();
            ping(pool, three, 3);
        }
    }

    @ParameterizedTest
    @MethodSource("devices")
    @Tag("slow")
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void aClientThatDiesGivesItsReceivesBack(Fabric fabric) throws InterruptedException {
        int deaths = Amount.onLine(Amount.of(3000, 100), 60);
        int threads = 4;
        SessionOptions plain = SharedPool.plain(fabric)
                .withDeadlines(Deadlines.defaults().withClose(Duration.ofMillis(1)))
                .withChannel(ChannelOptions.defaults().withReceives(16).withMessageBytes(64 << 10));
        Traps traps = new Traps();
        try (SharedPool pool = new SharedPool(
                plain.withListener(traps), SharedReceives.of(64, 2 * threads).withGuaranteed(2))) {
            traps.session.complete(pool.server);
            AtomicInteger left = new AtomicInteger(deaths);
            List<Thread> clients = new ArrayList<>();
            for (int t = 0; t < threads; t++) {
                clients.add(Thread.ofPlatform().start(() -> {
                    for (int number = left.getAndDecrement(); number > 0; number = left.getAndDecrement()) {
                        dieInTheMiddle(pool.options().withListener(SessionListener.NONE), number % 2 == 0);
                    }
                }));
            }
            for (Thread client : clients) {
                client.join();
            }
            eventually(() -> traps.ended.get() == deaths);
            pool.awaitAllBack();
            assertThat(traps.arrived.get()).isPositive();
            traps.done = true;
            useAll(pool, 2 * threads);
        }
    }

    /// Every receive is still there: if a few are lost, the last messages do not arrive.
    private static void useAll(SharedPool pool, int channels) {
        Client client = pool.connectAfter(pool.options().withChannels(channels));
        Keeper keeper = new Keeper(client.here().channels().toArray(RdmaChannel[]::new));
        keeper.growAndFill(client, 64 * 3 / 4);
        keeper.release();
    }

    /// Gives every client a buffer that it must not write to, receives what some of them send, and waits for their end.
    private static final class Traps implements SessionListener {
        private final CompletableFuture<ServerSession> session = new CompletableFuture<>();
        private final AtomicInteger numbers = new AtomicInteger();
        private volatile boolean done;
        private final AtomicInteger arrived = new AtomicInteger();
        private final AtomicInteger ended = new AtomicInteger();

        @Override
        public void onEndPoint(EndPoint here) {
            if (done) {
                return;
            }
            int number = numbers.getAndIncrement();
            if (number % 3 != 0) {
                here.channel(0).onMessage((channel, message) -> arrived.incrementAndGet());
            }
            try (here) {
                RdmaBuffer trap = session.join().allocate("trap " + number, 8);
                here.announce(trap, AccessFlag.allRemote());
                trap.close();
                here.awaitPeerDone(TIMEOUT);
            } finally {
                ended.incrementAndGet();
            }
        }
    }

    /// Connects, sends what the server takes, and ends while that is on its way: by an operation that the server's
    /// device rejects, or without waiting for anything.
    private static void dieInTheMiddle(SessionOptions options, boolean rejected) {
        try (ClientSession client = connectPatiently(options)) {
            EndPoint there = client.endPoint();
            RdmaChannel channel = there.channel(0);
            BufferSlice slice = client.allocate("source", 64 << 10).block(0);
            eventually(() -> !there.peerBuffers().isEmpty());
            RemoteBuffer trap = there.peerBuffers().values().iterator().next();
            for (int i = 0; i < 8; i++) {
                var _ = channel.trySend(slice, CompletionHandler.NONE, 0);
            }
            // Until the server has closed the buffer.
            eventually(() -> {
                var _ = channel.tryWrite(slice.buffer().slice(0, 8), trap, 0, CompletionHandler.NONE, 0);
                var _ = channel.trySend(slice, CompletionHandler.NONE, 0);
                return !rejected || there.failure() != null;
            });
        }
    }

    /// The server may still be busy with the clients before.
    private static ClientSession connectPatiently(SessionOptions options) {
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (true) {
            try {
                return ClientSession.connect(options);
            } catch (SetupFailedException e) {
                if (System.nanoTime() > deadline) {
                    throw e;
                }
                assertThat(e).satisfies(because(Reason.REFUSED)).hasMessageContaining("shared receives");
            }
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @MethodSource("devices")
    void messagesThatNobodyReceivedComeBackWithTheEndPoint(Fabric fabric) {
        try (SharedPool pool = new SharedPool(fabric, SharedReceives.of(16, 2).withGuaranteed(4))) {
            for (int round = 0; round < 20; round++) {
                Client client = pool.connect();
                BufferSlice slice = client.session().allocate("source", 8).block(0);
                for (int i = 0; i < 4; i++) {
                    client.there().channel(0).blocking(TIMEOUT).send(slice);
                }
                client.session().close();
                assertThat(client.here().awaitPeerDone(TIMEOUT)).isTrue();
                assertThat(pool.statistics().kept()).isEqualTo(4);
                client.here().close();
                assertThat(pool.statistics().kept()).isZero();
            }
            pool.awaitAllBack();
        }
    }

    @Test
    void aMessageThatIsKeptSurvivesItsChannelAndIsGivenBackLater() {
        try (SharedPool pool =
                new SharedPool(Fabric.SOFT_ONE_PROCESS, SharedReceives.of(2, 1).withGuaranteed(1))) {
            Client client = pool.connect();
            RdmaBuffer text = client.session().allocate("text", 8);
            text.segment().setString(0, "kept");
            client.there().channel(0).blocking(TIMEOUT).send(text.slice(0, 4));
            Message message = client.here().channel(0).blocking(TIMEOUT).receive();
            client.session().close();
            client.here().close();

            Client next = pool.connect();
            ping(pool, next, 20);
            assertThat(message.text()).isEqualTo("kept");
            assertThat(pool.statistics().kept()).isEqualTo(1);
            message.close();
            assertThat(pool.statistics().kept()).isZero();
        }
    }

    static Stream<Arguments> modes() {
        return Arrays.stream(WorkMode.values())
                .flatMap(work -> Arrays.stream(ThreadMode.values()).map(thread -> Arguments.of(work, thread)));
    }

    @ParameterizedTest
    @MethodSource("modes")
    void everyModeWorksWithAPool(WorkMode work, ThreadMode thread) {
        SessionOptions plain = SharedPool.plain(Fabric.SOFT_ONE_PROCESS).withWorkMode(work);
        try (SharedPool pool = new SharedPool(
                plain.withThreadMode(thread), SharedReceives.of(16, 6).withGuaranteed(2))) {
            List<Client> clients = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                clients.add(pool.connect(pool.options().withChannels(2)));
            }
            for (Client client : clients) {
                ping(pool, client, 30);
            }
            Client dying = clients.removeFirst();
            kill(pool, dying);
            for (Client client : clients) {
                for (int i = 0; i < 10; i++) {
                    RdmaChannel there = client.there().channel(1);
                    there.blocking(TIMEOUT)
                            .send(client.session().allocate("flood " + i, 8).block(0));
                    client.here().channel(1).blocking(TIMEOUT).receive().close();
                }
            }
            dying.here().close();
            clients.forEach(client -> client.session().close());
            pool.server.endPoints().forEach(EndPoint::close);
            pool.awaitAllBack();
        }
    }

    /// Fails the queue pairs on both sides, while messages are there that nobody has received.
    private static void kill(SharedPool pool, Client client) {
        BufferSlice slice = client.session().allocate("last words", 8).block(0);
        for (int i = 0; i < 2; i++) {
            client.there().channel(0).blocking(TIMEOUT).send(slice);
        }
        RdmaBuffer trap = pool.server.allocate("trap", 8);
        client.here().announce(trap, AccessFlag.allRemote());
        RemoteBuffer known = client.there().peerBuffer("trap", TIMEOUT);
        trap.close();
        var _ = client.there().channel(1).tryWrite(slice, known, 0, CompletionHandler.NONE, 0);
        eventually(() -> {
            pool.server.poll();
            client.session().poll();
            return client.here().failure() != null && client.there().failure() != null;
        });
    }

    /// The memory that a server holds for its clients, in the files of the software device.
    @Tag("slow")
    @Test
    void aPoolNeedsAFractionOfTheMemory() {
        int clients = Amount.onLine(Amount.of(200, 50), 20);
        SessionOptions plain = SharedPool.plain(Fabric.SOFT_ONE_PROCESS);
        SessionOptions client =
                plain.withChannel(plain.channel().withReceives(1).withMessageBytes(8));
        SessionOptions usual = plain.withChannel(ChannelOptions.defaults());
        long each = bytesOfReceives(usual, client, clients);
        long shared =
                bytesOfReceives(usual.withSharedReceives(SharedReceives.of(4 * clients, clients)), client, clients);
        System.out.println(clients + " clients with 64 receives of 16 KiB each: " + (each >> 10)
                + " KiB, with a pool of " + 4 * clients + " receives: " + (shared >> 10) + " KiB");
        assertThat(shared).isLessThan(each / 8);
    }

    /// How much more memory there is with a server and its clients than with the clients of a small server.
    private static long bytesOfReceives(SessionOptions options, SessionOptions client, int clients) {
        return bytes(options, client, clients) - bytes(client, client, clients);
    }

    private static long bytes(SessionOptions options, SessionOptions client, int clients) {
        List<ClientSession> connected = new ArrayList<>();
        try (ServerSession server = ServerSession.listen(options)) {
            for (int i = 0; i < clients; i++) {
                connected.add(ClientSession.connect(client.withPort(server.port())));
            }
            return PrivateMemory.bytes();
        } finally {
            connected.forEach(ClientSession::close);
        }
    }

    @Test
    @Tag("slow")
    void aClientThatIsKilledGivesItsReceivesBack() throws IOException {
        SessionOptions plain = SharedPool.plain(Fabric.SOFT_ONE_PROCESS);
        try (SharedPool pool = new SharedPool(plain, SharedReceives.of(64, 8).withGuaranteed(2))) {
            for (int round = 0; round < 3; round++) {
                try (PeerProgram flooding = PeerProgram.start("flood", Integer.toString(pool.server.port()))) {
                    EndPoint here = pool.server.accept(TIMEOUT);
                    AtomicLong arrived = new AtomicLong();
                    here.channel(0).onMessage((channel, message) -> arrived.incrementAndGet());
                    eventually(() -> arrived.get() > 1000);
                    flooding.kill();
                    assertThat(here.awaitPeerDone(TIMEOUT)).isTrue();
                    here.close();
                }
                pool.awaitAllBack();
            }
            useAll(pool, 8);
        }
    }

    @Test
    void bothSidesMayHaveAPool() {
        SessionOptions options = SharedPool.plain(Fabric.SOFT_ONE_PROCESS)
                .withChannels(4)
                .withSetup(Setup.CONNECTION_MANAGER)
                .withSharedReceives(SharedReceives.of(32, 4));
        try (ConnectedPair pair = ConnectedPair.of(options)) {
            RdmaBuffer there = pair.client.allocate("there", 8);
            RdmaBuffer here = pair.server.allocate("here", 8);
            for (int i = 0; i < 200; i++) {
                int index = i % 4;
                pair.clientEnd.channel(index).blocking(TIMEOUT).send(there.block(0), i);
                pair.serverEnd.channel(index).blocking(TIMEOUT).send(here.block(0), i);
                try (Message one =
                                pair.serverEnd.channel(index).blocking(TIMEOUT).receive();
                        Message other =
                                pair.clientEnd.channel(index).blocking(TIMEOUT).receive()) {
                    assertThat(one.tag()).isEqualTo(i);
                    assertThat(other.tag()).isEqualTo(i);
                }
            }
        }
    }

    @Test
    void channelsThatDoNotFitThePoolAreRefused() {
        SessionOptions plain = SharedPool.plain(Fabric.SOFT_ONE_PROCESS);
        SharedReceives shared = SharedReceives.of(16, 4).withGuaranteed(4);
        try (SharedPool pool = new SharedPool(
                plain.withConfigurer((index, proposed) -> proposed.withMessageBytes(SharedPool.BYTES + 1)), shared)) {
            assertThatThrownBy(() -> ClientSession.connect(plain.withPort(pool.server.port())))
                    .satisfies(because(Reason.REFUSED))
                    .hasMessageContaining("257 bytes, the shared receives are for 256");
        }
        try (SharedPool pool =
                new SharedPool(plain.withConfigurer((index, proposed) -> proposed.withReceives(3)), shared)) {
            assertThatThrownBy(() -> ClientSession.connect(plain.withPort(pool.server.port())))
                    .satisfies(because(Reason.REFUSED))
                    .hasMessageContaining("may have 3 receives, but 4 are guaranteed");
        }
    }

    @Test
    void sessionsWithoutAPoolSayNothingOfOne() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            assertThat(pair.server.sharedReceives()).isNull();
            assertThat(pair.server.context().supports(Capability.SHARED_RECEIVE_QUEUE))
                    .isTrue();
        }
    }
}
