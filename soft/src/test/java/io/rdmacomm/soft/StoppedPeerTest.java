package io.rdmacomm.soft;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SharedReceiveQueue;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;
import io.rdmacomm.verbs.VerbException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A peer that is stopped in the middle of a message (SIGSTOP, a freezer, a heap dump, swapping) and resumes when the
/// objects that it works on are gone: nothing of it reaches those that were made instead.
@Tag("slow")
class StoppedPeerTest {
    private static final int RECEIVES = 8;
    private static final long LAST = SendingProcess.BYTES - 1;
    private static final long TIMEOUT_NANOS = 60_000_000_000L;

    private final Arena arena = Arena.ofShared();
    private final Completions done = Completions.create(arena, 64);
    private final Context context = SendingProcess.openDevice();
    private final ProtectionDomain domain = context.allocateProtectionDomain();
    private final MemoryRegion region = domain.allocate(SendingProcess.BYTES, AccessFlag.allRemote());
    private SendingProcess peer;

    @BeforeEach
    void start() throws Exception {
        peer = new SendingProcess();
    }

    @AfterEach
    void close() throws Exception {
        peer.kill();
        context.close();
        arena.close();
    }

    /// A queue pair with all that it writes to, and receives in it.
    private final class Objects {
        final CompletionQueue queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(64));
        final @Nullable SharedReceiveQueue shared;
        final QueuePair pair;
        int posted;
        /// How many have ended before the peer was stopped.
        int earlier;

        Objects(boolean withSharedReceives) {
            QueuePairOptions options = QueuePairOptions.reliable(queue);
            shared = withSharedReceives
                    ? domain.createSharedReceiveQueue(SharedReceiveQueueOptions.ofDepth(RECEIVES))
                    : null;
            pair = domain.createQueuePair(shared == null ? options : options.withSharedReceives(shared));
        }

        void receive(int count) {
            for (int i = 0; i < count; i++) {
                ReceiveBatch batch =
                        ReceiveBatch.create(arena, 1, 1).receive(++posted).with(region, 0, SendingProcess.BYTES);
                assertThat(shared == null ? pair.post(batch) : shared.post(batch))
                        .isEqualTo(1);
            }
        }

        /// Receives messages until the process was stopped while it copied one. The first byte is of that message
        /// then, and the last one is not.
        void stopPeerInAMessage() throws Exception {
            long deadline = System.nanoTime() + TIMEOUT_NANOS;
            do {
                assertThat(System.nanoTime()).isLessThan(deadline);
                peer.resume();
                int count = 0;
                while (count == 0) {
                    assertThat(System.nanoTime()).isLessThan(deadline);
                    count = queue.poll(done);
                }
                assertThat(done.isSuccess(0)).isTrue();
                earlier += count;
                receive(count);
                peer.stop();
            } while (!peer.isInAMessage() || !isCopying());
        }

        private boolean isCopying() {
            return region.segment().get(JAVA_BYTE, 0) != region.segment().get(JAVA_BYTE, LAST);
        }

        /// Where the rings are in the control file.
        List<Long> places() {
            long receives = shared == null
                    ? Soft.of(pair).resources().receives().ring().offset()
                    : Soft.of(shared).ring().offset();
            return List.of(Soft.of(queue).ring().offset(), receives);
        }

