package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Random words in the shared memory of live devices. Every call returns, and throws nothing that it does not
/// document; while only the peer's file is spoiled, each request of this side ends once and its other connections
/// continue; no process writes memory that was not opened to it; processes whose files are whole never notice.
///
/// `-Drdma.fuzz.memory=20000` runs longer, `-Drdma.fuzz.seed=N` makes the same words again.
class SharedMemoryFuzzTest {
    private static final long SEED = Long.getLong("rdma.fuzz.seed", System.nanoTime());
    private static final int ROUNDS =
            Integer.getInteger("rdma.fuzz.memory", Math.max(100, 5_000 / Integer.getInteger("rdma.test.divide", 1)));
    private static final int ROUNDS_OF_A_CONTEXT = 20;
    private static final int BYTES = 16 * 1024;
    private static final int OPEN = 4096;
    private static final int PIECE = 64;
    private static final int DEPTH = 16;
    private static final int MOST_CALLS = 40;
    private static final byte CANARY = 0x5a;
    private static final long TIMEOUT_NANOS = 60_000_000_000L;

    private final Arena arena = Arena.ofShared();
    private final Random random = new Random(SEED);
    private final Completions completions = Completions.create(arena, 64);
    private volatile long began = System.nanoTime();
    private volatile String doing = "begins";
    private long nextWorkId;

    /// A context with a queue pair, memory that is open to peers, and memory that is not.
    private final class Party implements AutoCloseable {
        final Context context;
        final ProtectionDomain domain;
        final MemoryRegion region;
        final MemoryRegion closed;
        final MemorySegment own = arena.allocate(BYTES, 8).fill(CANARY);
        final CompletionChannel channel;
        final Map<Long, Integer> ends = new HashMap<>();
        CompletionQueue queue;
        QueuePair pair;
        int posted;

        Party() {
            this(Soft.open("soft0=127.0.0.1"));
        }

        /// Another queue pair of an existing context, with its own memory.
        Party(Context context) {
            this.context = context;
            domain = context.allocateProtectionDomain();
            region = domain.allocate(BYTES, AccessFlag.allRemote());
            closed = domain.allocate(BYTES, EnumSet.of(AccessFlag.LOCAL_WRITE));
            channel = context.createCompletionChannel();
            region.segment().fill(CANARY);
            closed.segment().fill(CANARY);
            domain.register(own, EnumSet.of(AccessFlag.LOCAL_WRITE));
            create(256);
        }

        private void create(int capacity) {
            CompletionQueueOptions options = CompletionQueueOptions.ofCapacity(capacity);
            queue = context.createCompletionQueue(random.nextBoolean() ? options : options.withChannel(channel));
            pair = domain.createQueuePair(QueuePairOptions.reliable(queue)
                    .withSizes(QueueSizes.defaults().withDepth(DEPTH, DEPTH)));
            ends.clear();
            posted = 0;
        }

        void renew(int capacity) {
            closePair();
            create(capacity);
        }

        void closePair() {
            call("close queue pair", pair::close);
            call("close completion queue", queue::close);
        }

        void connect(Party to) {
            call(
                    "connect",
                    () -> pair.connect(
                            to.pair.info(), ConnectionOptions.defaults().withTimeout(Duration.ofMillis(4), 1)));
        }

        void receive() {
            call(
                    "receive",
                    () -> pair.post(ReceiveBatch.create(arena, 1, 2)
                            .receive(0)
                            .with(region, 0, PIECE)
                            .with(region, PIECE, PIECE)));
        }

        void post(Party to) {
            SendBatch batch = SendBatch.create(arena, 3, 2);
            long address = to.region.address() + random.nextInt(8) * 8L;
            int key = to.region.remoteKey();
            for (int i = 1 + random.nextInt(3); i > 0; i--) {
                long id = ++nextWorkId;
                switch (random.nextInt(6)) {
                    case 0, 1 -> batch.send(id).with(region, 0, PIECE);
                    case 2 -> batch.write(id, address, key).with(region, 0, PIECE);
                    case 3 -> batch.writeWithImmediate(id, address, key, 1).with(region, 0, PIECE);
                    case 4 -> batch.read(id, address, key).with(region, 0, PIECE);
                    default -> batch.fetchAndAdd(id, address, key, 1).with(region, 0, 8);
                }
                batch.signaled();
            }
            call("post", () -> posted += pair.post(batch));
        }

        void poll() {
            call("poll", () -> {
                int count = queue.poll(completions);
                for (int i = 0; i < count; i++) {
                    if (completions.workId(i) != 0) {
                        ends.merge(completions.workId(i), 1, Integer::sum);
                    }
                }
            });
        }

        void anything(Party to) {
            switch (random.nextInt(12)) {
                case 0, 1, 2 -> post(to);
                case 3, 4, 5 -> receive();
                case 6, 7, 8 -> poll();
                case 9 -> call("resize", () -> queue.resize(128 << random.nextInt(3)));
                case 10 -> call("arm", random.nextBoolean() ? queue::arm : queue::armSolicited);
                default -> {
                    if (random.nextInt(4) == 0) {
                        modify(random.nextBoolean() ? QueuePairState.ERROR : QueuePairState.SEND_QUEUE_DRAIN);
                    } else {
                        call(
                                "register",
                                () -> domain.allocate(64, AccessFlag.allRemote())
                                        .close());
                    }
                }
            }
        }

        void modify(QueuePairState state) {
            call("modify", () -> pair.modify(new QueuePairAttributes().state(state)));
        }

        void nothingElseIsWritten() {
            assertUntouched("open memory", region.segment().asSlice(OPEN));
            assertUntouched("shared memory that was not opened", closed.segment());
            assertUntouched("own memory that was not opened", own);
        }

