package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.testing.Allocation;
import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.Deviation;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.LocalMemory;
import io.rdmacomm.tests.fixture.Piece;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.PlainRequest;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.WorkStatus;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// WRITEs and READs without a request. A device executes all good ones of a connection this way, or none. A bad one
/// has no effect, so that posting it shows what is wrong, also if the same one was good before.
class AtOnceTest extends ContractCase {
    private static final int SIZE = 4096;

    private static PlainRequest request(SendOpcode opcode, RemoteMemory remote, Piece local) {
        PlainRequest request = new PlainRequest();
        request.opcode = opcode.code();
        request.elements = 1;
        request.address = local.address();
        request.length = local.length();
        request.localKey = local.key();
        request.remoteAddress = remote.address();
        request.remoteKey = remote.key();
        return request;
    }

    private static boolean write(QueuePair queuePair, RemoteMemory to, Piece from) {
        return queuePair.executeAtOnce(new PlainRequest[] {request(SendOpcode.WRITE, to, from)}, 1) == 1;
    }

    private static boolean read(QueuePair queuePair, RemoteMemory from, Piece into) {
        return queuePair.executeAtOnce(new PlainRequest[] {request(SendOpcode.READ, from, into)}, 1) == 1;
    }

    /// A connection, and an operation on it that was good: tells whether the device executed it at once.
    private final class Connection {
        final Pair pair;
        final QueuePair queuePair;
        final LocalMemory local = here().allocate(SIZE, everything());
        final EndMemory remote;
        final boolean atOnce;

        Connection(Set<AccessFlag> rights) {
            pair = connected();
            queuePair = pair.here().queuePair();
            remote = there().allocate(SIZE, rights);
            // The first request lets a device look for its peer.
            pair.there().receive(2);
            pair.here().post(Work.send(1));
            good(pair.here().one(), 1, CompletionOpcode.SEND);
            good(pair.there().one(), 2, CompletionOpcode.RECEIVE);
            atOnce = write(queuePair, remote.remote(), local.piece(0, 64));
        }

        Connection() {
            this(everything());
        }

        /// The operation has no effect at once, and the peer rejects it as a request.
        void rejectsWrite(RemoteMemory to, Piece from, WorkStatus status) {
            byte[] before = remote.read(0, SIZE);
            assertThat(write(queuePair, to, from)).isFalse();
            assertThat(remote.read(0, SIZE)).isEqualTo(before);
            rejected(pair.here(), Work.write(9, to, from), status);
        }
    }

    @Test
    void movesBytesOfAnyLengthWithoutACompletion() {
        Connection to = new Connection();
        assertThat(read(to.queuePair, to.remote.remote(), to.local.piece(0, 8)))
                .as("READs like WRITEs")
                .isEqualTo(to.atOnce);
        if (!to.atOnce) {
            return;
        }
        for (int length : new int[] {1, 7, 8, 9, 16, 40, 1000, SIZE / 2}) {
            to.local.write(0, pattern(SIZE / 2, length));
            to.remote.fill(0);
            assertThat(write(to.queuePair, to.remote.remote().slice(3, length), to.local.piece(0, length)))
                    .isTrue();
            assertThat(to.remote.read(3, length)).isEqualTo(pattern(length, length));
            assertThat(to.remote.read(3 + length, 100)).containsOnly(0);
            assertThat(read(to.queuePair, to.remote.remote().slice(3, length), to.local.piece(SIZE / 2, length)))
                    .isTrue();
            assertThat(to.local.read(SIZE / 2, length)).isEqualTo(pattern(length, length));
        }
        assertThat(write(to.queuePair, to.remote.remote(), to.local.piece(0, 0)))
                .as("nothing to write")
                .isFalse();
        assertThat(to.pair.here().poll()).isEmpty();
    }

    @Test
    void takesNoSlotOfTheQueue() {
        Pair pair = connected(Spec.usual().withDepth(1, 1));
        LocalMemory local = here().allocate(64, everything());
        EndMemory remote = there().allocate(64, everything());
        QueuePair queuePair = pair.here().queuePair();
        for (int i = 0; i < Amount.onLine(1000, 20); i++) {
            pair.here().post(Work.write(i, remote.remote(), local.piece(0, 8)));
            good(pair.here().one(), i, CompletionOpcode.WRITE);
            local.setLong(0, i);
            if (write(queuePair, remote.remote(), local.piece(0, 8))) {
                assertThat(remote.getLong(0)).isEqualTo(i);
            }
        }
        assertThat(pair.here().poll()).isEmpty();
    }

