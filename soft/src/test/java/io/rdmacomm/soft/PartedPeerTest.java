package io.rdmacomm.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.mapped.CompletionFields;
import io.rdmacomm.soft.mapped.LineWriter;
import io.rdmacomm.soft.mapped.QueuePairBlock;
import io.rdmacomm.soft.mapped.ReceiveTaker;
import io.rdmacomm.soft.mapped.ShmDirectory;
import io.rdmacomm.soft.shm.ShmMessage;
import io.rdmacomm.soft.shm.ShmPeer;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SharedReceiveQueue;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// The connection with a peer ends while it is stopped in the middle of a message, and then it resumes. The end of a
/// connection is not the end of a process: what the peer had begun is still its own. The test does by hand what the
/// stopped thread of the peer would do.
class PartedPeerTest {
    private static final long RECEIVE = 4242;
    private static final long SEND = 2;
    private static final int CAPACITY = 16;
    private static final long TIMEOUT_NANOS = 60_000_000_000L;

    private final Arena arena = Arena.ofShared();
    private final Completions done = Completions.create(arena, CAPACITY);
    private final Context here = open();
    private final Context there = open();
    private final ProtectionDomain domain = here.allocateProtectionDomain();
    private final CompletionQueue queue = here.createCompletionQueue(CompletionQueueOptions.ofCapacity(CAPACITY));
    private final SharedReceiveQueue shared =
            domain.createSharedReceiveQueue(SharedReceiveQueueOptions.ofDepth(CAPACITY));
    private final CompletionQueue theirQueue = there.createCompletionQueue(CompletionQueueOptions.ofCapacity(CAPACITY));
    private final QueuePair peer =
            there.allocateProtectionDomain().createQueuePair(QueuePairOptions.reliable(theirQueue));
    private final Map<Long, Integer> ends = new HashMap<>();
    private final QueuePairBlock block = Soft.of(peer).resources().block();
    private QueuePair pair;
    private ForeignHand hand;

    private static Context open() {
        return Soft.open("soft0=127.0.0.1");
    }

    /// Connects a queue pair, and receives one message.
    ///
    /// @param lines whether its receives complete in lines; otherwise they are those of a shared receive
    ///         queue
    private ReceiveTaker receives(boolean lines) {
        pair = lines ? ofLines() : sharing();
        pair.connect(peer.info());
        peer.connect(pair.info());
        peer.post(SendBatch.create(arena, 1, 1).send(1).signaled());
        post(pair, 1);
        await(() -> poll() == 1);
        post(pair, RECEIVE);
        hand = new ForeignHand(here);
        return ReceiveTaker.find(memory(), hand.receives(pair), Soft.of(there).lid(), peer.number());
    }

    /// Its receives have room in the completion queue.
    private QueuePair ofLines() {
        QueueSizes sizes = new QueueSizes(CAPACITY, CAPACITY / 2, 1, 1, 0);
        return domain.createQueuePair(QueuePairOptions.reliable(queue).withSizes(sizes));
    }

    private QueuePair sharing() {
        return domain.createQueuePair(QueuePairOptions.reliable(queue).withSharedReceives(shared));
    }

    private void post(QueuePair to, long id) {
        ReceiveBatch batch = ReceiveBatch.create(arena, 1, 1).receive(id);
        if (to.options().sharedReceives() == null) {
            to.post(batch);
        } else {
            shared.post(batch);
        }
    }

    @AfterEach
    void close() {
        hand.close();
        here.close();
        there.close();
        arena.close();
    }

