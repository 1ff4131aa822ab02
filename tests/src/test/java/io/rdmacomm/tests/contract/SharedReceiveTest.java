package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.tests.fixture.Activity;
import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.Deviation;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.EndQueue;
import io.rdmacomm.tests.fixture.EndSharedReceives;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.UnsupportedVerbException;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// Receives that several queue pairs share.
class SharedReceiveTest extends ContractCase {
    private boolean missing() {
        if (can(Capability.SHARED_RECEIVE_QUEUE)) {
            return false;
        }
        assertThatThrownBy(() -> here().sharedReceives(8, 1)).isInstanceOf(UnsupportedVerbException.class);
        return true;
    }

    private Pair onShared(EndSharedReceives shared, ConnectionOptions how) {
        return pair(here().queue(Spec.usual()), there().queueOn(shared, Spec.usual()))
                .connect(how);
    }

    @Test
    void severalQueuePairsTakeReceivesFromOneQueue() {
        if (missing()) {
            return;
        }
        EndSharedReceives shared = there().sharedReceives(64, 2);
        EndMemory target = there().allocate(64 * 8, everything());
        EndMemory source = here().allocate(8, everything());
        List<Pair> pairs =
                List.of(onShared(shared, patient()), onShared(shared, patient()), onShared(shared, patient()));
        for (int i = 0; i < 60; i++) {
            assertThat(shared.receive(i, target.piece(i * 8L, 4), target.piece(i * 8L + 4, 4)))
                    .isEqualTo(1);
        }
        Set<Long> used = new HashSet<>();
        for (int i = 0; i < 60; i++) {
            Pair pair = pairs.get(i % 3);
            source.setLong(0, 1000 + i);
            pair.here().post(Work.send(i, source.piece(0, 8)));
            good(pair.here().one(), i, CompletionOpcode.SEND);
            Outcome received = good(pair.there().one(), i, CompletionOpcode.RECEIVE);
            assertThat(received.queuePair()).isEqualTo(pair.there().number());
            assertThat(received.bytes()).isEqualTo(8);
            assertThat(target.getLong(received.id() * 8)).isEqualTo(1000 + i);
            used.add(received.id());
        }
        assertThat(used).hasSize(60);
    }

    @Test
    void anEmptySharedQueueIsReceiverNotReady() {
        if (missing()) {
            return;
        }
        EndSharedReceives shared = there().sharedReceives(8, 1);
        Pair pair = onShared(shared, patient());
        if (has(Deviation.NO_RECEIVE_ENDS_THE_CONNECTION)) {
            pair.here().receive(9);
            pair.here().post(Work.send(1));
            for (Outcome outcome : pair.here().drain(2)) {
                if (outcome.id() == 9) {
                    failed(outcome, 9, WorkStatus.FLUSHED);
                } else {
                    assertThat(outcome.id()).isEqualTo(1);
                    // A slow sender is still in siw_qp_sq_process when the connection ends.
                    assertThat(outcome.status()).isIn(WorkStatus.SUCCESS, WorkStatus.LOCAL_QUEUE_PAIR_ERROR);
                }
            }
            pair.here().awaitState(QueuePairState.ERROR);
            return;
        }
        pair.here().post(Work.send(1));
        assertThat(pair.here().collect(1, 50)).isEmpty();
        shared.receive(2);
        good(pair.here().one(), 1, CompletionOpcode.SEND);
        good(pair.there().one(), 2, CompletionOpcode.RECEIVE);
        Pair strict = onShared(shared, receiverNotReady(0, Duration.ofNanos(10_000)));
        strict.here().post(Work.send(3));
        failed(strict.here().one(), 3, WorkStatus.RECEIVER_NOT_READY_EXCEEDED);
    }

    @Test
    void aFullQueueHasRoomWhenAReceiveIsTaken() {
        if (missing()) {
            return;
        }
        EndSharedReceives shared = there().sharedReceives(4, 1);
        Pair pair = onShared(shared, patient());
        int depth = 0;
        while (depth < 10_000 && shared.receive(depth) == 1) {
            depth++;
        }
        assertThat(depth).isBetween(4, 9999);
        pair.here().post(Work.send(1));
        pair.here().one();
        good(pair.there().one(), 0, CompletionOpcode.RECEIVE);
        assertThat(shared.receive(100)).isEqualTo(1);
        assertThat(shared.receive(101)).isZero();
    }

    @Test
    void writeWithImmediateTakesAReceiveFromIt() {
        if (missing()) {
            return;
        }
        EndSharedReceives shared = there().sharedReceives(4, 1);
        Pair pair = onShared(shared, patient());
        EndMemory target = there().allocate(8, everything());
        EndMemory source = here().allocate(8, everything());
        shared.receive(5);
        pair.here().post(Work.writeImmediate(1, target.remote(), 9, source.piece(0, 8)));
        good(pair.here().one(), 1, CompletionOpcode.WRITE);
        good(pair.there().one(), 5, CompletionOpcode.RECEIVE_WRITE_WITH_IMMEDIATE);
    }

