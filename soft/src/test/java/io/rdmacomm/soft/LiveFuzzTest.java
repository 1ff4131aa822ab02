package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.iwarp.MpaFrame;
import io.rdmacomm.soft.iwarp.MpaFrameReader;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Mutated frames into a live device, over real sockets: each connection costs itself and is counted, every
/// receive ends once, nothing is written outside of what may be written, nothing is left over, and an honest pair
/// continues all the time. `-Drdma.fuzz.live=1000000` runs longer, `-Drdma.fuzz.connection=500` has more
/// frames on each connection, `-Drdma.fuzz.seed=N` makes the same mutations again.
class LiveFuzzTest {
    private static final long FRAMES = Long.getLong("rdma.fuzz.live", 20_000);
    private static final long SEED = Long.getLong("rdma.fuzz.seed", System.nanoTime());
    private static final int MOST_FRAMES = Integer.getInteger("rdma.fuzz.connection", 120);
    private static final int BYTES = 64 * 1024;
    private static final byte CANARY = 0x5a;
    private static final int RECEIVES = 64;
    private static final int RECEIVE_BYTES = 256;
    private static final long TIMEOUT_NANOS = 20_000_000_000L;
    private static final int LOOK_EVERY = 500;
    private static final int FEW = 8;
    /// Failures that no peer should be able to cause.
    private static final Pattern DEFECT =
            Pattern.compile("java\\.(lang|util)\\.\\w*(Exception|Error)|java\\.nio\\.\\w*Exception");

    private final Arena arena = Arena.ofShared();
    private final Random random = new Random(SEED);
    private final Logger logger = Logger.getLogger("io.rdmacomm.soft");
    private final Level levelBefore = logger.getLevel();
    private final Suspicion suspicion = new Suspicion();
    private final Completions completions = Completions.create(arena, 2 * RECEIVES);

    private Context context;
    private Context honest;
    private ProtectionDomain domain;
    private CompletionQueue queue;
    private MemorySegment ground;
    private MemoryRegion target;
    private MemoryRegion receives;
    private MemoryRegion readable;
    private MemoryRegion foreign;

    private QueuePair theirs;
    private CompletionQueue theirQueue;
    private MemoryRegion theirSource;
    private MemoryRegion ownTarget;
    private long rounds;

    /// Remembers what is logged and should not have happened.
    private static final class Suspicion extends Handler {
        private final Queue<String> found = new ConcurrentLinkedQueue<>();
        private final SimpleFormatter formatter = new SimpleFormatter();

