package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.Deviation;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.EndQueue;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.tests.fixture.Piece;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueuePairStateException;
import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// Common mistakes of newcomers to RDMA, one case per entry in the notes of the original. Each case demonstrates the
/// correct rule on the device.
class PitfallsTest extends ContractCase {
    @Test
    void aReadCompletesAsAReadAndAWriteAsAWriteBecauseOperationsAreTyped() {
        Pair pair = connected();
        EndMemory source = here().allocate(8, everything());
        EndMemory target = there().allocate(8, everything());
        pair.here().post(Work.read(1, target.remote(), source.piece(0, 8)));
        good(pair.here().one(), 1, CompletionOpcode.READ);
        pair.here().post(Work.write(2, target.remote(), source.piece(0, 8)));
        good(pair.here().one(), 2, CompletionOpcode.WRITE);
    }

    @Test
    void aQueuePairOfDefaultOptionsIsComplete() {
        var queue = here().context().createCompletionQueue(CompletionQueueOptions.ofCapacity(16));
        var pair = here().domain().createQueuePair(QueuePairOptions.reliable(queue));
        assertThat(pair.state()).isEqualTo(QueuePairState.RESET);
        assertThat(pair.sizes().sends()).isGreaterThanOrEqualTo(128);
        assertThat(pair.sizes().receives()).isGreaterThanOrEqualTo(128);
        assertThat(pair.sizes().inlineBytes()).isGreaterThanOrEqualTo(64);
    }

    @Test
    void aSendWithoutAReceiveIsNeverReportedAsDone() {
        Pair pair = connected(receiverNotReady(1, Duration.ofNanos(10_000)));
        if (has(Deviation.NO_RECEIVE_ENDS_THE_CONNECTION)) {
            // There a SEND is done when it is sent, but the next request fails.
            pair.here().receive(2);
            pair.here().post(Work.send(1));
            failed(pair.here().until(1L, 2L).getLast(), 2, WorkStatus.FLUSHED);
            return;
        }
        pair.here().post(Work.send(1));
        failed(pair.here().one(), 1, WorkStatus.RECEIVER_NOT_READY_EXCEEDED);
    }

    @Test
    void receivesMayBePostedBeforeConnectingAndSendsMayNot() {
        LocalQueue queue = here().queue(Spec.usual());
        queue.initialize(patient());
        assertThat(queue.receive(1)).isEqualTo(1);
        assertThatThrownBy(() -> queue.post(Work.send(2)))
                .isInstanceOf(QueuePairStateException.class)
                .hasMessageContaining("INIT");
    }

    @Test
    void rejectsMemoryOnTheJavaHeapWithAHint() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> here().domain().register(MemorySegment.ofArray(new byte[64]), Set.of()))
                .withMessageContaining("Arena");
    }

    @Test
    void messagesNeedLocalWriteAndOneSidedAccessNeedsRemoteRights() {
        Pair pair = connected();
        EndMemory metadata = there().allocate(16, Set.of(AccessFlag.LOCAL_WRITE));
        EndMemory source = here().allocate(16, Set.of());
        pair.there().receive(1, metadata.piece(0, 16));
        pair.here().post(Work.send(2, source.piece(0, 16)));
        good(pair.there().one(), 1, CompletionOpcode.RECEIVE);
        good(pair.here().one(), 2, CompletionOpcode.SEND);
        rejected(pair.here(), Work.write(3, metadata.remote(), source.piece(0, 16)), WorkStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void armingRaisesOneEventAndPollingAfterwardsLosesNothing() {
        Pair pair = connected();
        pair.here().receive(1);
        pair.here().receive(2);
        pair.here().arm();
        pair.there().post(Work.send(3));
        assertThat(pair.here().awaitEvent(10_000)).isTrue();
        pair.there().post(Work.send(4));
        pair.there().drain(2);
        // There is no event for the second, but polling after arming finds it.
        pair.here().arm();
        assertThat(pair.here().drain(2)).extracting(Outcome::id).containsExactly(1L, 2L);
    }

    @Test
    void aSendsElementsAreReadAndAReceivesElementsAreFilled() {
        Pair pair = connected();
        EndMemory source = here().allocate(8, everything());
        EndMemory target = there().allocate(8, everything());
        source.setLong(0, 1);
        target.setLong(0, 2);
        pair.there().receive(1, target.piece(0, 8));
        pair.here().post(Work.send(2, source.piece(0, 8)));
        pair.here().one();
        pair.there().one();
        assertThat(source.getLong(0)).isEqualTo(1);
        assertThat(target.getLong(0)).isEqualTo(1);
    }

    @Test
    void rejectsASliceOutsideItsRegionBeforePosting() {
        var region = here().allocate(64, everything()).region();
        SendBatch batch = SendBatch.create(here().arena(), 1, 2).send(1);
        assertThatThrownBy(() -> batch.with(region, 60, 8)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> batch.with(region, -1, 8)).isInstanceOf(IndexOutOfBoundsException.class);
        RemoteMemory remote = region.remote();
        assertThatThrownBy(() -> remote.slice(60, 8)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void aKeyOfAnotherProtectionDomainFailsOnEitherSide() {
        EndMemory foreign = here().allocateInOtherDomain(8, everything());
        EndMemory remote = there().allocate(8, everything());
        Pair pair = connected();
        pair.here().post(Work.write(1, remote.remote(), foreign.piece(0, 8)));
        assertThat(differences().badSource()).contains(pair.here().one().status());
        EndMemory remoteForeign = there().allocateInOtherDomain(8, everything());
        EndMemory local = here().allocate(8, everything());
        Pair other = connected();
        rejected(
                other.here(), Work.write(2, remoteForeign.remote(), local.piece(0, 8)), WorkStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void aPeerNeedsTheRemoteKey() {
        EndMemory target = there().allocate(8, everything());
        EndMemory source = here().allocate(8, everything());
        Pair pair = connected();
        RemoteMemory named =
                new RemoteMemory(target.address(), 8, target.remote().key());
        pair.here().post(Work.write(1, named, new Piece(source.address(), 8, source.localKey())));
        good(pair.here().one(), 1, CompletionOpcode.WRITE);
    }

    @Test
    void oneProgramServesManyConnectionsInSequence() {
        for (int i = 0; i < 20; i++) {
            Pair pair = connected();
            LocalQueue server = pair.here();
            EndQueue client = pair.there();
            server.receive(1);
            client.post(Work.send(2));
            good(server.one(), 1, CompletionOpcode.RECEIVE);
            good(client.one(), 2, CompletionOpcode.SEND);
            client.close();
            server.close();
        }
    }
}
