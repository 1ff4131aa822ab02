package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.Deviation;
import io.rdmacomm.tests.fixture.Differences;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.tests.fixture.Piece;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.WorkStatus;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// Requests with invalid local memory, and receives with invalid memory.
class LocalProtectionTest extends ContractCase {
    private static final Set<AccessFlag> READ_ONLY = Set.of();

    /// A request with an invalid local element fails, and the peer notices nothing.
    private void localFailure(Work bad, EndMemory remote) {
        remote.fill(0x55);
        Pair pair = connected();
        pair.there().receive(50);
        pair.here().receive(60);
        pair.here().post(bad.numbered(1), Work.send(2));
        List<Outcome> mine = pair.here().drain(3);
        if (has(Deviation.LOCAL_FAILURE_ENDS_THE_CONNECTION)) {
            connectionEnded(pair, mine);
        } else {
            assertThat(mine.getFirst().id()).isEqualTo(1);
            assertThat(differences().badSource()).contains(mine.getFirst().status());
            flushed(mine.subList(1, 3), List.of(2L), List.of(60L));
            pair.here().awaitState(QueuePairState.ERROR);
            List<Outcome> theirs = pair.there().poll();
            if (isAnswered(bad) && has(Deviation.LATER_REQUESTS_ARE_NOT_HELD_BACK)) {
                theirs.forEach(outcome -> good(outcome, 50, CompletionOpcode.RECEIVE));
            } else {
                assertThat(theirs).isEmpty();
            }
            assertThat(pair.there().state()).isEqualTo(QueuePairState.READY_TO_SEND);
        }
        if (bad.opcode() == SendOpcode.FETCH_AND_ADD && has(Deviation.ATOMIC_WITHOUT_A_PLACE_IS_CARRIED_OUT)) {
            assertThat(remote.getLong(0)).isEqualTo(0x5555555555555555L + bad.first());
        } else {
            assertThat(remote.read(0, 64)).containsOnly(0x55);
        }
    }

    /// Returns whether its memory is for what the peer answers.
    private static boolean isAnswered(Work work) {
        return work.opcode() != SendOpcode.SEND && work.opcode() != SendOpcode.WRITE;
    }

    /// Request 1 has failed, and waiting requests of both ends were flushed.
    private void connectionEnded(Pair pair, List<Outcome> mine) {
        assertThat(mine).extracting(Outcome::id).containsExactlyInAnyOrder(1L, 2L, 60L);
        for (Outcome outcome : mine) {
            if (outcome.id() == 1) {
                assertThat(differences().badSource()).contains(outcome.status());
            } else if (outcome.id() == 60) {
                failed(outcome, 60, WorkStatus.FLUSHED);
            }
        }
        pair.here().awaitState(QueuePairState.ERROR);
        Outcome theirs = pair.there().one();
        assertThat(theirs.id()).isEqualTo(50);
        assertThat(theirs.status()).isIn(WorkStatus.SUCCESS, WorkStatus.FLUSHED);
    }

    private List<Piece> badPieces() {
        EndMemory memory = here().allocate(64, everything());
        EndMemory foreign = here().allocateInOtherDomain(64, everything());
        EndMemory closed = here().allocate(64, everything());
        Piece stale = closed.piece(0, 8);
        closed.close();
        return List.of(
                new Piece(memory.address(), 8, memory.localKey() ^ 0x7777),
                new Piece(memory.address(), 8, 0),
                new Piece(memory.address() - 8, 8, memory.localKey()),
                new Piece(memory.address() + 60, 8, memory.localKey()),
                new Piece(memory.address(), 65, memory.localKey()),
                new Piece(-4, 8, memory.localKey()),
                new Piece(memory.address(), 0xffff_ffffL, memory.localKey()),
                foreign.piece(0, 8),
                stale);
    }

    @Test
    void aBadSourceFailsTheSend() {
        EndMemory remote = there().allocate(64, everything());
        for (Piece bad : badPieces()) {
            localFailure(Work.send(0, bad), remote);
        }
    }

    @Test
    void aBadSourceFailsTheWrite() {
        EndMemory remote = there().allocate(64, everything());
        for (Piece bad : badPieces()) {
            localFailure(Work.write(0, remote.remote(), bad), remote);
        }
    }

    @Test
    void aBadSinkFailsTheRead() {
        EndMemory remote = there().allocate(64, everything());
        EndMemory readOnly = here().allocate(64, READ_ONLY);
        for (Piece bad : badPieces()) {
            if (bad.length() <= 64) {
                localFailure(Work.read(0, remote.remote(), bad), remote);
            }
        }
        localFailure(Work.read(0, remote.remote(), readOnly.piece(0, 8)), remote);
    }

