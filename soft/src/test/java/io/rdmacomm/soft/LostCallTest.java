package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.iwarp.MpaFrame;
import io.rdmacomm.soft.iwarp.MpaFrameReader;
import io.rdmacomm.soft.iwarp.MpaNegotiation;
import io.rdmacomm.soft.iwarp.PeerHandshake;
import io.rdmacomm.soft.iwarp.QueuePairAddress;
import io.rdmacomm.soft.tcp.LinkTerms;
import io.rdmacomm.soft.transport.SendLock;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Packets with which a queue pair reaches its peer get lost. The peer is a socket, which knows how to lose them.
class LostCallTest {
    private static final int NUMBER = 0x77;
    private static final int PSN = 0x123456;
    private static final int READS = 16;
    /// 1.07 s, eight times: long enough for a busy machine to see the second call and answer the next.
    private static final ConnectionOptions EIGHT_SECONDS =
            ConnectionOptions.defaults().withTimeout(Duration.ofSeconds(1), 7);
    /// 268 ms, twice: until then the engine has seen that the peer's host has answered, though it is not alone.
    private static final ConnectionOptions IMPATIENT =
            ConnectionOptions.defaults().withTimeout(Duration.ofMillis(268), 1);

    private final Arena arena = Arena.ofShared();
    private final List<SocketChannel> channels = new ArrayList<>();
    private Context context;
    private CompletionQueue completions;
    private QueuePair queuePair;
    private ServerSocketChannel peer;

