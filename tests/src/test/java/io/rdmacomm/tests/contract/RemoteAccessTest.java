package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.Deviation;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.EndQueue;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.tests.fixture.Piece;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Forbidden access to the memory of this side: the status on both sides, and that nothing was changed.
class RemoteAccessTest extends ContractCase {
    private static final int SIZE = 4096;
    /// More than a short READ, which may not cross a page on every device.
    private static final int MORE = 64;

    /// A one-sided operation.
    enum Operation {
        WRITE(AccessFlag.REMOTE_WRITE),
        READ(AccessFlag.REMOTE_READ),
        WRITE_WITH_IMMEDIATE(AccessFlag.REMOTE_WRITE),
        COMPARE_AND_SWAP(AccessFlag.REMOTE_ATOMIC),
        FETCH_AND_ADD(AccessFlag.REMOTE_ATOMIC);

        final AccessFlag right;

        Operation(AccessFlag right) {
            this.right = right;
        }

        Work on(long id, RemoteMemory memory, Piece piece) {
            return switch (this) {
                case WRITE -> Work.write(id, memory, piece);
                case READ -> Work.read(id, memory, piece);
                case WRITE_WITH_IMMEDIATE -> Work.writeImmediate(id, memory, 5, piece);
                case COMPARE_AND_SWAP -> Work.compareAndSwap(id, memory, 0x5555555555555555L, 1, piece);
                case FETCH_AND_ADD -> Work.fetchAndAdd(id, memory, 1, piece);
            };
        }
    }

    private void rejected(Operation operation, Pair pair, RemoteMemory memory, EndMemory untouched, WorkStatus status) {
        rejected(operation, 8, pair, memory, untouched, status);
    }

    private void rejected(
            Operation operation, int bytes, Pair pair, RemoteMemory memory, EndMemory untouched, WorkStatus status) {
        EndMemory local = here().allocate(MORE, everything());
        local.fill(0x11);
        untouched.fill(0x55);
        boolean withReceive = operation == Operation.WRITE_WITH_IMMEDIATE;
        if (withReceive) {
            pair.there().receive(50);
        }
        pair.there().receive(51);
        pair.here().receive(60);

        pair.here()
                .post(
                        operation.on(1, memory, local.piece(0, bytes)),
                        Work.send(2).silent());

        if (has(Deviation.REFUSAL_ENDS_THE_CONNECTION)) {
            connectionEnded(operation, pair);
        } else {
            List<Outcome> mine = pair.here().drain(3);
            failed(mine.get(0), 1, status);
            flushed(mine.subList(1, 3), List.of(2L), List.of(60L));
            List<Outcome> theirs = pair.there().drain(withReceive ? 2 : 1);
            if (withReceive && status == WorkStatus.REMOTE_ACCESS_ERROR) {
                assertThat(theirs.getFirst().id()).isEqualTo(50);
                assertThat(differences(pair.there()).badTargetHere())
                        .contains(theirs.getFirst().status());
            }
            failed(theirs.getLast(), 51, WorkStatus.FLUSHED);
        }
        pair.here().awaitState(QueuePairState.ERROR);
        pair.there().awaitState(QueuePairState.ERROR);
        boolean meetsMemory =
                memory.key() == untouched.remote().key() && Long.compareUnsigned(memory.address(), -8) < 0;
        if (operation == Operation.READ && has(pair.there(), Deviation.EVENTS_OF_REFUSALS_DIFFER)) {
            raised(pair.there(), AsyncEventType.QUEUE_PAIR_REQUEST_ERROR);
        } else if (meetsMemory || !has(pair.there(), Deviation.EVENTS_OF_REFUSALS_DIFFER)) {
            raised(
                    pair.there(),
                    status == WorkStatus.REMOTE_ACCESS_ERROR
                            ? AsyncEventType.QUEUE_PAIR_ACCESS_ERROR
                            : AsyncEventType.QUEUE_PAIR_REQUEST_ERROR);
        }
        assertThat(untouched.read(0, SIZE)).containsOnly(0x55);
        assertThat(local.read(0, 64)).containsOnly(0x11);
    }