    @Test
    void aBadResultElementFailsTheAtomic() {
        EndMemory remote = there().allocate(64, everything());
        EndMemory readOnly = here().allocate(64, READ_ONLY);
        localFailure(Work.fetchAndAdd(0, remote.remote(), 1, readOnly.piece(0, 8)), remote);
        localFailure(Work.compareAndSwap(0, remote.remote(), 0, 1, readOnly.piece(0, 8)), remote);
        localFailure(Work.fetchAndAdd(0, remote.remote(), 1, badPieces().getFirst()), remote);
    }

    @Test
    void checksEveryElement() {
        EndMemory remote = there().allocate(64, everything());
        EndMemory memory = here().allocate(64, everything());
        Piece bad = new Piece(memory.address() + 64, 1, memory.localKey());
        remote.fill(0x55);
        Pair pair = connected();
        pair.here().post(Work.write(1, remote.remote(), memory.piece(0, 8), bad));
        Outcome failure = pair.here().one();
        assertThat(failure.id()).isEqualTo(1);
        assertThat(differences().badSource()).contains(failure.status());
    }

    @Test
    void aSourceNeedsNoAccessRights() {
        Pair pair = connected();
        EndMemory readOnly = here().allocate(8, READ_ONLY);
        EndMemory remote = there().allocate(8, everything());
        pair.there().receive(1, remote.piece(0, 8));
        pair.here().post(Work.send(2, readOnly.piece(0, 8)), Work.write(3, remote.remote(), readOnly.piece(0, 8)));
        good(pair.here().one(), 2, CompletionOpcode.SEND);
        good(pair.here().one(), 3, CompletionOpcode.WRITE);
    }

    /// A SEND that meets an invalid receive fails on both sides.
    private void receiveFailure(Pair pair, EndMemory source, Set<WorkStatus> receiver, Set<WorkStatus> sender) {
        pair.there().receive(51);
        pair.here().post(Work.send(1, source.piece(0, 16)), Work.send(2));
        List<Outcome> mine = pair.here().drain(2);
        assertThat(mine.getFirst().id()).isEqualTo(1);
        assertThat(sender).contains(mine.getFirst().status());
        assertThat(mine.getLast().id()).isEqualTo(2);
        assertThat(mine.getLast().status())
                .isIn(has(Deviation.REFUSAL_ENDS_THE_CONNECTION) ? sender : Set.of(WorkStatus.FLUSHED));
        List<Outcome> theirs = pair.there().drain(2);
        assertThat(theirs.getFirst().id()).isEqualTo(50);
        assertThat(receiver).contains(theirs.getFirst().status());
        failed(theirs.getLast(), 51, WorkStatus.FLUSHED);
        pair.here().awaitState(QueuePairState.ERROR);
        pair.there().awaitState(QueuePairState.ERROR);
    }

    @Test
    void aReceiveThatIsTooShortFailsBothSides() {
        EndMemory source = here().allocate(64, everything());
        EndMemory target = there().allocate(64, everything());
        target.fill(0x55);
        for (int length : new int[] {15, 1, 0}) {
            Pair pair = connected();
            pair.there().receive(50, target.piece(0, length));
            Differences differences = differences(pair.there());
            receiveFailure(pair, source, differences.shortReceiveHere(), differences.shortReceiveThere());
            assertThat(target.read(15, 49)).containsOnly(0x55);
        }
    }

    @Test
    void aReceiveWithABadElementFailsBothSides() {
        EndMemory source = here().allocate(64, everything());
        EndMemory readOnly = there().allocate(64, READ_ONLY);
        EndMemory foreign = there().allocateInOtherDomain(64, everything());
        EndMemory small = there().allocate(64, everything());
        EndMemory closed = there().allocate(64, everything());
        Piece stale = closed.piece(0, 16);
        closed.close();
        readOnly.fill(0x55);
        for (Piece bad : List.of(
                readOnly.piece(0, 16),
                foreign.piece(0, 16),
                stale,
                new Piece(small.address() + 60, 16, small.localKey()),
                new Piece(small.address(), 16, 0x1234567))) {
            Pair pair = connected();
            pair.there().receive(50, bad);
            Differences differences = differences(pair.there());
            receiveFailure(pair, source, differences.badReceiveHere(), differences.badReceiveKeyThere());
        }
        assertThat(readOnly.read(0, 64)).containsOnly(0x55);
    }

    @Test
    void closingTheRegionOfAPostedReceiveFailsItWhenAMessageArrives() {
        EndMemory source = here().allocate(64, everything());
        EndMemory target = there().allocate(64, everything());
        Pair pair = connected();
        pair.there().receive(50, target.piece(0, 16));
        target.close();
        if (has(pair.there(), Deviation.SHORT_MESSAGES_NEED_NO_REGION)) {
            pair.here().post(Work.send(1, source.piece(0, 16)));
            good(pair.here().one(), 1, CompletionOpcode.SEND);
            good(pair.there().one(), 50, CompletionOpcode.RECEIVE);
            return;
        }
        Differences differences = differences(pair.there());
        receiveFailure(pair, source, differences.badReceiveHere(), differences.badReceiveKeyThere());
    }
}