    @Test
    void nothingIsExecutedBeforeARequestThatWaits() {
        if (has(Deviation.NO_RECEIVE_ENDS_THE_CONNECTION)) {
            // Then no request waits for one.
            return;
        }
        ConnectionOptions waits = receiverNotReady(7, Duration.ofMillis(1));
        Pair pair = pair(Spec.usual()).connect(waits);
        LocalMemory local = here().allocate(64, everything());
        EndMemory remote = there().allocate(64, everything());
        QueuePair queuePair = pair.here().queuePair();
        pair.here().post(Work.send(1));
        for (int i = 0; i < 100; i++) {
            assertThat(write(queuePair, remote.remote(), local.piece(0, 8))).isFalse();
        }
        pair.there().receive(2);
        good(pair.here().one(), 1, CompletionOpcode.SEND);
        good(pair.there().one(), 2, CompletionOpcode.RECEIVE);
        pair.here().post(Work.write(3, remote.remote(), local.piece(0, 8)));
        good(pair.here().one(), 3, CompletionOpcode.WRITE);
    }

    @Test
    void memoryOfThisSideThatWasClosedIsNotRead() {
        Connection to = new Connection();
        Piece piece = to.local.piece(0, 64);
        to.local.close();
        assertThat(write(to.queuePair, to.remote.remote(), piece)).isFalse();
        to.pair.here().post(Work.write(9, to.remote.remote(), piece));
        assertThat(to.pair.here().one().status()).isNotEqualTo(WorkStatus.SUCCESS);
    }

    @Test
    void memoryOfThisSideThatMustNotBeWrittenIsNot() {
        Connection to = new Connection();
        LocalMemory constant = here().allocate(64, Set.of());
        constant.fill(0x11);
        assertThat(write(to.queuePair, to.remote.remote(), constant.piece(0, 64)))
                .isEqualTo(to.atOnce);
        assertThat(read(to.queuePair, to.remote.remote(), constant.piece(0, 64)))
                .isFalse();
        assertThat(write(to.queuePair, to.remote.remote(), constant.piece(1, 64)))
                .as("beyond the end")
                .isFalse();
        assertThat(constant.read(0, 64)).containsOnly(0x11);
    }

