package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.EndQueue;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.WorkRequestException;
import io.rdmacomm.verbs.WorkStatus;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Unreliable connections: SEND and WRITE without acknowledgement.
class UnreliableConnectionTest extends ContractCase {
    private static final Spec UNRELIABLE = Spec.usual().withType(QueuePairType.UNRELIABLE_CONNECTED);
    private static final long SHORT_MILLIS = 100;

    @Test
    void messagesOfAllLengthsArrive() {
        Pair pair = connected(UNRELIABLE);
        for (Way way : bothWays(pair)) {
            EndMemory source = way.from().allocate(100_000, everything());
            EndMemory target = way.to().allocate(100_000, everything());
            for (int bytes : new int[] {0, 1, 1023, 1024, 1025, 5000, 100_000}) {
                source.write(0, pattern(bytes, bytes));
                way.target().receive(7, target.piece(0, 100_000));
                way.source().post(Work.send(1, source.piece(0, bytes)));
                good(way.source().one(), 1, CompletionOpcode.SEND);
                Outcome received = good(way.target().one(), 7, CompletionOpcode.RECEIVE);
                assertThat(received.bytes()).isEqualTo(bytes);
                assertThat(target.read(0, bytes)).isEqualTo(pattern(bytes, bytes));
            }
        }
    }

    @Test
    void aWriteArrivesBeforeTheMessageAfterIt() {
        Pair pair = connected(UNRELIABLE);
        EndMemory source = here().allocate(10_000, everything());
        EndMemory target = there().allocate(10_000, everything());
        source.write(0, pattern(10_000, 3));
        pair.there().receive(7);
        pair.here()
                .post(Work.write(1, target.remote(), source.piece(0, 10_000)).silent(), Work.sendImmediate(2, 0x55aa));
        good(pair.here().one(), 2, CompletionOpcode.SEND);
        assertThat(good(pair.there().one(), 7, CompletionOpcode.RECEIVE).immediate())
                .isEqualTo(0x55aa);
        assertThat(target.read(0, 10_000)).isEqualTo(pattern(10_000, 3));
    }

    @Test
    void aWriteWithImmediateDataCompletesAReceive() {
        Pair pair = connected(UNRELIABLE);
        EndMemory source = here().allocate(3000, everything());
        EndMemory target = there().allocate(3000, everything());
        source.write(0, pattern(3000, 3));
        pair.there().receive(7);
        pair.here().post(Work.writeImmediate(1, target.remote(), 99, source.piece(0, 3000)));
        good(pair.here().one(), 1, CompletionOpcode.WRITE);
        Outcome outcome = good(pair.there().one(), 7, CompletionOpcode.RECEIVE_WRITE_WITH_IMMEDIATE);
        assertThat(outcome.immediate()).isEqualTo(99);
        assertThat(outcome.bytes()).isEqualTo(3000);
        assertThat(target.read(0, 3000)).isEqualTo(pattern(3000, 3));
    }

    @Test
    void aMessageWithoutAReceiveIsLostAndTheConnectionGoesOn() {
        Pair pair = connected(UNRELIABLE);
        EndMemory source = here().allocate(8, everything());
        EndMemory target = there().allocate(8, everything());
        pair.here().post(Work.send(1, source.piece(0, 8)));
        good(pair.here().one(), 1, CompletionOpcode.SEND);
        awaitLost(pair, target, source);
        pair.there().receive(7, target.piece(0, 8));
        assertThat(pair.there().collect(1, SHORT_MILLIS)).isEmpty();
        pair.here().post(Work.send(2, source.piece(0, 8)));
        good(pair.here().one(), 2, CompletionOpcode.SEND);
        good(pair.there().one(), 7, CompletionOpcode.RECEIVE);
    }

    /// Messages that were sent before found no receive, once a later WRITE has arrived.
    private void awaitLost(Pair pair, EndMemory target, EndMemory source) {
        source.setLong(0, 0x77);
        pair.here().post(Work.write(9, target.remote(), source.piece(0, 8)));
        good(pair.here().one(), 9, CompletionOpcode.WRITE);
        Deadline.await("the WRITE", () -> target.getLong(0) == 0x77);
    }

    @Test
    void aWriteThatIsNotAllowedIsLostAndSucceeds() {
        Pair pair = connected(UNRELIABLE);
        EndMemory source = here().allocate(8, everything());
        EndMemory target = there().allocate(16, everything());
        RemoteMemory wrongKey =
                new RemoteMemory(target.remote().address(), 8, target.remote().key() ^ 0x0055_5500);
        source.setLong(0, 1);
        pair.here().post(Work.write(1, wrongKey, source.piece(0, 8)));
        good(pair.here().one(), 1, CompletionOpcode.WRITE);
        assertThat(target.getLong(0)).isZero();
        assertThat(pair.here().state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    @Test
    void whatIsSentToNobodySucceeds() {
        EndQueue there = there().queue(UNRELIABLE);
        Pair pair = pair(here().queue(UNRELIABLE), there);
        EndMemory source = here().allocate(8, everything());
        // The peer has no state in which it could receive.
        pair.here().connect(there.info(), patient());
        pair.here().post(Work.send(1, source.piece(0, 8)));
        good(pair.here().one(), 1, CompletionOpcode.SEND);
        there.close();
        pair.here().post(Work.send(2, source.piece(0, 8)));
        good(pair.here().one(), 2, CompletionOpcode.SEND);
        assertThat(pair.here().state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    @Test
    void itHasNeitherReadsNorAtomics() {
        Pair pair = connected(UNRELIABLE);
        EndMemory source = here().allocate(8, everything());
        EndMemory target = there().allocate(8, everything());
        for (Work work : List.of(
                Work.read(1, target.remote(), source.piece(0, 8)),
                Work.fetchAndAdd(2, target.remote(), 1, source.piece(0, 8)),
                Work.compareAndSwap(3, target.remote(), 0, 1, source.piece(0, 8)))) {
            assertThatThrownBy(() -> pair.here().post(work))
                    .isInstanceOf(WorkRequestException.class)
                    .hasMessageContaining("is not supported on a UNRELIABLE_CONNECTED");
        }
    }

    @Test
    void inlineDataCanBeChangedAtOnce() {
        Pair pair = connected(UNRELIABLE);
        EndMemory source = here().allocate(8, everything());
        EndMemory target = there().allocate(8, everything());
        source.setLong(0, 42);
        pair.there().receive(7, target.piece(0, 8));
        pair.here().post(Work.send(1, source.piece(0, 8)).inline());
        source.setLong(0, 43);
        good(pair.there().one(), 7, CompletionOpcode.RECEIVE);
        assertThat(target.getLong(0)).isEqualTo(42);
    }

    @Test
    void theErrorStateFlushes() {
        Pair pair = connected(UNRELIABLE);
        pair.here().receive(1);
        pair.here().receive(2);
        pair.here().modify(QueuePairState.ERROR);
        assertThat(pair.here().drain(2)).extracting(Outcome::status).containsOnly(WorkStatus.FLUSHED);
    }
}