        @Override
        public void publish(LogRecord entry) {
            String text = formatter.formatMessage(entry);
            if (entry.getLevel().intValue() >= Level.WARNING.intValue()
                    || DEFECT.matcher(text).find()) {
                found.add(text + " " + entry.getThrown());
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    @BeforeEach
    void open() {
        logger.setLevel(Level.FINE);
        logger.addHandler(suspicion);
        Device device = Soft.device("tcp0=127.0.0.1?sharedMemory=false");
        context = device.open();
        honest = device.open();
        domain = context.allocateProtectionDomain();
        queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(256));
        ground = arena.allocate(9L * BYTES, 4096).fill(CANARY);
        target = domain.register(ground.asSlice(BYTES, BYTES), AccessFlag.allRemote());
        receives = domain.register(ground.asSlice(3 * BYTES, BYTES), EnumSet.of(AccessFlag.LOCAL_WRITE));
        readable = domain.register(ground.asSlice(5 * BYTES, BYTES), EnumSet.of(AccessFlag.REMOTE_READ));
        foreign = context.allocateProtectionDomain().register(ground.asSlice(7 * BYTES, BYTES), AccessFlag.allRemote());
        connectHonestPair();
    }

    @AfterEach
    void close() {
        honest.close();
        context.close();
        arena.close();
        logger.removeHandler(suspicion);
        logger.setLevel(levelBefore);
    }

    private void connectHonestPair() {
        ownTarget = domain.allocate(64, AccessFlag.allRemote());
        ProtectionDomain theirDomain = honest.allocateProtectionDomain();
        theirSource = theirDomain.allocate(64, AccessFlag.allRemote());
        theirQueue = honest.createCompletionQueue(CompletionQueueOptions.ofCapacity(16));
        theirs = theirDomain.createQueuePair(QueuePairOptions.reliable(theirQueue));
        // Nobody polls this side: its engine serves the other one.
        QueuePair own = domain.createQueuePair(
                QueuePairOptions.reliable(context.createCompletionQueue(CompletionQueueOptions.ofCapacity(16))));
        ConnectionOptions patient = ConnectionOptions.defaults().withTimeout(Duration.ofSeconds(4), 7);
        // Only a queue pair that is ready to send calls its peer. With one call, no other is refused and counted late.
        own.initialize(patient);
        own.readyToReceive(theirs.info(), patient);
        theirs.connect(own.info(), patient);
    }

    /// A WRITE of the honest pair, to the end.
    private void honestRound() {
        rounds++;
        theirSource.segment().set(ValueLayout.JAVA_LONG, 0, rounds);
        theirs.post(SendBatch.create(arena, 1, 1)
                .write(rounds, ownTarget.remote())
                .with(theirSource, 0, 8)
                .signaled());
        await("the honest pair continues", () -> theirQueue.poll(completions) == 1);
        assertThat(completions.isSuccess(0)).isTrue();
        assertThat(ownTarget.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(rounds);
    }

    private static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + TIMEOUT_NANOS;
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("%s; seed %d", what, SEED).isLessThan(deadline);
            Thread.onSpinWait();
        }
    }

    @Test
    @Timeout(value = 30, unit = TimeUnit.MINUTES)
    void mutatedFramesCostTheirConnectionOnly() throws IOException {
        long start = System.nanoTime();
        honestRound();
        long before = ended();
        stream();
        int threads = Thread.getAllStackTraces().size();
        long files = openFiles();
        long frames = 0;
        int streams = 1;
        try {
            while (frames < FRAMES) {
                frames += stream();
                streams++;
                honestRound();
                if (streams % LOOK_EVERY == 0) {
                    nothingElseIsWritten();
                }
            }
            nothingElseIsWritten();
            // A socket that a poll was just looking at is closed by the next one; the JVM opens some files late.
            await("all files are closed", () -> queue.poll(completions) == 0 && openFiles() <= files + FEW);
            assertThat(Thread.getAllStackTraces()).hasSizeLessThanOrEqualTo(threads);
            assertThat(suspicion.found).isEmpty();
            // A good part got through the first checks, and a good part did not.
            assertThat(ended() - before).isEqualTo(streams);
            assertThat(Soft.counter(context, "tcp_callers_turned_away")).isBetween(1L, streams - 1L);
            assertThat(Soft.counter(context, "tcp_violations")).isPositive();
        } finally {
            System.out.printf(
                    "LiveFuzzTest: seed %d: %d frames on %d connections in %.1f s: %s%n",
                    SEED,
                    frames,
                    streams,
                    (System.nanoTime() - start) / 1e9,
                    Soft.of(context).counters(1));
        }
    }

    /// The number of connections that are over, each counted once.
    private long ended() {
        return Soft.counter(context, "tcp_callers_turned_away") + Soft.counter(context, "tcp_links_ended_by_peers");
    }