    private MemorySegment memory() {
        return Soft.of(here).control().memory();
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + TIMEOUT_NANOS;
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            Thread.onSpinWait();
        }
    }

    private int poll() {
        int count = queue.poll(done);
        for (int i = 0; i < count; i++) {
            ends.merge(done.workId(i), 1, Integer::sum);
        }
        return count;
    }

    /// Connects as the peer and hangs up, as a kernel that is short of memory may do.
    private void part() throws IOException {
        try (SocketChannel connection = SocketChannel.open(UnixDomainSocketAddress.of(
                ShmDirectory.folder(Soft.of(here).lid()).resolve(ShmPeer.SOCKET)))) {
            ByteBuffer hello = ByteBuffer.allocate(ShmMessage.BYTES).order(ByteOrder.nativeOrder());
            hello.putInt(ShmMessage.HELLO).putInt(Soft.of(there).lid());
            hello.putLong(Soft.of(there).queryGid(1, 0).high())
                    .putLong(Soft.of(there).queryGid(1, 0).low())
                    .flip();
            connection.write(hello);
        }
        await(() -> pair.state() == QueuePairState.ERROR);
        CountDownLatch dealtWith = new CountDownLatch(1);
        Soft.of(here).engine().execute(dealtWith::countDown);
        await(() -> dealtWith.getCount() == 0);
    }

    /// The messages of another queue pair, many times as many as the ring has slots.
    private void others() {
        QueuePair loop = domain.createQueuePair(QueuePairOptions.reliable(queue));
        QueuePair other = sharing();
        loop.connect(other.info());
        other.connect(loop.info());
        for (long i = 0; i < 25 * CAPACITY; i++) {
            long id = 10_000 + i;
            ends.remove(SEND);
            post(other, id);
            loop.post(SendBatch.create(arena, 1, 1).send(SEND).signaled());
            await(() -> {
                poll();
                return ends.containsKey(id) && ends.containsKey(SEND);
            });
        }
    }

    @Test
    void aSlotThatItHadClaimedHurtsNobody() throws IOException {
        ReceiveTaker receives = receives(false);
        long position = receives.head();
        block.beginExecuting();
        block.openJournal(position, RECEIVE);
        assertThat(receives.take(position)).isTrue();
        long tailAt = hand.ring(pair) + 64;
        long tail = hand.get(tailAt);
        long slot = hand.slotAtTail(pair);
        hand.set(slot, tail << 20 | (long) Soft.of(there).lid() << 4 | 1);
        hand.set(tailAt, tail + 1);
        block.memory().set(JAVA_LONG, block.completionJournal(), tail + 1);
        part();
        others();

        hand.set(slot + 8, RECEIVE);
        hand.set(slot, tail << 20 | 2);
        block.closeJournal();
        block.endExecuting();

        ends.keySet().removeIf(id -> id >= 10_000);
        others();
        assertThat(ends).containsEntry(RECEIVE, 1);
    }

    @Test
    void aReceiveThatItHadClaimedEndsWithItsMessage() throws IOException {
        LineWriter lines = claimed();
        post(pair, 5);
        part();
        others();
        assertThat(ends).doesNotContainKey(RECEIVE).containsEntry(5L, 1);

        lines.publish(message(), false);
        block.endExecuting();
        others();
        assertThat(ends).containsEntry(RECEIVE, 1).containsEntry(5L, 1);
    }

    @Test
    void aReceiveThatItHadClaimedIsFlushedWhenItDies() throws IOException {
        var _ = claimed();
        part();
        others();
        assertThat(ends).doesNotContainKey(RECEIVE);

        there.close();
        await(() -> {
            poll();
            return ends.containsKey(RECEIVE);
        });
        others();
        assertThat(ends).containsEntry(RECEIVE, 1);
    }

    /// It has not claimed the receive, so that cannot be written to.
    @Test
    void aMessageThatItCompletesTooLateIsIgnored() throws IOException {
        LineWriter lines = Objects.requireNonNull(receives(true).lines());
        block.beginExecuting();
        assertThat(lines.oldest()).isEqualTo(1);
        part();
        await(() -> {
            poll();
            return ends.containsKey(RECEIVE);
        });

        assertThat(lines.claim(1)).isFalse();
        lines.publish(message(), true);
        block.endExecuting();
        others();
        assertThat(ends).containsEntry(RECEIVE, 1);
    }

    private LineWriter claimed() {
        LineWriter lines = Objects.requireNonNull(receives(true).lines());
        block.beginExecuting();
        assertThat(lines.oldest()).isEqualTo(1);
        assertThat(lines.claim(1)).isTrue();
        return lines;
    }

    private static CompletionFields message() {
        CompletionFields fields = new CompletionFields();
        fields.set(0, 0, CompletionOpcode.RECEIVE.code(), 0, 0);
        return fields;
    }

    @Test
    void aReceiveThatItHadClaimedIsFlushedWhenItGivesUp() throws IOException {
        var _ = claimed();
        part();
        others();
        assertThat(ends).doesNotContainKey(RECEIVE);

        block.endExecuting();
        await(() -> {
            poll();
            return ends.containsKey(RECEIVE);
        });
        others();
        assertThat(ends).containsEntry(RECEIVE, 1);
    }
}
