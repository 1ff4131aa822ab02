package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.Admission;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.CompletionHandler;
import io.rdmacomm.comm.MovableSlice;
import io.rdmacomm.comm.OperationException;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.Read;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import io.rdmacomm.testing.Allocation;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.statistics.ChannelCounter;
import io.rdmacomm.verbs.statistics.ChannelStatistics;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Many READs as one operation. Each integer of the remote buffer is its own index.
final class ReadListTest {
    private static final int WINDOW = 16;
    private static final int INTS = 4096;
    private static final long BYTES = 4L * INTS;
    private static final SessionOptions OPTIONS = SessionOptions.defaults()
            .withThreadMode(ThreadMode.CALLER)
            .withWorkMode(WorkMode.POLLING)
            .withChannel(ChannelOptions.defaults().withSendWindow(WINDOW));

    private final ConnectedPair pair = ConnectedPair.of(OPTIONS);
    private final RdmaBuffer target = pair.client.allocate("target", BYTES);
    private final RdmaBuffer source = pair.server.allocate("source", BYTES);
    private final RemoteBuffer remote = pair.target(source);
    private final RdmaChannel channel = pair.clientChannel();

    ReadListTest() {
        for (int i = 0; i < INTS; i++) {
            source.segment().setAtIndex(JAVA_INT, i, i);
        }
    }

    @AfterEach
    void close() {
        pair.close();
    }

    private Read read(int to, int from, int count) {
        return new Read(target.slice(4L * to, 4L * count), remote, 4L * from);
    }

