package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.FailureText;
import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.cli.rig.FrameChannel;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import java.util.regex.Pattern;

/// The lower bound for a message between two processes on this machine. In turn, each side writes one of two words
/// in a file that both have mapped. The words share a cache line, so each message moves one line. Both sides spin
/// without a pause instruction, as the tests do.
public final class CacheLineFloor implements AutoCloseable {
    private static final String PREFIX = "rdmacomm-floor-";
    private static final Pattern NAME = Pattern.compile(PREFIX + "[0-9]{1,20}");
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");
    /// About 20 us: short enough to run undisturbed on a busy machine, and long compared with a clock reading.
    private static final int ROUNDS = 250;
    private static final BestPart PARTS = BestPart.within(Duration.ofMillis(200), Duration.ofSeconds(2));
    private static final long MEDIAN_NANOS = 50_000_000;
    private static final int MOST_PARTS = 1 << 13;
    private static final long LAST = -1;
    private static final long FILE_BYTES = 4096;
    private static final long CLIENT_WORD = 0;
    private static final long SERVER_WORD = Long.BYTES;
    /// The timeout of one part: on a busy machine each word may cost a time slice.
    private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    private final Path file;
    private final boolean created;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment words;

    private CacheLineFloor(Path file, boolean created) throws IOException {
        this.file = file;
        this.created = created;
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
            if (channel.size() != FILE_BYTES) {
                throw new IOException(file + " has " + channel.size() + " bytes");
            }
            this.words = channel.map(FileChannel.MapMode.READ_WRITE, 0, FILE_BYTES, arena);
        }
    }

    /// Creates the file that both sides map. The server calls this, so that no client can choose a file.
    public static CacheLineFloor create() throws IOException {
        Path file = Files.createTempFile(folder(), PREFIX, "");
        boolean mapped = false;
        try {
            Files.write(file, new byte[(int) FILE_BYTES]);
            CacheLineFloor floor = new CacheLineFloor(file, true);
            mapped = true;
            return floor;
        } finally {
            if (!mapped) {
                Files.deleteIfExists(file);
            }
        }
    }

    /// Opens the file that the server created. Accepts only the name of a benchmark's file in the usual
    /// folder.
    ///
    /// @throws IOException if there is no such file: the server is on another machine
    public static CacheLineFloor open(String name) throws IOException {
        if (!NAME.matcher(name).matches()) {
            throw new IOException("'" + name + "' is not a file of rdmacomm bench");
        }
        Path file = folder().resolve(name);
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            throw new IOException(file + " does not exist, or is not a file");
        }
        return new CacheLineFloor(file, false);
    }

    private static Path folder() {
        return Files.isWritable(SHARED_MEMORY) ? SHARED_MEMORY : Path.of(System.getProperty("java.io.tmpdir"));
    }

    /// The name by which the client opens the file.
    public String name() {
        return String.valueOf(file.getFileName());
    }

    /// Answers every word of the client with the same word, until the last one.
    public void serve() {
        long round = 0;
        while (round != LAST) {
            round = answer(round, System.nanoTime() + TIMEOUT_NANOS);
        }
    }

    /// A separate method, so that the JIT compiler compiles it as a whole.
    private long answer(long than, long deadline) {
        long round = than;
        for (int i = 0; i < ROUNDS && round != LAST; i++) {
            round = awaitOther(CLIENT_WORD, round, deadline);
            WORD.setRelease(words, SERVER_WORD, round);
        }
        return round;
    }

    /// Measures together with a server that answers a FLOOR message.
    ///
    /// @param measurement what to measure
    /// @return 0 if the server is on another machine
    static double measure(FrameChannel<BenchMessage> control, ToDoubleFunction<CacheLineFloor> measurement)
            throws IOException {
        control.send(Frame.of(BenchMessage.FLOOR));
        Frame<BenchMessage> answer = control.receive();
        if (answer.kind() != BenchMessage.READY) {
            return 0;
        }
        CacheLineFloor opened;
        try {
            opened = open(answer.text());
        } catch (IOException e) {
            control.send(Frame.of(BenchMessage.FAILED, FailureText.of(e)));
            return 0;
        }
        try (CacheLineFloor floor = opened) {
            control.send(Frame.of(BenchMessage.OK));
            return measurement.applyAsDouble(floor);
        }
    }

    /// Serves a client that has sent a FLOOR message.
    static void serve(FrameChannel<BenchMessage> control) throws IOException {
        try (CacheLineFloor floor = create()) {
            control.send(Frame.of(BenchMessage.READY, floor.name()));
            // A client on another machine does not find the file.
            if (control.receive().kind() == BenchMessage.OK) {
                floor.serve();
            }
        }
    }

    /// The least one-way time in microseconds, after a warm-up.
    double best() {
        return end(warmUp());
    }

    /// Exchanges the line until no part has been faster for a while.
    ///
    /// @return the time of the fastest part
    private long warmUp() {
        return PARTS.nanos(() -> exchange(System.nanoTime() + TIMEOUT_NANOS));
    }

    /// The median one-way time in microseconds, after a warm-up.
    public double warmMedian() {
        warmUp();
        return median();
    }

    /// The median one-way time in microseconds, in a short measurement of code that is warm already.
    public double median() {
        long[] parts = new long[MOST_PARTS];
        int count = 0;
        long before = System.nanoTime();
        long end = before + MEDIAN_NANOS;
        while (count < MOST_PARTS && (count == 0 || before - end < 0)) {
            exchange(before + TIMEOUT_NANOS);
            long after = System.nanoTime();
            parts[count++] = after - before;
            before = after;
        }
        Arrays.sort(parts, 0, count);
        return end(parts[count / 2]);
    }

    private double end(long nanos) {
        WORD.setRelease(words, CLIENT_WORD, LAST);
        return nanos / (2.0 * ROUNDS) / 1000;
    }

    private void exchange(long deadline) {
        long round = (long) WORD.get(words, SERVER_WORD);
        for (int i = 0; i < ROUNDS; i++) {
            WORD.setRelease(words, CLIENT_WORD, round + 1);
            round = awaitOther(SERVER_WORD, round, deadline);
        }
    }

    @SuppressWarnings("ThreadPriorityCheck") // only speeds up a machine that is too busy to measure anything
    private long awaitOther(long word, long than, long deadline) {
        int spins = 0;
        while (true) {
            long value = (long) WORD.getAcquire(words, word);
            if (value != than) {
                return value;
            }
            if ((++spins & ClockCost.CHECK_MASK) == 0) {
                Thread.yield();
                if (System.nanoTime() - deadline > 0) {
                    throw new CommandFailure(
                            "the other process stopped answering while the cache line floor was measured");
                }
            }
        }
    }

    @Override
    public void close() throws IOException {
        arena.close();
        if (created) {
            Files.deleteIfExists(file);
        }
    }
}