    @Test
    void receivesMayBeInTheCallersSegment() {
        if (missing()) {
            return;
        }
        EndSharedReceives shared = there().sharedReceives(16, 2);
        EndMemory own = there().register(1024, everything());
        EndMemory source = here().register(64, everything());
        Pair one = onShared(shared, patient());
        Pair two = onShared(shared, patient());
        for (int i = 0; i < 16; i++) {
            shared.receive(i, own.piece(i * 64L, 32), own.piece(i * 64L + 32, 32));
        }
        for (int i = 0; i < 16; i++) {
            Pair pair = i % 2 == 0 ? one : two;
            source.write(0, pattern(64, i));
            pair.here().post(Work.send(i, source.piece(0, 64)));
            good(pair.here().one(), i, CompletionOpcode.SEND);
            Outcome received = good(pair.there().one(), i, CompletionOpcode.RECEIVE);
            assertThat(own.read(received.id() * 64, 64)).isEqualTo(pattern(64, i));
        }
    }

    @Test
    void theLimitRaisesOneEvent() {
        if (missing()) {
            return;
        }
        EndSharedReceives shared = there().sharedReceives(16, 1);
        Pair pair = onShared(shared, patient());
        for (int i = 0; i < 10; i++) {
            shared.receive(i);
        }
        shared.armLimit(8);
        assertThat(shared.limit()).isEqualTo(8);
        assertThat(shared.happens(AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED, 50))
                .as("nothing was taken yet")
                .isFalse();
        send(pair, 2);
        assertThat(shared.happens(AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED, 50))
                .as("8 are left, not fewer")
                .isFalse();
        send(pair, 1);
        assertThat(shared.happens(AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED, 5000))
                .isTrue();
        assertThat(shared.limit()).as("one shot").isEqualTo(has(Deviation.REACHED_LIMIT_STAYS) ? 8 : 0);
        send(pair, 2);
        assertThat(shared.happens(AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED, 50))
                .isFalse();
        shared.armLimit(5);
        send(pair, 1);
        assertThat(shared.happens(AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED, 5000))
                .as("armed again")
                .isTrue();
    }

    private static void send(Pair pair, int count) {
        for (int i = 0; i < count; i++) {
            pair.here().post(Work.send(i));
            pair.here().one();
            pair.there().one();
        }
    }

    @Test
    void rejectsALimitBeyondItsDepth() {
        if (missing()) {
            return;
        }
        EndSharedReceives shared = here().sharedReceives(4, 1);
        assertThatThrownBy(() -> shared.armLimit(1_000_000))
                .isInstanceOfSatisfying(
                        VerbException.class,
                        rejected -> assertThat(rejected.errno()).isEqualTo(Errno.EINVAL));
    }

    private boolean cannotResize() {
        if (missing()) {
            return true;
        }
        if (can(Capability.RESIZE_SHARED_RECEIVE_QUEUE)) {
            return false;
        }
        EndSharedReceives shared = here().sharedReceives(8, 1);
        assertThatThrownBy(() -> shared.resize(16)).isInstanceOf(UnsupportedVerbException.class);
        return true;
    }

    /// The next message of `pair` takes the receive `id`, and arrives in its memory.
    private static void taken(Pair pair, EndMemory source, EndMemory target, long id) {
        source.setLong(0, 7000 + id);
        pair.here().post(Work.send(id, source.piece(0, 8)));
        good(pair.here().one(), id, CompletionOpcode.SEND);
        good(pair.there().one(), id, CompletionOpcode.RECEIVE);
        assertThat(target.getLong(id * 8)).isEqualTo(7000 + id);
    }

