package io.rdmacomm.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionLayout;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.SendBatch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;

/// What is posted is told once, in whatever order READs and others end, beside a model that keeps a list.
class OutstandingSendsTest extends ConnectionCase {
    private static final int DEPTH = 8;
    private static final int STEPS = 2_000;

    /// What is under way.
    private record Sent(long id, boolean read, boolean silent) {}

    private final Arena arena = Arena.ofShared();
    private final long seed = new Random().nextLong();
    private final SplittableRandom random = new SplittableRandom(seed);
    private final List<Sent> model = new ArrayList<>();
    // As SendDepth counts: how many requests each signal that has not come frees.
    private final ArrayDeque<Integer> signals = new ArrayDeque<>();
    private int sinceSignal;
    private boolean silentReads;
    private long nextId;
    private MemoryRegion region;
    private OutstandingSends sends;
    private SendBatch batch;

    @BeforeEach
    void begin() {
        useIwarp();
        region = domain.allocate(64, AccessFlag.allRemote());
        sends = new OutstandingSends(((IbvCompletionQueue) queue).lateFlush(), 0x11, DEPTH);
        batch = SendBatch.create(arena, DEPTH, 1);
    }

    @AfterEach
    void free() {
        arena.close();
    }

    @RepeatedTest(50)
    void eachRequestIsToldOnce() {
        for (int i = random.nextInt(STEPS); i > 0; i--) {
            if (random.nextBoolean()) {
                post();
            } else {
                succeed();
            }
        }
        fail();
        List<Long> left =
                model.stream().filter(sent -> !sent.silent()).map(Sent::id).toList();
        assertThat(flushed()).as("seed " + seed).isEqualTo(left);
        assertThat(sends.isEmpty()).as("seed " + seed).isTrue();
        assertThat(sends.endWell(random.nextBoolean())).as("too late").isFalse();
        assertThat(sends.endBadly(nextId, random.nextBoolean())).as("too late").isFalse();
    }

    private Sent append() {
        // Few numbers, so that some of them are used more than once.
        Sent sent = new Sent(nextId++ % 5, random.nextInt(4) == 0, random.nextInt(3) == 0);
        SendBatch _ = (sent.read()
                        ? batch.read(sent.id(), region.address(), region.remoteKey())
                        : batch.write(sent.id(), region.address(), region.remoteKey()))
                .with(region, 0, 8);
        if (!sent.silent()) {
            batch.signaled();
        }
        return sent;
    }