    /// The peer has rejected request 1, and both ends learn that the connection has ended.
    private void connectionEnded(Operation operation, Pair pair) {
        List<Outcome> mine = pair.here().until(1L, 60L);
        assertThat(mine).extracting(Outcome::id).doesNotHaveDuplicates();
        for (Outcome outcome : mine) {
            if (outcome.id() == 60) {
                failed(outcome, 60, WorkStatus.FLUSHED);
            } else if (outcome.id() == 1 && operation != Operation.READ && outcome.status() == WorkStatus.SUCCESS) {
                good(outcome, 1, CompletionOpcode.WRITE);
            } else {
                assertThat(refusal(WorkStatus.REMOTE_ACCESS_ERROR)).contains(outcome.status());
            }
        }
        Outcome theirs = pair.there().one();
        assertThat(theirs.id()).isEqualTo(51);
        // A READ is rejected when its response is created; later requests may have arrived by then.
        assertThat(theirs.status())
                .isIn(
                        operation == Operation.READ
                                ? Set.of(WorkStatus.SUCCESS, WorkStatus.FLUSHED)
                                : Set.of(WorkStatus.FLUSHED));
    }

    private EndMemory target(Set<AccessFlag> rights) {
        return there().allocate(SIZE, rights);
    }

    @ParameterizedTest
    @EnumSource
    void rejectsAnUnknownKey(Operation operation) {
        EndMemory memory = target(everything());
        RemoteMemory remote = memory.remote();
        for (int wrong : new int[] {remote.key() + 1, remote.key() ^ 0x10000, 0, -1}) {
            RemoteMemory forged = new RemoteMemory(remote.address(), SIZE, wrong);
            rejected(operation, connected(), forged, memory, WorkStatus.REMOTE_ACCESS_ERROR);
        }
    }

    @ParameterizedTest
    @EnumSource
    void rejectsTheKeyOfAClosedRegion(Operation operation) {
        EndMemory gone = target(everything());
        RemoteMemory stale = gone.remote();
        gone.close();
        // A new region may have the same address, but not the same key.
        EndMemory next = target(everything());
        assertThat(next.remote().key()).isNotEqualTo(stale.key());
        rejected(operation, connected(), stale, next, WorkStatus.REMOTE_ACCESS_ERROR);
    }

    @ParameterizedTest
    @EnumSource
    void rejectsAnAddressOutOfBounds(Operation operation) {
        EndMemory memory = target(everything());
        RemoteMemory remote = memory.remote();
        long begin = remote.address();
        for (long at : new long[] {begin - 8, begin + SIZE, begin + SIZE + 4096, 0, -8, Long.MAX_VALUE - 7}) {
            RemoteMemory outside = new RemoteMemory(at, 8, remote.key());
            rejected(operation, connected(), outside, memory, WorkStatus.REMOTE_ACCESS_ERROR);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"WRITE", "READ", "WRITE_WITH_IMMEDIATE"})
    void rejectsARangeThatCrossesABound(Operation operation) {
        EndMemory memory = target(everything());
        RemoteMemory remote = memory.remote();
        for (long at : new long[] {remote.address() - 1, remote.address() + SIZE - MORE + 1, -4}) {
            RemoteMemory across = new RemoteMemory(at, MORE, remote.key());
            rejected(operation, MORE, connected(), across, memory, WorkStatus.REMOTE_ACCESS_ERROR);
        }
    }

    @Test
    void rejectsATransferLongerThanTheRegion() {
        EndMemory memory = target(everything());
        EndMemory local = here().allocate(SIZE + 1, everything());
        memory.fill(0x55);
        Pair pair = connected();
        rejected(pair.here(), Work.write(1, memory.remote(), local.piece(0, SIZE + 1)), WorkStatus.REMOTE_ACCESS_ERROR);
        assertThat(memory.read(0, SIZE)).containsOnly(0x55);
    }

    @ParameterizedTest
    @EnumSource
    void rejectsARegionOfAnotherProtectionDomain(Operation operation) {
        EndMemory memory = there().allocateInOtherDomain(SIZE, everything());
        rejected(operation, connected(), memory.remote(), memory, WorkStatus.REMOTE_ACCESS_ERROR);
    }