        @Override
        public void close() {
            call("close", context::close);
        }
    }

    private static void assertUntouched(String what, MemorySegment memory) {
        byte[] bytes = memory.toArray(ValueLayout.JAVA_BYTE);
        byte[] before = new byte[bytes.length];
        Arrays.fill(before, CANARY);
        assertThat(Arrays.mismatch(bytes, before)).as("%s; seed %d", what, SEED).isEqualTo(-1);
    }

    /// Calls what may fail with an error of verbs.
    private void call(String what, Runnable call) {
        doing = what;
        began = System.nanoTime();
        try {
            call.run();
        } catch (RdmaException e) {
            // A program can handle this.
        } catch (RuntimeException e) {
            throw new AssertionError(what + "; seed " + SEED, e);
        }
    }

    @AfterEach
    void close() {
        System.out.printf("SharedMemoryFuzzTest: seed %d: %d rounds%n", SEED, ROUNDS);
    }

    @Test
    @Timeout(value = 30, unit = TimeUnit.MINUTES)
    void randomWordsCostOnlyThoseWhoUseThem() throws Exception {
        Throwable[] failure = new Throwable[1];
        Thread fuzzer = Thread.ofPlatform().daemon().start(() -> {
            try {
                fuzz();
            } catch (Throwable e) {
                failure[0] = e;
            }
        });
        while (!fuzzer.join(Duration.ofMillis(100))) {
            if (System.nanoTime() - began > TIMEOUT_NANOS) {
                AssertionError hangs = new AssertionError(doing + " does not return; seed " + SEED);
                hangs.setStackTrace(fuzzer.getStackTrace());
                throw hangs;
            }
        }
        if (failure[0] != null) {
            throw new AssertionError("seed " + SEED, failure[0]);
        }
    }

    private void fuzz() {
        try (Party witness = new Party();
                Party partner = new Party()) {
            witness.connect(partner);
            partner.connect(witness);
            for (int round = 0; round < ROUNDS; round += ROUNDS_OF_A_CONTEXT) {
                exchange(witness, partner);
                life(random.nextInt(3) == 0);
                exchange(partner, witness);
            }
            witness.nothingElseIsWritten();
            partner.nothingElseIsWritten();
        }
    }

    /// Two contexts that use each other while the file of the second is spoiled, or those of both.
    private void life(boolean both) {
        try (Party guest = new Party();
                Party victim = new Party();
                Party hostile = new Party();
                ForeignHand theirs = new ForeignHand(hostile.context);
                ForeignHand own = new ForeignHand(victim.context)) {
            Party host = new Party(victim.context);
            host.connect(guest);
            guest.connect(host);
            for (int i = 0; i < ROUNDS_OF_A_CONTEXT; i++) {
                victim.renew(256);
                hostile.renew(16);
                Scribbler ofTheirs = new Scribbler(random, theirs, hostile.pair);
                if (both) {
                    Scribbler ofOwn = new Scribbler(random, own, victim.pair);
                    round(victim, hostile, () -> (random.nextBoolean() ? ofTheirs : ofOwn).scribble());
                } else {
                    round(victim, hostile, ofTheirs::scribble);
                    allEnd(victim);
                    exchange(host, guest);
                    exchange(guest, host);
                }
            }
            guest.nothingElseIsWritten();
            if (!both) {
                victim.nothingElseIsWritten();
                host.nothingElseIsWritten();
            }
        }
    }

    private void round(Party victim, Party hostile, Runnable spoil) {
        if (random.nextBoolean()) {
            spoil.run();
        }
        hostile.connect(victim);
        if (random.nextBoolean()) {
            spoil.run();
        }
        victim.connect(hostile);
        AtomicBoolean over = new AtomicBoolean(random.nextInt(8) != 0);
        Thread meanwhile = Thread.ofPlatform().start(() -> {
            while (!over.get()) {
                spoil.run();
                LockSupport.parkNanos(1000);
            }
        });
        for (int i = random.nextInt(MOST_CALLS); i > 0; i--) {
            if (random.nextInt(3) == 0) {
                spoil.run();
            }
            if (random.nextInt(3) == 0) {
                hostile.anything(victim);
            } else {
                victim.anything(hostile);
            }
        }
        over.set(true);
        join(meanwhile);
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /// Each request that was posted ends once.
    private void allEnd(Party party) {
        party.modify(QueuePairState.ERROR);
        long start = System.nanoTime();
        while (party.ends.size() < party.posted && System.nanoTime() - start < TIMEOUT_NANOS) {
            party.poll();
        }
        party.poll();
        assertThat(party.ends).as("requests that ended; seed %d", SEED).hasSize(party.posted);
        assertThat(party.ends.values()).as("how often; seed %d", SEED).allMatch(times -> times == 1);
    }

    /// A message between two whose files are whole.
    private void exchange(Party from, Party to) {
        long value = ++nextWorkId;
        from.region.segment().set(ValueLayout.JAVA_LONG, 1024, value);
        to.pair.post(ReceiveBatch.create(arena, 1, 1).receive(value).with(to.region, 2048, 8));
        from.pair.post(SendBatch.create(arena, 1, 1)
                .send(value)
                .with(from.region, 1024, 8)
                .signaled());
        succeeds(from, value);
        succeeds(to, value);
        assertThat(to.region.segment().get(ValueLayout.JAVA_LONG, 2048)).isEqualTo(value);
    }

    private void succeeds(Party party, long workId) {
        doing = "message of others";
        began = System.nanoTime();
        while (party.queue.poll(completions) == 0) {
            Thread.onSpinWait();
        }
        assertThat(completions.workId(0)).isEqualTo(workId);
        assertThat(completions.status(0)).as("seed %d", SEED).isEqualTo(WorkStatus.SUCCESS);
    }
}