    @Test
    void resizingKeepsItsReceivesInOrder() {
        if (cannotResize()) {
            return;
        }
        EndSharedReceives shared = there().sharedReceives(8, 1);
        EndMemory target = there().allocate(8 * 200, everything());
        EndMemory source = here().allocate(8, everything());
        Pair one = onShared(shared, patient());
        Pair two = onShared(shared, patient());
        for (int i = 0; i < 8; i++) {
            shared.receive(i, target.piece(i * 8L, 8));
        }
        taken(one, source, target, 0);
        assertThat(shared.resize(100)).as("it grows").isGreaterThanOrEqualTo(100);
        for (int i = 8; i < 101; i++) {
            assertThat(shared.receive(i, target.piece(i * 8L, 8)))
                    .as("receive " + i)
                    .isEqualTo(1);
        }
        for (int i = 1; i < 85; i++) {
            taken(i % 2 == 0 ? one : two, source, target, i);
        }
        assertThat(shared.resize(16))
                .as("it shrinks to what is posted")
                .isGreaterThanOrEqualTo(16)
                .isLessThan(100);
        assertThat(shared.resize(150)).as("it grows again").isGreaterThanOrEqualTo(150);
        for (int i = 101; i < 200; i++) {
            assertThat(shared.receive(i, target.piece(i * 8L, 8)))
                    .as("receive " + i)
                    .isEqualTo(1);
        }
        Pair late = onShared(shared, patient());
        for (int i = 85; i < 200; i++) {
            taken(
                    switch (i % 3) {
                        case 0 -> one;
                        case 1 -> two;
                        default -> late;
                    },
                    source,
                    target,
                    i);
        }
        assertThat(shared.resize(1)).as("it is empty").isGreaterThanOrEqualTo(1);
    }

    @Test
    void aSizeBelowThePostedReceivesIsRejected() {
        if (cannotResize()) {
            return;
        }
        EndSharedReceives shared = there().sharedReceives(16, 1);
        EndMemory target = there().allocate(8 * 16, everything());
        EndMemory source = here().allocate(8, everything());
        Pair pair = onShared(shared, patient());
        for (int i = 0; i < 12; i++) {
            shared.receive(i, target.piece(i * 8L, 8));
        }
        taken(pair, source, target, 0);
        shared.armLimit(6);
        for (int bad : new int[] {10, 5, 1, 0, -1, 1 << 30}) {
            assertThatThrownBy(() -> shared.resize(bad))
                    .as("to " + bad)
                    .isInstanceOfSatisfying(
                            VerbException.class,
                            rejected -> assertThat(rejected.errno()).isEqualTo(Errno.EINVAL));
        }
        for (int i = 1; i < 12; i++) {
            taken(pair, source, target, i);
        }
        assertThat(shared.happens(AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED, 5000))
                .isTrue();
        shared.armLimit(6);
        assertThatThrownBy(() -> shared.resize(5))
                .as("its limit is armed")
                .isInstanceOfSatisfying(
                        VerbException.class,
                        rejected -> assertThat(rejected.errno()).isEqualTo(Errno.EINVAL))
                .hasMessageContaining("6");
        shared.armLimit(0);
        assertThat(shared.resize(5)).isGreaterThanOrEqualTo(5);
    }

    @Test
    void aResizedQueueStillReachesItsLimit() {
        if (cannotResize()) {
            return;
        }
        EndSharedReceives shared = there().sharedReceives(8, 1);
        Pair pair = onShared(shared, patient());
        for (int i = 0; i < 6; i++) {
            shared.receive(i);
        }
        shared.armLimit(5);
        shared.resize(64);
        assertThat(shared.limit()).as("it stays armed").isEqualTo(5);
        send(pair, 1);
        assertThat(shared.happens(AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED, 50))
                .as("5 are left")
                .isFalse();
        send(pair, 1);
        assertThat(shared.happens(AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED, 5000))
                .isTrue();
        for (int i = 6; i < 46; i++) {
            assertThat(shared.receive(i)).isEqualTo(1);
        }
        shared.armLimit(40);
        send(pair, 4);
        assertThat(shared.happens(AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED, 50))
                .as("40 are left")
                .isFalse();
        send(pair, 1);
        assertThat(shared.happens(AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED, 5000))
                .as("a limit that only the larger queue allows")
                .isTrue();
    }

    @Test
    void canBeResizedWhilePeersSend() {
        if (cannotResize()) {
            return;
        }
        int posted = 32;
        EndSharedReceives shared = here().sharedReceives(64, 1);
        EndMemory target = here().allocate(8L * posted, everything());
        EndMemory source = there().allocate(8, everything());
        EndQueue[] sources = new EndQueue[2];
        LocalQueue[] sinks = new LocalQueue[2];
        Activity[] floods = new Activity[2];
        for (int i = 0; i < posted; i++) {
            shared.receive(i, target.piece(i * 8L, 8));
        }
        for (int i = 0; i < 2; i++) {
            sources[i] = there().queue(Spec.usual());
            sinks[i] = here().queueOn(shared, Spec.usual().withCompletions(256));
            sources[i].connect(sinks[i].info(), patient());
            sinks[i].connect(sources[i].info(), patient());
            floods[i] = sources[i].flood(Work.send(0, source.piece(0, 8)), 8);
        }
        for (int round = 0; round < 100; round++) {
            shared.resize(round % 2 == 0 ? 64 << round % 5 : posted);
            int[] received = new int[1];
            Deadline.await("messages after resize " + round, () -> {
                received[0] += postAgain(shared, sinks, target);
                return received[0] >= 2 * posted;
            });
        }
        for (Activity flood : floods) {
            flood.stop();
        }
        Deadline.until(500, () -> {
            postAgain(shared, sinks, target);
            return false;
        });
        for (Activity flood : floods) {
            assertThat(flood.await(10_000).failed()).isEmpty();
        }
    }