    private void post() {
        int room = DEPTH - signals.stream().mapToInt(Integer::intValue).sum() - sinceSignal;
        int count = Math.min(room, 1 + random.nextInt(3));
        if (count == 0) {
            return;
        }
        batch.clear();
        List<Sent> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(append());
        }
        sends.add(batch, 0, count, false);
        int refused = random.nextInt(10) == 0 ? random.nextInt(count + 1) : 0;
        sends.withdraw(batch, count - refused, refused, false);
        // Also those that were taken back: that they were silent is not forgotten.
        silentReads |= all.stream().anyMatch(sent -> sent.read() && sent.silent());
        for (Sent sent : all.subList(0, count - refused)) {
            sinceSignal++;
            if (!sent.silent()) {
                signals.add(sinceSignal);
                sinceSignal = 0;
            }
            if (!sent.read() || !sent.silent()) {
                model.add(sent);
            }
        }
    }

    /// The first of the READs or of the others succeeds.
    private void succeed() {
        boolean read = random.nextInt(4) == 0;
        for (int i = 0; i < model.size(); i++) {
            Sent sent = model.get(i);
            if (sent.read() == read && !sent.silent()) {
                assertThat(sends.endWell(read)).as("seed " + seed).isTrue();
                model.remove(i);
                model.subList(0, i).removeIf(Sent::silent);
                signals.remove();
                return;
            }
        }
    }

    /// Some are flushed by the device, READs first, and one of those twice.
    private void fail() {
        for (boolean read : new boolean[] {true, false}) {
            for (int i = random.nextInt(DEPTH); i > 0; i--) {
                Sent sent = model.stream()
                        .filter(each -> each.read() == read)
                        .findFirst()
                        .orElse(null);
                if (sent == null) {
                    break;
                }
                assertThat(sends.endBadly(sent.id(), read)).as("seed " + seed).isTrue();
                model.remove(sent);
            }
        }
        assertThat(sends.endBadly(99, true)).as("seed " + seed).isEqualTo(silentReads);
        assertThat(sends.endBadly(99, false)).as("seed " + seed).isTrue();
    }

    /// The device refuses them, but before that is known their queue pair fails, and another thread polls.
    @RepeatedTest(20)
    void whatWasFlushedIsNotTakenBack() {
        List<Sent> all = new ArrayList<>();
        for (int i = 0; i < DEPTH; i++) {
            all.add(append());
        }
        sends.add(batch, 0, DEPTH, false);
        MemorySegment room = arena.allocate((long) DEPTH * CompletionLayout.BYTES, Long.BYTES);
        int flushed = sends.flush(room, 0, random.nextInt(DEPTH));
        int refused = random.nextInt(1, DEPTH + 1);
        int kept = DEPTH - refused + sends.withdraw(batch, DEPTH - refused, refused, false);

        List<Long> told = new ArrayList<>(ids(room, 0, flushed));
        told.addAll(flushed());
        List<Long> taken = all.subList(0, kept).stream()
                .filter(sent -> !sent.silent())
                .map(Sent::id)
                .toList();
        assertThat(told).as("seed " + seed).isEqualTo(taken);
        assertThat(kept).as("seed " + seed).isGreaterThanOrEqualTo(DEPTH - refused);
    }

    /// The numbers of what is flushed, three at a time at the most.
    private List<Long> flushed() {
        MemorySegment room = arena.allocate(4 * CompletionLayout.BYTES, Long.BYTES);
        List<Long> ids = new ArrayList<>();
        for (int count = sends.flush(room, 1, 3); count > 0; count = sends.flush(room, 1, 3)) {
            ids.addAll(ids(room, 1, count));
        }
        return ids;
    }

    private static List<Long> ids(MemorySegment room, int from, int count) {
        return IntStream.range(from, from + count)
                .mapToObj(i -> room.get(ValueLayout.JAVA_LONG, i * CompletionLayout.BYTES + CompletionLayout.WORK_ID))
                .toList();
    }

    @RepeatedTest(20)
    void oneThreadPostsWhileAnotherPolls() throws Exception {
        Queue<Sent> writes = new ConcurrentLinkedQueue<>();
        Queue<Sent> reads = new ConcurrentLinkedQueue<>();
        int[] inFlight = new int[1];
        List<Long> told = new ArrayList<>();
        FutureTask<Void> poller = start(false, () -> {
            SplittableRandom own = new SplittableRandom(seed);
            for (int ended = 0; ended < STEPS; ) {
                Sent sent = (own.nextInt(8) == 0 ? reads : writes).poll();
                if (sent != null) {
                    assertThat(sends.endWell(sent.read())).isTrue();
                    told.add(sent.id());
                    ended++;
                    synchronized (inFlight) {
                        inFlight[0]--;
                    }
                }
            }
            return null;
        });
        while (!poller.isDone()) {
            synchronized (inFlight) {
                if (inFlight[0] == DEPTH || nextId >= STEPS + DEPTH) {
                    continue;
                }
                inFlight[0]++;
            }
            boolean read = random.nextInt(4) == 0;
            batch.clear();
            SendBatch _ = read
                    ? batch.read(nextId, region.address(), region.remoteKey())
                    : batch.write(nextId, region.address(), region.remoteKey());
            batch.with(region, 0, 8).signaled();
            sends.add(batch, 0, 1, false);
            (read ? reads : writes).add(new Sent(nextId++, read, false));
        }
        poller.get();
        told.addAll(flushed());
        assertThat(told).as("seed " + seed).hasSize((int) nextId).doesNotHaveDuplicates();
    }
}