        void close() {
            pair.close();
            queue.close();
            if (shared != null) {
                shared.close();
            }
        }
    }

    private Objects objectsOfAStoppedPeer(boolean shared) throws Exception {
        Objects objects = new Objects(shared);
        peer.connect(objects.pair);
        objects.receive(RECEIVES);
        objects.stopPeerInAMessage();
        return objects;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void nothingOfItReachesNewObjects(boolean shared) throws Exception {
        Objects old = objectsOfAStoppedPeer(shared);
        old.close();
        assertThat(Soft.of(context).objects().quiesce(null))
                .as("no memory is in use")
                .isFalse();
        Objects made = new Objects(shared);
        assertThat(made.places()).doesNotContainAnyElementsOf(old.places());
        QueuePair loop = domain.createQueuePair(QueuePairOptions.reliable(made.queue));
        made.pair.connect(loop.info());
        loop.connect(made.pair.info());
        made.receive(RECEIVES);

        peer.resume();
        peer.awaitFailure();

        assertThat(made.queue.poll(done)).as("completions of no request").isZero();
        for (int i = 0; i < RECEIVES; i++) {
            loop.post(SendBatch.create(arena, 1, 1).send(100).signaled());
        }
        List<Long> received = new ArrayList<>();
        for (int count = made.queue.poll(done); count > 0; count = made.queue.poll(done)) {
            for (int i = 0; i < count; i++) {
                assertThat(done.isSuccess(i)).isTrue();
                if (done.workId(i) != 100) {
                    received.add(done.workId(i));
                }
            }
        }
        assertThat(received).as("receives that were still there").containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L);
        awaitNothingHeld();
        assertThat(new Objects(shared).places()).as("not lost").containsAnyElementsOf(old.places());
    }

    /// Closing the last region of a file takes the memory away from everyone. That of a part cannot.
    @Test
    void aPartOfMemoryThatItMayWriteToIsNotForOthers() throws Exception {
        MemoryRegion part = domain.register(region.segment().asSlice(0, 64), AccessFlag.allRemote());
        objectsOfAStoppedPeer(false).close();

        assertThatThrownBy(part::close)
                .isInstanceOf(VerbException.class)
                .hasMessageContainingAll("ETIMEDOUT", "do not use that memory again");
        assertThat(part.isOpen()).isFalse();

        peer.resume();
        peer.awaitFailure();
        awaitNothingHeld();
        domain.register(region.segment().asSlice(0, 64), AccessFlag.allRemote()).close();
    }

    @Test
    void whatItMayWriteToIsFreedWhenItHasDied() throws Exception {
        Objects old = objectsOfAStoppedPeer(false);
        old.close();
        assertThat(Soft.of(context).objects().pendingFrees().freeReleased()).isFalse();

        peer.kill();

        awaitNothingHeld();
        assertThat(new Objects(false).places()).containsAnyElementsOf(old.places());
    }

    private void awaitNothingHeld() {
        long deadline = System.nanoTime() + TIMEOUT_NANOS;
        while (!Soft.of(context).objects().pendingFrees().freeReleased()) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            Thread.onSpinWait();
        }
    }

    /// The receive that it had taken is the last to end, whether it resumes or dies. Until then the queue pair cannot
    /// be used for another connection.
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void everyReceiveOfAFailedQueuePairEndsOnce(boolean killed) throws Exception {
        Objects objects = objectsOfAStoppedPeer(false);
        Set<Long> ended = new HashSet<>();
        QueuePairAttributes reset = new QueuePairAttributes().state(QueuePairState.RESET);
        assertThatThrownBy(() -> objects.pair.modify(reset))
                .isInstanceOfSatisfying(
                        VerbException.class, busy -> assertThat(busy.errno()).isEqualTo(Errno.EBUSY));
        assertThat(objects.pair.state()).isEqualTo(QueuePairState.ERROR);
        collect(objects, ended);
        int left = objects.posted - objects.earlier - ended.size();
        assertThat(left).as("receives that have not ended").isEqualTo(1);

        if (killed) {
            peer.kill();
        } else {
            peer.resume();
        }

        long deadline = System.nanoTime() + TIMEOUT_NANOS;
        while (ended.size() < objects.posted - objects.earlier) {
            assertThat(System.nanoTime()).as("ended: " + ended).isLessThan(deadline);
            collect(objects, ended);
        }
        if (!killed) {
            peer.awaitFailure();
        }
        assertThat(objects.queue.poll(done)).isZero();
        objects.pair.modify(reset);
        assertThat(objects.pair.state()).isEqualTo(QueuePairState.RESET);
    }

    private void collect(Objects objects, Set<Long> ended) {
        int count = objects.queue.poll(done);
        for (int i = 0; i < count; i++) {
            assertThat(ended.add(done.workId(i)))
                    .as("the first end of " + done.workId(i))
                    .isTrue();
        }
    }
}