    /// Posts each receive that has ended again.
    private static int postAgain(EndSharedReceives shared, LocalQueue[] sinks, EndMemory target) {
        int count = 0;
        for (LocalQueue sink : sinks) {
            for (Outcome outcome : sink.poll()) {
                good(outcome, outcome.id(), CompletionOpcode.RECEIVE);
                assertThat(shared.receive(outcome.id(), target.piece(outcome.id() * 8, 8)))
                        .isEqualTo(1);
                count++;
            }
        }
        return count;
    }

    @Test
    void aFailedQueuePairLeavesReceivesToTheOthers() {
        if (missing()) {
            return;
        }
        EndSharedReceives shared = there().sharedReceives(16, 1);
        Pair failing = onShared(shared, patient());
        Pair healthy = onShared(shared, patient());
        for (int i = 0; i < 4; i++) {
            shared.receive(i);
        }
        assertThat(can(Capability.LAST_WORK_EVENT))
                .isNotEqualTo(differences().missingEvents().contains(AsyncEventType.QUEUE_PAIR_LAST_WORK_REACHED));
        failing.there().modify(QueuePairState.ERROR);
        raised(failing.there(), AsyncEventType.QUEUE_PAIR_LAST_WORK_REACHED);
        assertThat(failing.there().collect(1, 50))
                .as("shared receives are not flushed")
                .isEmpty();
        for (int i = 0; i < 4; i++) {
            healthy.here().post(Work.send(i));
            good(healthy.here().one(), i, CompletionOpcode.SEND);
            good(healthy.there().one(), i, CompletionOpcode.RECEIVE);
        }
    }

    @Test
    void aSharedQueueInUseCannotBeClosed() {
        if (missing()) {
            return;
        }
        EndSharedReceives shared = here().sharedReceives(4, 1);
        LocalQueue user = here().queueOn(shared, Spec.usual());
        assertThatThrownBy(shared::close)
                .isInstanceOfSatisfying(
                        VerbException.class,
                        rejected -> assertThat(rejected.errno()).isEqualTo(Errno.EBUSY));
        user.initialize(patient());
        assertThatThrownBy(() -> user.receive(1))
                .isInstanceOfSatisfying(
                        VerbException.class,
                        rejected -> assertThat(rejected.errno()).isEqualTo(Errno.EINVAL));
        user.close();
        shared.close();
    }

    @Test
    void manySendersAtOnceUseEveryReceiveOnce() {
        if (missing()) {
            return;
        }
        int senders = 4;
        int each = Amount.onLine(500, 100);
        EndSharedReceives shared = here().sharedReceives(512, 1);
        EndMemory target = here().allocate(512 * 8, everything());
        EndMemory source = there().allocate(8, everything());
        EndQueue[] sources = new EndQueue[senders];
        LocalQueue[] sinks = new LocalQueue[senders];
        for (int i = 0; i < 512; i++) {
            shared.receive(i, target.piece(i * 8L, 8));
        }
        Activity[] floods = new Activity[senders];
        for (int i = 0; i < senders; i++) {
            sources[i] = there().queue(Spec.usual());
            // All posted receives may complete on one of them.
            sinks[i] = here().queueOn(shared, Spec.usual().withCompletions(1024));
            sources[i].connect(sinks[i].info(), patient());
            sinks[i].connect(sources[i].info(), patient());
            floods[i] = sources[i].flood(Work.send(0, source.piece(0, 8)), 8);
        }
        long[] received = new long[senders];
        Deadline.await("all messages", () -> {
            boolean all = true;
            for (int i = 0; i < senders; i++) {
                for (Outcome outcome : sinks[i].poll()) {
                    good(outcome, outcome.id(), CompletionOpcode.RECEIVE);
                    received[i]++;
                    shared.receive(outcome.id(), target.piece(outcome.id() * 8, 8));
                }
                all &= received[i] >= each;
            }
            return all;
        });
        for (var flood : floods) {
            flood.stop();
        }
        Deadline.until(300, () -> {
            for (LocalQueue sink : sinks) {
                for (Outcome outcome : sink.poll()) {
                    shared.receive(outcome.id(), target.piece(outcome.id() * 8, 8));
                }
            }
            return false;
        });
        for (var flood : floods) {
            assertThat(flood.await(10_000).failed()).isEmpty();
        }
    }
}