    @Test
    void aKeyThatWasClosedIsRejected() {
        Connection to = new Connection();
        RemoteMemory closed = to.remote.remote();
        to.remote.close();
        assertThat(write(to.queuePair, closed, to.local.piece(0, 64))).isFalse();
        rejected(to.pair.here(), Work.write(9, closed, to.local.piece(0, 64)), WorkStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void rightsThatHaveChangedCount() {
        Connection to = new Connection();
        if (!can(there(), Capability.REREGISTER_MEMORY)) {
            return;
        }
        to.remote.reregister(Set.of(AccessFlag.REMOTE_READ));
        assertThat(read(to.queuePair, to.remote.remote(), to.local.piece(0, 64)))
                .isEqualTo(to.atOnce);
        to.rejectsWrite(to.remote.remote(), to.local.piece(0, 64), WorkStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void aRightThatTheKeyLacksIsMissed() {
        Connection to = new Connection(Set.of(AccessFlag.REMOTE_READ));
        assertThat(to.atOnce).isFalse();
        to.rejectsWrite(to.remote.remote(), to.local.piece(0, 64), WorkStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void aRangeBeyondTheEndIsRejected() {
        Connection to = new Connection();
        to.rejectsWrite(
                new RemoteMemory(
                        to.remote.address() + SIZE - 63, 64, to.remote.remote().key()),
                to.local.piece(0, 64),
                WorkStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void theSameAddressesOfOtherMemoryAreOtherMemory() {
        Connection to = new Connection();
        for (int round = 0; round < 20; round++) {
            EndMemory other = there().allocate(SIZE, everything());
            LocalMemory source = here().allocate(SIZE, everything());
            source.fill(round);
            assertThat(write(to.queuePair, other.remote(), source.piece(0, 64))).isEqualTo(to.atOnce);
            if (to.atOnce) {
                assertThat(other.read(0, 64)).containsOnly(round);
            }
            other.close();
            source.close();
        }
    }

    @Test
    void alternatesBetweenBuffers() {
        Connection to = new Connection();
        EndMemory other = there().allocate(SIZE, everything());
        for (int i = 0; i < 100 && to.atOnce; i++) {
            EndMemory target = i % 2 == 0 ? to.remote : other;
            to.local.setLong(0, i);
            assertThat(write(to.queuePair, target.remote(), to.local.piece(0, 8)))
                    .isTrue();
            assertThat(target.getLong(0)).isEqualTo(i);
        }
    }

    @Test
    void aQueuePairThatHasLeftReadyToSendExecutesNothing() {
        for (QueuePairState state : new QueuePairState[] {QueuePairState.ERROR, QueuePairState.RESET}) {
            Connection to = new Connection();
            to.pair.here().modify(state);
            assertThat(write(to.queuePair, to.remote.remote(), to.local.piece(0, 64)))
                    .isFalse();
            to.queuePair.close();
            assertThat(write(to.queuePair, to.remote.remote(), to.local.piece(0, 64)))
                    .isFalse();
        }
    }

    @Test
    void aPeerThatWasResetOrHasFailedIsNotWrittenTo() {
        for (QueuePairState state : new QueuePairState[] {QueuePairState.ERROR, QueuePairState.RESET}) {
            Connection to = new Connection();
            to.remote.fill(0x55);
            to.pair.there().modify(state);
            assertThat(write(to.queuePair, to.remote.remote(), to.local.piece(0, 64)))
                    .isFalse();
            assertThat(to.remote.read(0, 64)).containsOnly(0x55);
        }
    }

    @Test
    void aQueuePairThatSignalsAllRequestsPostsThem() {
        Pair pair = connected(Spec.usual().withSignalAll());
        LocalMemory local = here().allocate(64, everything());
        EndMemory remote = there().allocate(64, everything());
        pair.here().post(Work.write(1, remote.remote(), local.piece(0, 8)));
        good(pair.here().one(), 1, CompletionOpcode.WRITE);
        assertThat(write(pair.here().queuePair(), remote.remote(), local.piece(0, 8)))
                .isFalse();
    }

    @Test
    void anUnreliableConnectionReadsNothing() {
        if (!can(Capability.UNRELIABLE_CONNECTED)) {
            return;
        }
        Pair pair = connected(Spec.usual().withType(QueuePairType.UNRELIABLE_CONNECTED));
        LocalMemory local = here().allocate(64, everything());
        EndMemory remote = there().allocate(64, everything());
        pair.here().post(Work.write(1, remote.remote(), local.piece(0, 8)));
        good(pair.here().one(), 1, CompletionOpcode.WRITE);
        assertThat(read(pair.here().queuePair(), remote.remote(), local.piece(0, 8)))
                .isFalse();
    }

    @Test
    void allocatesNothing() {
        Connection to = new Connection();
        RemoteMemory remote = to.remote.remote();
        PlainRequest[] requests = {
            request(SendOpcode.WRITE, remote, to.local.piece(0, 8)),
            request(SendOpcode.READ, remote, to.local.piece(0, 8))
        };
        Allocation.assertNone("a WRITE and a READ at once", () -> {
            for (int i = 0; i < 20_000; i++) {
                if (to.queuePair.executeAtOnce(requests, 2) != (to.atOnce ? 2 : 0)) {
                    throw new AssertionError("sometimes at once");
                }
            }
        });
    }

    /// The caller posts the rest, beginning with the bad one.
    @Test
    void executesTheRequestsBeforeABadOne() {
        Connection to = new Connection();
        RemoteMemory remote = to.remote.remote();
        to.local.write(0, pattern(24, 1));
        PlainRequest[] requests = new PlainRequest[3];
        for (int i = 0; i < 3; i++) {
            requests[i] = request(SendOpcode.WRITE, remote.slice(8L * i, 8), to.local.piece(8L * i, 8));
        }
        requests[1].remoteKey ^= 1;
        to.remote.fill(0);
        assertThat(to.queuePair.executeAtOnce(requests, 3)).isEqualTo(to.atOnce ? 1 : 0);
        if (to.atOnce) {
            assertThat(to.remote.read(0, 8)).isEqualTo(pattern(24, 1, 0, 8));
        }
        assertThat(to.remote.read(8, 16)).containsOnly(0);
    }

    private static byte[] pattern(int length, int seed, int from, int to) {
        return Arrays.copyOfRange(pattern(length, seed), from, to);
    }
}