    private List<Read> inOrder(int count) {
        List<Read> reads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            reads.add(read(i, INTS - 1 - i, 1));
        }
        return reads;
    }

    private void check(List<Read> reads) {
        for (Read read : reads) {
            long from = read.offset();
            for (BufferSlice into : read.into()) {
                for (long k = 0; k < into.length(); k += 4, from += 4) {
                    assertThat(into.segment().get(JAVA_INT, k)).isEqualTo((int) (from / 4));
                }
            }
        }
    }

    private Read scattered(long from, BufferSlice... into) {
        return new Read(List.of(into), remote, from);
    }

    /// The same READ into two to four places, which are all of the target of `read`.
    private static Read cut(Read read, Random random) {
        BufferSlice whole = read.into().getFirst();
        List<BufferSlice> parts = new ArrayList<>();
        long at = 0;
        for (int i = random.nextInt(1, 4); i > 0; i--) {
            long length = 4 * random.nextLong((whole.length() - at) / 4 + 1);
            parts.add(whole.slice(at, length));
            at += length;
        }
        parts.add(whole.slice(at, whole.length() - at));
        Collections.shuffle(parts, random);
        return new Read(parts, read.from(), read.offset());
    }

    @Test
    void listsOfAnyLengthArriveWhole() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        for (int round = 0; round < 50; round++) {
            target.segment().fill((byte) -1);
            List<Read> reads = new ArrayList<>();
            for (int at = 0; at < INTS && reads.size() < random.nextInt(1, 1200); ) {
                int count = Math.min(random.nextInt(1, 20), INTS - at);
                Read read = read(at, random.nextInt(INTS - count + 1), count);
                reads.add(random.nextInt(3) == 0 ? cut(read, random) : read);
                at += count + random.nextInt(3);
            }
            if (random.nextBoolean()) {
                Collections.shuffle(reads, random);
            }
            if (random.nextBoolean()) {
                channel.blocking(TIMEOUT).read(reads);
            } else {
                CompletableFuture<Void> future = channel.async(TIMEOUT).read(reads);
                pair.until(future::isDone);
                future.join();
            }
            check(reads);
        }
        assertThat(channel.inFlight()).isZero();
    }

    @Test
    void anEmptyListHasEnded() {
        assertThat(channel.async(TIMEOUT).read(List.of())).isCompleted();
        channel.blocking(TIMEOUT).read(List.of());
    }

    @Test
    void aHandlerIsCalledOnceForTheList() {
        AtomicInteger calls = new AtomicInteger();
        List<Read> reads = inOrder(WINDOW);
        assertThat(channel.tryRead(
                        reads,
                        (on, context, status, result) -> {
                            assertThat(context).isEqualTo(7);
                            assertThat(status).isEqualTo(WorkStatus.SUCCESS);
                            calls.incrementAndGet();
                        },
                        7))
                .isEqualTo(Admission.ACCEPTED);
        pair.until(() -> calls.get() > 0 && channel.inFlight() == 0);
        assertThat(calls.get()).isOne();
        check(reads);
    }

    @Test
    void aListThatTheWindowCannotHoldNeedsAFuture() {
        assertThatThrownBy(() -> channel.tryRead(inOrder(WINDOW + 1), (on, context, status, result) -> {}, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("number of reads");
        assertThatThrownBy(() -> channel.tryRead(List.of(), (on, context, status, result) -> {}, 0))
                .isInstanceOf(IllegalArgumentException.class);
        channel.blocking(TIMEOUT).read(inOrder(WINDOW + 1));
    }

    @Test
    void targetsMustNotOverlap() {
        List<Read> overlapping = List.of(read(10, 0, 4), read(0, 0, 4), read(13, 0, 1));
        assertThatThrownBy(() -> channel.blocking(TIMEOUT).read(overlapping))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("overlap");
        assertThatThrownBy(() -> channel.async().read(overlapping)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> channel.tryRead(overlapping, (on, context, status, result) -> {}, 0))
                .isInstanceOf(IllegalArgumentException.class);
        channel.blocking(TIMEOUT).read(List.of(read(10, 5, 4), read(0, 5, 4), read(14, 5, 4)));
    }

    @ParameterizedTest
    @EnumSource(Line.class)
    void oneRangeIsReadIntoSeveralPlacesByOneRequest(Line line) {
        SessionOptions options = line.options(WorkMode.ADAPTIVE, ThreadMode.SHARED_CQ);
        try (ConnectedPair other = ConnectedPair.of(options)) {
            RdmaBuffer from = other.server.allocate("source", 4 * 1000);
            for (int i = 0; i < 1000; i++) {
                from.segment().setAtIndex(JAVA_INT, i, i);
            }
            RdmaBuffer near = other.client.allocate("near", 4 * 1000);
            RdmaBuffer far = other.client.allocate("far", 4 * 1000);
            RdmaChannel reader = other.clientChannel();
            RemoteBuffer range = other.target(from);
            Read read = new Read(
                    List.of(far.slice(400, 8), near.slice(0, 2800), far.slice(100, 0), far.slice(0, 12)), range, 40);
            assertThat(read.into()).hasSize(reader.maxReadTargets());

            reader.blocking(TIMEOUT).read(List.of(read));
            check(List.of(read));
            assertThat(far.segment().getAtIndex(JAVA_INT, 3)).isZero();
            ChannelStatistics after = reader.statistics();
            assertThat(after.value(ChannelCounter.OPERATIONS)).isOne();
            assertThat(after.value(ChannelCounter.BYTES_READ)).isEqualTo(2820);

            far.clear();
            near.clear();
            reader.async(TIMEOUT).read(List.of(read)).join();
            check(List.of(read));

            far.clear();
            near.clear();
            CompletableFuture<Long> result = new CompletableFuture<>();
            CompletionHandler handler = (on, context, status, bytes) -> {
                assertThat(status).isEqualTo(WorkStatus.SUCCESS);
                result.complete(bytes);
            };
            assertThat(reader.tryRead(List.of(read), handler, 0)).isEqualTo(Admission.ACCEPTED);
            assertThat(result.join()).isEqualTo(2820);
            check(List.of(read));
        }
    }

    @Test
    void theTargetsOfOneReadMustNotOverlap() {
        Read read = scattered(0, target.slice(0, 8), target.slice(100, 8), target.slice(4, 8));
        assertThatThrownBy(() -> channel.blocking(TIMEOUT).read(List.of(read)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("overlap");
    }

    @Test
    void aReadHasAtLeastOneTargetAndAtMostThoseOfTheChannel() {
        assertThatThrownBy(() -> scattered(0)).isInstanceOf(IllegalArgumentException.class);
        int most = channel.maxReadTargets();
        BufferSlice[] tooMany = new BufferSlice[most + 1];
        for (int i = 0; i <= most; i++) {
            tooMany[i] = target.slice(8L * i, 4);
        }
        assertThatThrownBy(() -> channel.blocking(TIMEOUT).read(List.of(scattered(0, tooMany))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(Integer.toString(most + 1))
                .hasMessageContaining("which is " + most);
        assertThat(channel.inFlight()).isZero();
    }

    @Test
    void eachTargetOfAReadIsChecked() {
        RdmaBuffer foreign = pair.server.allocate("foreign", 64);
        assertThatThrownBy(() -> channel.async().read(List.of(scattered(0, target.slice(0, 8), foreign.slice(0, 8)))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("another session");
        Read beyond = scattered(BYTES - 8, target.slice(0, 8), target.slice(8, 4));
        assertThatThrownBy(() -> channel.blocking(TIMEOUT).read(List.of(beyond)))
                .isInstanceOf(IndexOutOfBoundsException.class);
        foreign.close();
    }

    @Test
    void nothingStartsIfOneReadIsBad() {
        target.segment().fill((byte) 9);
        Read beyond = new Read(target.slice(400, 8), remote, BYTES - 4);
        assertThatThrownBy(() -> channel.blocking(TIMEOUT).read(List.of(read(2, 0, 4), beyond)))
                .isInstanceOf(IndexOutOfBoundsException.class)
                .hasMessageContaining("remote buffer 'source'");
        assertThat(target.segment().toArray(JAVA_BYTE)).containsOnly(9);
        assertThat(channel.inFlight()).isZero();
    }

    @Test
    void aFailureFailsTheListOnceNothingIsInFlight() {
        List<Read> reads = new ArrayList<>(inOrder(10 * WINDOW));
        RemoteBuffer forged = RemoteBuffer.of("forged", remote.address(), BYTES, remote.key() ^ 1, remote.access());
        reads.set(3 * WINDOW, new Read(target.slice(BYTES - 4, 4), forged, 0));
        CompletableFuture<Void> future = channel.async(TIMEOUT).read(reads);
        pair.until(future::isDone);
        assertThat(channel.inFlight()).isZero();
        assertThatThrownBy(future::join)
                .isInstanceOf(CompletionException.class)
                .cause()
                .isInstanceOfAny(OperationException.class, ClosedException.class)
                .hasStackTraceContaining(WorkStatus.REMOTE_ACCESS_ERROR.toString());
    }

    @Test
    void theEndOfTheChannelEndsTheList() {
        CompletableFuture<Void> future = channel.async(TIMEOUT).read(inOrder(10 * WINDOW));
        pair.clientEnd.close();
        assertThat(future).isDone();
        assertThatThrownBy(() -> channel.async(TIMEOUT).read(inOrder(1))).isInstanceOf(ClosedException.class);
        assertThat(channel.tryRead(inOrder(1), (on, context, status, result) -> {}, 0))
                .isEqualTo(Admission.CLOSED);
    }

    @Test
    void aBufferThatIsClosedMeanwhileFailsTheList() {
        RdmaBuffer other = pair.client.allocate("other", 64);
        List<Read> reads = new ArrayList<>(inOrder(WINDOW));
        reads.add(new Read(other.slice(0, 4), remote, 0));
        CompletableFuture<Void> future = channel.async(TIMEOUT).read(reads);
        other.close();
        pair.until(future::isDone);
        assertThat(channel.inFlight()).isZero();
    }

    @Test
    void aSliceThatMovesLaterChangesNothing() {
        List<Read> reads = new ArrayList<>(inOrder(3 * WINDOW));
        MovableSlice moving = target.whole().movable();
        reads.add(scattered(40, moving.at(8_000, 4), target.slice(8_008, 4)));
        CompletableFuture<Void> future = channel.async(TIMEOUT).read(reads);
        assertThat(future).as("more than the window has").isNotDone();
        moving.at(12_000, 8);
        pair.until(future::isDone);
        future.join();
        assertThat(target.segment().get(JAVA_INT, 8_000)).isEqualTo(10);
        assertThat(target.segment().get(JAVA_INT, 8_008)).isEqualTo(11);
        assertThat(target.segment().get(JAVA_INT, 12_000)).isZero();
    }

    @Test
    void aListWithAHandlerAllocatesNothing() {
        List<Read> reads = new ArrayList<>(inOrder(WINDOW - 1));
        reads.add(scattered(40, target.slice(8_000, 4), target.slice(8_008, 4)));
        AtomicInteger calls = new AtomicInteger();
        CompletionHandler handler = (on, context, status, result) -> calls.incrementAndGet();
        Allocation.assertNone("a list of reads", () -> {
            int before = calls.get();
            channel.tryRead(reads, handler, 0);
            while (calls.get() == before) {
                channel.poll();
            }
        });
    }
}