    /// One connection from its beginning to its end.
    ///
    /// @return how many frames it had
    private int stream() throws IOException {
        QueuePair victim = domain.createQueuePair(QueuePairOptions.reliable(queue));
        Impostor impostor = Impostor.connect(context, victim);
        postReceives(victim);
        boolean checked = random.nextInt(4) == 0;
        boolean wrong = random.nextInt(8) == 0;
        int features = random.nextInt(8);
        byte[] request = impostor.request(Impostor.PSN, features, random.nextInt(0x20000) - 1000, checked);
        for (int i = 0; wrong && i < 1 + random.nextInt(3); i++) {
            request[random.nextInt(random.nextBoolean() ? 20 : request.length)] = (byte) random.nextInt(256);
        }
        int count = 1 + random.nextInt(MOST_FRAMES);
        byte[] frames =
                new HostileFrames(random, target, checked, features, 1 + random.nextInt(MOST_FRAMES / 2)).take(count);
        long before = ended();
        try (SocketChannel peer = impostor.call()) {
            peer.setOption(StandardSocketOptions.SO_LINGER, random.nextBoolean() ? 0 : -1);
            send(peer, request, wrong);
            if (!wrong) {
                readReply(peer);
            }
            send(peer, frames, true);
            if (random.nextBoolean()) {
                peer.shutdownOutput();
                drain(peer);
            }
        } catch (IOException e) {
            // The device ended the connection while this side was speaking.
            assertThat(e.getMessage()).containsAnyOf("Broken pipe", "reset", "Socket is not connected");
        }
        await("the connection is over and counted", () -> ended() > before);
        assertThat(ended()).as("counted once; seed %d", SEED).isEqualTo(before + 1);
        allReceivesEnd(victim);
        return count;
    }

    private void send(SocketChannel peer, byte[] bytes, boolean inPieces) throws IOException {
        int at = 0;
        while (at < bytes.length) {
            int piece = inPieces && random.nextInt(4) == 0 ? 1 + random.nextInt(100) : bytes.length;
            int end = Math.min(bytes.length, at + piece);
            peer.write(ByteBuffer.wrap(bytes, at, end - at));
            at = end;
        }
    }

    private static void readReply(SocketChannel peer) throws IOException {
        MpaFrameReader reader = new MpaFrameReader(MpaFrame.Kind.REPLY);
        while (!reader.advance()) {
            assertThat(peer.read(reader.buffer())).isNotNegative();
        }
        assertThat(reader.frame().isRejected()).isFalse();
    }

    private static void drain(SocketChannel peer) throws IOException {
        ByteBuffer into = ByteBuffer.allocate(4096);
        while (peer.read(into) >= 0) {
            into.clear();
        }
    }

    private void postReceives(QueuePair victim) {
        for (int i = 0; i < RECEIVES; i++) {
            ReceiveBatch batch = ReceiveBatch.create(arena, 1, 1).receive(i);
            assertThat(victim.post(batch.with(receives, 2L * i * RECEIVE_BYTES, RECEIVE_BYTES)))
                    .isEqualTo(1);
        }
    }

    private void allReceivesEnd(QueuePair victim) {
        if (victim.state() != QueuePairState.ERROR) {
            victim.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
        }
        Map<Long, Integer> ends = new HashMap<>();
        await("all receives end", () -> {
            int count = queue.poll(completions);
            for (int i = 0; i < count; i++) {
                ends.merge(completions.workId(i), 1, Integer::sum);
            }
            return ends.size() >= RECEIVES;
        });
        assertThat(queue.poll(completions)).isZero();
        assertThat(ends).hasSize(RECEIVES);
        assertThat(Set.copyOf(ends.values())).containsExactly(1);
        victim.close();
    }

    /// All memory but the target and the receives is as it was.
    private void nothingElseIsWritten() {
        byte[] all = ground.toArray(ValueLayout.JAVA_BYTE);
        for (int i = 0; i < all.length; i++) {
            boolean open = i / BYTES == 1 || (i / BYTES == 3 && i % (2 * RECEIVE_BYTES) < RECEIVE_BYTES);
            if (!open && all[i] != CANARY) {
                throw new AssertionError("byte " + i + " was written; seed " + SEED);
            }
        }
        assertThat(readable.isOpen() && foreign.isOpen()).isTrue();
    }

    private static long openFiles() {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