    @ParameterizedTest
    @EnumSource
    void rejectsARegionWithoutTheRight(Operation operation) {
        Set<AccessFlag> rights = EnumSet.copyOf(AccessFlag.allRemote());
        rights.remove(operation.right);
        EndMemory memory = target(rights);
        if (operation == Operation.READ && has(memory, Deviation.READ_NEEDS_NO_RIGHT)) {
            carriedOut(operation, connected(), memory);
            return;
        }
        rejected(operation, connected(), memory.remote(), memory, WorkStatus.REMOTE_ACCESS_ERROR);
        EndMemory own = there().register(SIZE, rights);
        rejected(operation, connected(), own.remote(), own, WorkStatus.REMOTE_ACCESS_ERROR);
    }

    @ParameterizedTest
    @EnumSource
    void rejectsARequestThatTheQueuePairForbids(Operation operation) {
        Set<AccessFlag> rights = EnumSet.copyOf(AccessFlag.allRemote());
        rights.remove(operation.right);
        EndMemory memory = target(everything());
        Pair pair = pair(Spec.usual()).connect(patient(), patient().withAccessFlags(rights));
        if (has(pair.there(), Deviation.RIGHTS_OF_A_QUEUE_PAIR_DO_NOT_COUNT)) {
            carriedOut(operation, pair, memory);
            return;
        }
        rejected(operation, pair, memory.remote(), memory, WorkStatus.REMOTE_INVALID_REQUEST);
    }

    private void carriedOut(Operation operation, Pair pair, EndMemory memory) {
        EndMemory local = here().allocate(8, everything());
        pair.here().post(operation.on(1, memory.remote(), local.piece(0, 8)));
        assertThat(pair.here().one().status()).isEqualTo(WorkStatus.SUCCESS);
    }

    @ParameterizedTest
    @EnumSource(names = {"COMPARE_AND_SWAP", "FETCH_AND_ADD"})
    void rejectsAMisalignedAtomic(Operation operation) {
        EndMemory memory = target(everything());
        boolean taken = !has(Deviation.MISALIGNED_ATOMIC_IS_NOT_TAKEN);
        for (int offset : new int[] {1, 4, 7}) {
            if (!taken) {
                EndMemory local = here().allocate(8, everything());
                Work misaligned = operation.on(1, memory.remote().slice(offset, 8), local.piece(0, 8));
                assertThatThrownBy(() -> connected().here().post(misaligned))
                        .isInstanceOfSatisfying(
                                VerbException.class,
                                rejected -> assertThat(rejected.errno()).isEqualTo(Errno.EINVAL));
                continue;
            }
            rejected(
                    operation,
                    connected(),
                    memory.remote().slice(offset, 8),
                    memory,
                    WorkStatus.REMOTE_INVALID_REQUEST);
        }
    }

    @ParameterizedTest
    @EnumSource
    void theRequiredRightIsSufficient(Operation operation) {
        Set<AccessFlag> rights = EnumSet.of(operation.right, AccessFlag.LOCAL_WRITE);
        EndMemory memory = target(rights);
        Pair pair = pair(Spec.usual())
                .connect(patient().withAccessFlags(Set.of()), patient().withAccessFlags(rights));
        EndMemory local = here().allocate(8, Set.of(AccessFlag.LOCAL_WRITE));
        pair.there().receive(2);
        pair.here().post(operation.on(1, memory.remote(), local.piece(0, 8)));
        assertThat(pair.here().one().status()).isEqualTo(WorkStatus.SUCCESS);
    }

    @Test
    void theSameMemoryCanBeRegisteredTwiceWithDifferentRights() {
        EndQueue peer = connected().there();
        var memory = here().arena().allocate(64, 64);
        var readable = here().domain().register(memory, Set.of(AccessFlag.REMOTE_READ));
        var writable = here().domain().register(memory, Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE));
        EndMemory local = there().allocate(8, everything());
        peer.post(Work.write(1, writable.remote(), local.piece(0, 8)));
        good(peer.one(), 1, CompletionOpcode.WRITE);
        peer.post(Work.read(2, readable.remote(), local.piece(0, 8)));
        good(peer.one(), 2, CompletionOpcode.READ);
        rejected(peer, Work.write(3, readable.remote(), local.piece(0, 8)), WorkStatus.REMOTE_ACCESS_ERROR);
    }
}
