package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Messages that arrive in lines, and those that go to the memory of their receives.
class ReceiveLinesTest {
    private static final int DEPTH = 16;
    private static final int PIECE = 256;
    private static final int MOST_BYTES = 120;
    private static final long LONG_NANOS = 20_000_000_000L;

    private final Arena arena = Arena.ofShared();
    private final Context here = Soft.open("soft0=127.0.0.1");
    private final Context there = Soft.open("soft0=127.0.0.1");
    private final ProtectionDomain domain = here.allocateProtectionDomain();
    private final ProtectionDomain theirs = there.allocateProtectionDomain();
    private final CompletionQueue queue = here.createCompletionQueue(CompletionQueueOptions.ofCapacity(4096));
    private final CompletionQueue theirQueue = there.createCompletionQueue(CompletionQueueOptions.ofCapacity(4096));
    private final MemoryRegion source = theirs.allocate(PIECE * DEPTH, AccessFlag.allRemote());
    private final MemoryRegion target = domain.allocate(PIECE * DEPTH, Set.of(AccessFlag.LOCAL_WRITE));
    /// Peers may write to it themselves, so no payload for it goes to a line.
    private final MemoryRegion remote = domain.allocate(PIECE * DEPTH, AccessFlag.allRemote());
    private final Completions done = Completions.create(arena, 7);
    private final Completions theirDone = Completions.create(arena, 7);
    private final ArrayDeque<Received> received = new ArrayDeque<>();

    private record Received(long id, WorkStatus status, long bytes, int immediate, int queuePair) {}

    private record Pair(QueuePair receiver, QueuePair sender) {}

    @AfterEach
    void close() {
        here.close();
        there.close();
        arena.close();
    }

    private Pair connected() {
        QueueSizes sizes = new QueueSizes(DEPTH, DEPTH, 4, 4, 64);
        Pair pair = new Pair(
                domain.createQueuePair(QueuePairOptions.reliable(queue).withSizes(sizes)),
                theirs.createQueuePair(QueuePairOptions.reliable(theirQueue).withSizes(sizes)));
        pair.receiver().connect(pair.sender().info());
        pair.sender().connect(pair.receiver().info());
        return pair;
    }

    private void post(QueuePair to, long id, MemoryRegion region, long offset, int... lengths) {
        ReceiveBatch batch = ReceiveBatch.create(arena, 1, 4).receive(id);
        long at = offset;
        for (int length : lengths) {
            batch.with(region, at, length);
            at += length;
        }
        assertThat(to.post(batch)).isEqualTo(1);
    }

    /// Sends, and waits until that has succeeded, so that the message has arrived.
    private void send(QueuePair from, SendBatch batch) {
        assertThat(from.post(batch.signaled())).isEqualTo(1);
        long end = System.nanoTime() + LONG_NANOS;
        while (theirQueue.poll(theirDone, 1) == 0) {
            assertThat(System.nanoTime()).isLessThan(end);
        }
        assertThat(theirDone.status(0)).isEqualTo(WorkStatus.SUCCESS);
    }

    private void send(QueuePair from, long offset, int bytes) {
        send(from, SendBatch.create(arena, 1, 1).send(0).with(source, offset, bytes));
    }

    private Received next() {
        long end = System.nanoTime() + LONG_NANOS;
        while (received.isEmpty()) {
            poll();
            assertThat(System.nanoTime()).isLessThan(end);
        }
        return received.remove();
    }

    private void poll() {
        int count = queue.poll(done);
        for (int i = 0; i < count; i++) {
            boolean good = done.isSuccess(i);
            received.add(new Received(
                    done.workId(i),
                    done.status(i),
                    good ? done.byteLength(i) : 0,
                    good && done.hasImmediate(i) ? done.immediate(i) : 0,
                    done.queuePairNumber(i)));
        }
    }

    private void nothing() {
        poll();
        assertThat(received).isEmpty();
    }

    private void fill(MemoryRegion region, Random random) {
        for (long i = 0; i < region.length(); i++) {
            region.segment().set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
        }
    }