    @BeforeEach
    void open() throws IOException {
        context = Soft.open("tcp0=127.0.0.1?sharedMemory=false");
        completions = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(16));
        queuePair = context.allocateProtectionDomain().createQueuePair(QueuePairOptions.reliable(completions));
        peer = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1);
    }

    @AfterEach
    void close() throws IOException {
        context.close();
        peer.close();
        for (SocketChannel channel : channels) {
            channel.close();
        }
        arena.close();
    }

    private int port() throws IOException {
        return ((InetSocketAddress) peer.getLocalAddress()).getPort();
    }

    private void send(ConnectionOptions how) throws IOException {
        queuePair.connect(
                new QueuePairInfo(NUMBER, PSN, port(), Soft.of(context).queryGid(1, 0), PathMtu.MTU_4096), how);
        queuePair.post(SendBatch.create(arena, 1, 1).send(1).signaled());
    }

    private WorkStatus status() {
        Completions done = Completions.create(arena, 1);
        await("a completion", () -> completions.poll(done) == 1);
        return done.status(0);
    }

    private static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + 20_000_000_000L;
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as(what).isLessThan(deadline);
            LockSupport.parkNanos(1_000_000);
        }
    }

    /// TCP repeats a lost SYN only after a second (RFC 6298 2.1): by then most queue pairs have given up.
    @Test
    void aCallWhoseSynIsLostIsRepeated() throws IOException {
        // A listener whose queue is full drops a SYN (listen(2)); it holds one more than its limit.
        for (int i = 0; i < 2; i++) {
            channels.add(SocketChannel.open(peer.getLocalAddress()));
        }
        send(EIGHT_SECONDS);
        Set<String> callers = new HashSet<>();
        await("a second call", () -> {
            callers.addAll(callers());
            assertThat(queuePair.state().name()).isEqualTo("READY_TO_SEND");
            return callers.size() >= 2;
        });

        for (int i = 0; i < 2; i++) {
            channels.add(peer.accept());
        }
        answer(peer.accept());

        assertThat(status()).isEqualTo(WorkStatus.SUCCESS);
    }

    /// The ends of connections to the peer that have sent a SYN and heard nothing (proc_net(5), state 02). A
    /// socket of Java is one of IPv6 where there is such a thing; the peer's address ends in the same way then.
    private List<String> callers() {
        List<String> ends = new ArrayList<>();
        try {
            String there = String.format(Locale.ROOT, "0100007F:%04X 02 ", port());
            for (Path table : List.of(Path.of("/proc/net/tcp"), Path.of("/proc/net/tcp6"))) {
                List<String> lines = Files.exists(table) ? Files.readAllLines(table) : List.of();
                lines.stream()
                        .filter(line -> line.contains(there))
                        .map(line -> line.strip().split(" +", -1)[1])
                        .forEach(ends::add);
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return ends;
    }

    /// Its host has answered, so TCP brings the peer what it is asked, and this side the answer, if ever.
    @Test
    void anAnswerMayTakeLongerThanTheRetries() throws IOException {
        send(IMPATIENT);
        SocketChannel caller = peer.accept();
        Completions none = Completions.create(arena, 1);
        long end = System.nanoTime() + 1_500_000_000;
        while (System.nanoTime() < end) {
            assertThat(completions.poll(none)).isZero();
        }

        answer(caller);

        assertThat(status()).isEqualTo(WorkStatus.SUCCESS);
    }

    /// A queue pair that retries forever, whose peer is stopped for long, keeps its call. The peer will take it,
    /// and would take a hang-up for a failure.
    @Test
    @Tag("slow")
    void aCallThatWasTakenIsNotGivenUpSoon() throws IOException {
        send(ConnectionOptions.defaults().withTimeout(ChronoUnit.FOREVER.getDuration(), 7));
        SocketChannel caller = peer.accept();
        Completions none = Completions.create(arena, 1);
        long end = System.nanoTime() + 7_000_000_000L;
        while (System.nanoTime() < end) {
            assertThat(completions.poll(none)).isZero();
        }

        answer(caller);

        assertThat(status()).isEqualTo(WorkStatus.SUCCESS);
    }

    /// The counter is about those who call this device, not about its own calls.
    @Test
    void aPeerThatHangsUpIsCalledAgainAndIsNoCallerTurnedAway() throws IOException {
        send(EIGHT_SECONDS);
        peer.accept().close();

        answer(peer.accept());

        assertThat(status()).isEqualTo(WorkStatus.SUCCESS);
        assertThat(Soft.counter(context, "tcp_callers_turned_away")).isZero();
    }

    /// As happens if this process is stopped for a while.
    @Test
    void aCallerThatHasGivenUpIsNotAccepted() throws IOException {
        // When both call each other, the lower address wins; no peer answers at this one.
        int lowest = 1;
        queuePair.connect(
                new QueuePairInfo(NUMBER, PSN, lowest, Soft.of(context).queryGid(1, 0), PathMtu.MTU_4096),
                EIGHT_SECONDS);
        SendLock lock = Soft.of(queuePair);
        try (SocketChannel caller = SocketChannel.open(new InetSocketAddress(
                Soft.of(context).queryGid(1, 0).address(), Soft.of(context).lid()))) {
            PeerHandshake handshake = new PeerHandshake(
                    MpaFrame.Kind.REQUEST,
                    PeerHandshake.Verdict.ACCEPTED,
                    LinkTerms.FEATURES,
                    LinkTerms.LONGEST_SEGMENT,
                    1,
                    PeerHandshake.NO_HOST,
                    new QueuePairAddress(Soft.of(context).queryGid(1, 0), lowest, NUMBER),
                    PSN,
                    queuePair.info().packetSequenceNumber(),
                    new QueuePairAddress(
                            Soft.of(context).queryGid(1, 0), Soft.of(context).lid(), queuePair.number()));
            ByteBuffer request = new MpaNegotiation(false, READS, READS)
                    .request(handshake.appendTo(new byte[0]))
                    .encode();
            lock.enter();
            try {
                caller.write(request);
                caller.shutdownOutput();
            } finally {
                lock.leave();
            }

            assertThat(caller.read(ByteBuffer.allocate(1)))
                    .as("bytes of an answer")
                    .isNegative();
        }
        assertThat(queuePair.query().state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    /// Does what the right peer does. It does not acknowledge, so that what has left has ended.
    private void answer(SocketChannel caller) throws IOException {
        channels.add(caller);
        MpaFrameReader reader = new MpaFrameReader(MpaFrame.Kind.REQUEST);
        while (!reader.advance()) {
            assertThat(caller.read(reader.buffer())).isNotNegative();
        }
        PeerHandshake request = PeerHandshake.find(reader.frame().privateData());
        assertThat(request).isNotNull();
        byte[] reply = request.reply(
                        PeerHandshake.Verdict.ACCEPTED, 0, LinkTerms.LONGEST_SEGMENT, PeerHandshake.NO_HOST)
                .appendTo(new byte[0]);
        ByteBuffer bytes = new MpaNegotiation(false, READS, READS)
                .acceptance(reader.frame(), reply)
                .encode();
        while (bytes.hasRemaining()) {
            caller.write(bytes);
        }
    }
}
