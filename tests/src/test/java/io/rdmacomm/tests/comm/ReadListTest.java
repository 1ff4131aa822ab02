package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.Admission;
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
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

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
            long at = read.into().offset();
            for (long k = 0; k < read.into().length(); k += 4) {
                assertThat(target.segment().get(JAVA_INT, at + k)).isEqualTo((int) ((read.offset() + k) / 4));
            }
        }
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
                reads.add(read(at, random.nextInt(INTS - count + 1), count));
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
        reads.add(new Read(moving.at(8_000, 4), remote, 40));
        CompletableFuture<Void> future = channel.async(TIMEOUT).read(reads);
        assertThat(future).as("more than the window has").isNotDone();
        moving.at(12_000, 8);
        pair.until(future::isDone);
        future.join();
        assertThat(target.segment().get(JAVA_INT, 8_000)).isEqualTo(10);
        assertThat(target.segment().get(JAVA_INT, 12_000)).isZero();
    }

    @Test
    void aListWithAHandlerAllocatesNothing() {
        List<Read> reads = inOrder(WINDOW);
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