    private static byte[] bytes(MemoryRegion region, long offset, int length) {
        return region.segment().asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    private record Wanted(long id, int from, int bytes, int immediate, MemoryRegion in) {}

    /// Short and long ones, scattered, empty, with and without immediate data: all in order, with the right bytes.
    @Test
    void messagesOfAllKindsStayInOrder() {
        long seed = System.nanoTime();
        System.out.println("ReceiveLinesTest: seed " + seed);
        Random random = new Random(seed);
        fill(source, random);
        Pair pair = connected();
        ArrayDeque<Wanted> wanted = new ArrayDeque<>();
        ArrayDeque<Long> posted = new ArrayDeque<>();
        long next = 0;
        for (int step = 0; step < 20_000; step++) {
            boolean room = posted.size() + wanted.size() < DEPTH;
            if (room && (posted.isEmpty() || random.nextBoolean())) {
                postSome(pair.receiver(), next, random);
                posted.add(next++);
            } else if (!posted.isEmpty() && random.nextInt(3) > 0) {
                wanted.add(sendSome(pair.sender(), posted.remove(), random));
            } else {
                check(wanted, seed);
            }
        }
        check(wanted, seed);
        nothing();
    }

    private void postSome(QueuePair to, long id, Random random) {
        long offset = id % DEPTH * PIECE;
        switch (random.nextInt(4)) {
            case 0 -> post(to, id, target, offset, 100, 20, MOST_BYTES - 120 + 1);
            case 1 -> post(to, id, target, offset, 10, 3, 200);
            default -> post(to, id, target, offset, MOST_BYTES);
        }
    }

    private Wanted sendSome(QueuePair from, long id, Random random) {
        int bytes = random.nextInt(4) == 0 ? random.nextInt(MOST_BYTES + 1) : random.nextInt(48);
        int start = random.nextInt(PIECE);
        int immediate = random.nextInt();
        SendBatch batch = SendBatch.create(arena, 1, 1);
        switch (random.nextInt(3)) {
            case 0 -> batch.send(0);
            case 1 -> batch.sendWithImmediate(0, immediate);
            default -> {
                batch.writeWithImmediate(0, remote.address() + id % DEPTH * PIECE, remote.remoteKey(), immediate);
                send(from, batch.with(source, start, bytes));
                return new Wanted(id, start, bytes, immediate, remote);
            }
        }
        boolean tagged = batch.contains(SendOpcode.SEND_WITH_IMMEDIATE);
        send(from, batch.with(source, start, bytes));
        return new Wanted(id, start, bytes, tagged ? immediate : 0, target);
    }

    private void check(ArrayDeque<Wanted> wanted, long seed) {
        while (!wanted.isEmpty()) {
            Wanted one = wanted.remove();
            Received got = next();
            assertThat(got.id()).as("seed %d", seed).isEqualTo(one.id());
            assertThat(got.status()).as("seed %d", seed).isEqualTo(WorkStatus.SUCCESS);
            assertThat(got.bytes()).as("seed %d", seed).isEqualTo(one.bytes());
            assertThat(got.immediate()).as("seed %d", seed).isEqualTo(one.immediate());
            assertThat(bytes(one.in(), one.id() % DEPTH * PIECE, one.bytes()))
                    .as("seed %d, receive %d", seed, one.id())
                    .isEqualTo(bytes(source, one.from(), one.bytes()));
        }
    }

    @Test
    void whatHasArrivedIsReceivedBeforeTheOthersAreFlushed() {
        Pair pair = connected();
        for (long i = 0; i < 8; i++) {
            post(pair.receiver(), i, target, i * PIECE, 64);
        }
        for (int i = 0; i < 5; i++) {
            send(pair.sender(), (long) i * PIECE, 8);
        }
        pair.receiver().modify(new QueuePairAttributes().state(QueuePairState.ERROR));
        post(pair.receiver(), 8, target, 0, 64);
        for (long i = 0; i < 9; i++) {
            Received got = next();
            assertThat(got.id()).isEqualTo(i);
            assertThat(got.status()).isEqualTo(i < 5 ? WorkStatus.SUCCESS : WorkStatus.FLUSHED);
        }
        nothing();
    }

    @Test
    void whatHasArrivedIsReceivedAfterTheQueuePairWasClosed() {
        Pair pair = connected();
        source.segment().set(ValueLayout.JAVA_LONG, 0, 42);
        post(pair.receiver(), 1, target, 0, 64);
        post(pair.receiver(), 2, target, 64, 64);
        send(pair.sender(), 0, 8);
        pair.receiver().close();
        assertThat(next().id()).isEqualTo(1);
        assertThat(target.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);
        nothing();
    }

    @Test
    void whatHasArrivedIsReceivedAfterAReset() {
        for (boolean failsFirst : new boolean[] {false, true}) {
            Pair pair = connected();
            for (long i = 0; i < 3; i++) {
                post(pair.receiver(), i, target, i * PIECE, 64);
            }
            send(pair.sender(), 0, 8);
            if (failsFirst) {
                pair.receiver().modify(new QueuePairAttributes().state(QueuePairState.ERROR));
            }
            pair.receiver().modify(new QueuePairAttributes().state(QueuePairState.RESET));
            for (long i = 0; i < (failsFirst ? 3 : 1); i++) {
                Received got = next();
                assertThat(got.id()).isEqualTo(i);
                assertThat(got.status()).isEqualTo(i == 0 ? WorkStatus.SUCCESS : WorkStatus.FLUSHED);
            }
            nothing();
        }
    }

    /// The program has made a mistake, which must not cost the other queue pairs of the queue.
    @Test
    void memoryThatWasFreedWithoutClosingItsRegionCostsOneQueuePair() {
        Pair bad = connected();
        Pair good = connected();
        Arena freed = Arena.ofShared();
        MemoryRegion region = domain.register(freed.allocate(PIECE, 64), Set.of(AccessFlag.LOCAL_WRITE));
        post(bad.receiver(), 1, region, 0, 64);
        post(good.receiver(), 2, target, 0, 64);
        send(bad.sender(), 0, 8);
        freed.close();
        send(good.sender(), 0, 8);
        List<Received> both = List.of(next(), next());
        assertThat(both).extracting(Received::id).containsExactlyInAnyOrder(1L, 2L);
        assertThat(both)
                .extracting(Received::status)
                .containsExactlyInAnyOrder(WorkStatus.GENERAL_ERROR, WorkStatus.SUCCESS);
        long end = System.nanoTime() + LONG_NANOS;
        while (bad.receiver().state() != QueuePairState.ERROR) {
            assertThat(System.nanoTime()).isLessThan(end);
        }
        assertThat(good.receiver().state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    /// The sender is not told, and must not write to lines of the next connection.
    @Test
    void aSenderOfAnEarlierConnectionIsNotHeard() {
        Pair pair = connected();
        post(pair.receiver(), 1, target, 0, 64);
        send(pair.sender(), 0, 8);
        assertThat(next().id()).isEqualTo(1);
        pair.receiver().modify(new QueuePairAttributes().state(QueuePairState.RESET));
        QueuePair other = theirs.createQueuePair(QueuePairOptions.reliable(theirQueue));
        pair.receiver().connect(other.info());
        other.connect(pair.receiver().info());
        for (long i = 10; i < 20; i++) {
            post(pair.receiver(), i, target, 0, 64);
            pair.sender().post(SendBatch.create(arena, 1, 1).send(99).with(source, 0, 8));
            send(other, 0, 8);
            assertThat(next().id()).isEqualTo(i);
        }
        nothing();
    }

    @Test
    void receivesAgainAfterAReset() {
        Pair pair = connected();
        for (int round = 0; round < 5; round++) {
            for (long i = 0; i < 8; i++) {
                post(pair.receiver(), i, target, i * PIECE, 64);
            }
            for (int i = 0; i < 5; i++) {
                send(pair.sender(), (long) i * PIECE, 8);
            }
            for (long i = 0; i < 5; i++) {
                assertThat(next().id()).isEqualTo(i);
            }
            for (QueuePair each : List.of(pair.receiver(), pair.sender())) {
                each.modify(new QueuePairAttributes().state(QueuePairState.RESET));
            }
            pair.receiver().connect(pair.sender().info());
            pair.sender().connect(pair.receiver().info());
        }
        nothing();
    }

    /// The program may use the memory for something else after that: whatever is polled later does not change it.
    @Test
    void messagesAreInTheirMemoryWhenThatIsDeregistered() {
        Pair pair = connected();
        MemorySegment memory = arena.allocate(PIECE, 64);
        MemoryRegion region = domain.register(memory, Set.of(AccessFlag.LOCAL_WRITE));
        source.segment().set(ValueLayout.JAVA_LONG, 0, 42);
        post(pair.receiver(), 1, region, 0, 64);
        post(pair.receiver(), 2, region, 64, 64);
        send(pair.sender(), 0, 8);
        region.close();
        assertThat(memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);
        memory.fill((byte) 7);
        Received got = next();
        assertThat(got.id()).isEqualTo(1);
        assertThat(got.status()).isEqualTo(WorkStatus.SUCCESS);
        assertThat(memory.toArray(ValueLayout.JAVA_BYTE)).containsOnly(7);

        pair.sender()
                .post(SendBatch.create(arena, 1, 1).send(0).with(source, 0, 8).signaled());
        assertThat(next().status()).isEqualTo(WorkStatus.LOCAL_PROTECTION_ERROR);
        assertThat(memory.toArray(ValueLayout.JAVA_BYTE)).containsOnly(7);
    }

    @Test
    void messagesForOtherMemoryStillReachIt() {
        Pair pair = connected();
        MemoryRegion region = domain.allocate(PIECE, Set.of(AccessFlag.LOCAL_WRITE));
        post(pair.receiver(), 1, target, 0, 64);
        post(pair.receiver(), 2, region, 0, 64);
        post(pair.receiver(), 3, target, 64, 64);
        for (int i = 0; i < 3; i++) {
            source.segment().set(ValueLayout.JAVA_LONG, 0, 42 + i);
            send(pair.sender(), 0, 8);
        }
        region.close();
        for (long i = 1; i < 4; i++) {
            Received got = next();
            assertThat(got.id()).isEqualTo(i);
            assertThat(got.status()).isEqualTo(WorkStatus.SUCCESS);
        }
        assertThat(target.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);
        assertThat(target.segment().get(ValueLayout.JAVA_LONG, 64)).isEqualTo(44);
    }

    @Test
    void aWriteAfterAMessageReplacesIt() {
        Pair pair = connected();
        post(pair.receiver(), 1, remote, 0, 64);
        source.segment().set(ValueLayout.JAVA_LONG, 0, 1);
        send(pair.sender(), 0, 8);
        source.segment().set(ValueLayout.JAVA_LONG, 0, 2);
        send(
                pair.sender(),
                SendBatch.create(arena, 1, 1)
                        .write(0, remote.address(), remote.remoteKey())
                        .with(source, 0, 8));
        assertThat(next().id()).isEqualTo(1);
        assertThat(remote.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(2);
    }

    /// A program that polls one completion, arms, and polls again finds what has arrived in between.
    @Test
    void aPollFindsWhatArrivedAfterAFullPoll() {
        Pair pair = connected();
        for (long i = 0; i < 3; i++) {
            post(pair.receiver(), i, target, i * PIECE, 64);
        }
        for (long i = 0; i < 3; i++) {
            send(pair.sender(), 0, 8);
            assertThat(queue.poll(done, 1)).isEqualTo(1);
            assertThat(done.workId(0)).isEqualTo(i);
        }
    }

    /// Only the first have lines.
    @ParameterizedTest
    @ValueSource(ints = {1, 16, 17, 300})
    void manyQueuePairsCompleteInOneQueue(int count) {
        List<Pair> pairs = new ArrayList<>();
        Map<Integer, ArrayDeque<Long>> wanted = new HashMap<>();
        for (int i = 0; i < count; i++) {
            pairs.add(connected());
            wanted.put(pairs.get(i).receiver().number(), new ArrayDeque<>());
        }
        long next = 0;
        int sent = 0;
        for (int round = 0; round < 5; round++) {
            for (Pair pair : pairs) {
                for (int i = 0; i < 3; i++) {
                    post(pair.receiver(), next, target, 0, 64);
                    wanted.get(pair.receiver().number()).add(next++);
                }
            }
            for (Pair pair : pairs) {
                for (int i = 0; i < 3; i++) {
                    send(pair.sender(), 0, i * 30);
                    sent++;
                }
            }
            for (; sent > 0; sent--) {
                Received got = next();
                assertThat(got.status()).isEqualTo(WorkStatus.SUCCESS);
                assertThat(got.id()).isEqualTo(wanted.get(got.queuePair()).remove());
            }
            // Others get their places.
            Pair closed = pairs.removeFirst();
            closed.receiver().close();
            closed.sender().close();
            pairs.add(connected());
            wanted.put(pairs.getLast().receiver().number(), new ArrayDeque<>());
        }
        nothing();
    }
}
