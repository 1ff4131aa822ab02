package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.tests.fixture.Activity;
import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.Deviation;
import io.rdmacomm.tests.fixture.Differences;
import io.rdmacomm.tests.fixture.End;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.EndQueue;
import io.rdmacomm.tests.fixture.Fabric;
import io.rdmacomm.tests.fixture.HelperProcess;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.LeftOut;
import io.rdmacomm.tests.fixture.LocalEnd;
import io.rdmacomm.tests.fixture.LocalMemory;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.tests.fixture.PrivateMemory;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/// A peer whose process is stopped or killed.
@ParameterizedClass(name = "{0}")
@MethodSource("io.rdmacomm.tests.fixture.Fabric#betweenProcesses")
@ExtendWith(LeakCheck.class)
@Tag("slow")
class PeerDeathTest {
    /// "Immediately" on a busy machine. Without detection, the request would never end.
    private static final long NOTICED_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long QUIET_MILLIS = 500;

    @Parameter
    private Fabric fabric;

    private HelperProcess process;
    private LocalEnd here;
    private End there;

    @BeforeEach
    void start() {
        here = LocalEnd.open(fabric.device());
        startPeer(0);
    }

    private void startPeer(int index) {
        process = fabric.startHelper(index);
        there = process.host().open(fabric.farDevice());
    }

    @AfterEach
    void stop() {
        long start = System.nanoTime();
        here.close();
        assertThat(System.nanoTime() - start)
                .as("closing takes no longer than usual")
                .isLessThan(5_000_000_000L);
        if (process.isAlive()) {
            process.close();
        }
        // The next context of a software device to open removes the files of a killed process.
        LocalEnd.open(fabric.provider().equals("ibverbs") ? "soft0" : fabric.device())
                .close();
        assertThat(PrivateMemory.contents()).isEmpty();
    }

    private record Pair(LocalQueue here, EndQueue there) {}

    /// Returns whether an idle queue pair does not notice the death of its peer.
    private boolean silent() {
        return Differences.of(fabric).deviations().contains(Deviation.DEATH_IS_SILENCE);
    }

    private boolean kernelAnswers() {
        return Differences.ofFar(fabric).deviations().contains(Deviation.KERNEL_ANSWERS_FOR_A_STOPPED_PEER);
    }

    private boolean has(Deviation deviation) {
        return Differences.of(fabric).deviations().contains(deviation);
    }

    private boolean hasAtomics() {
        return here.context().supports(Capability.ATOMICS);
    }

    private void unnoticed(LocalQueue queue) {
        System.out.println(fabric + ": the death of an idle peer is not noticed");
        assertThat(queue.collect(1, 300)).isEmpty();
        assertThat(queue.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        queue.modify(QueuePairState.ERROR);
    }

    private Pair connected(Spec spec) {
        LocalQueue mine = here.queue(spec);
        EndQueue theirs = there.queue(spec);
        connect(mine, theirs);
        // The death of a peer that was never reached cannot be noticed.
        mine.post(Work.write(0, new RemoteMemory(0, 0, 0)));
        assertThat(mine.one().status()).isEqualTo(WorkStatus.SUCCESS);
        return new Pair(mine, theirs);
    }

    private void connect(LocalQueue mine, EndQueue theirs) {
        // Patient, so that the death of the peer ends the work, not a timeout, unless only a timeout can.
        ConnectionOptions patient = ConnectionOptions.defaults()
                .withTimeout(silent() ? Duration.ofMillis(536) : ChronoUnit.FOREVER.getDuration(), silent() ? 2 : 7);
        String address = fabric.address();
        if (address == null) {
            mine.connect(theirs.info(), patient);
            theirs.connect(mine.info(), patient);
        } else {
            mine.connectTo(address, theirs.acceptAt(address, patient), patient);
            theirs.awaitAccepted();
        }
    }

    private void noticed(LocalQueue queue, long since) {
        queue.awaitState(QueuePairState.ERROR);
        assertThat(System.nanoTime() - since)
                .as("time until the death is noticed")
                .isLessThan(silent() ? 2 * NOTICED_NANOS : NOTICED_NANOS);
    }

    @Test
    void killingAnIdlePeerFlushesReceivesImmediately() {
        Pair pair = connected(Spec.usual());
        for (int i = 0; i < 10; i++) {
            pair.here().receive(i);
        }
        process.kill();
        if (silent()) {
            unnoticed(pair.here());
        }
        long start = System.nanoTime();
        List<Outcome> flushed = pair.here().drain(10);
        noticed(pair.here(), start);
        for (int i = 0; i < 10; i++) {
            assertThat(flushed.get(i).id()).isEqualTo(i);
            assertThat(flushed.get(i).status()).isEqualTo(WorkStatus.FLUSHED);
        }
        if (!has(Deviation.WORK_POSTED_IN_ERROR_STAYS)) {
            pair.here().post(Work.send(77));
            assertThat(pair.here().one().status()).isEqualTo(WorkStatus.FLUSHED);
        }
    }

    @Test
    void aWaiterForAnEventIsWoken() throws Exception {
        Pair pair = connected(Spec.usual());
        pair.here().receive(1);
        pair.here().arm();
        process.kill();
        if (silent()) {
            unnoticed(pair.here());
        }
        long start = System.nanoTime();
        assertThat(pair.here().channel().awaitEvent(Duration.ofSeconds(10))).isNotNull();
        noticed(pair.here(), start);
        assertThat(pair.here().one().status()).isEqualTo(WorkStatus.FLUSHED);
    }

    @Test
    void aSendThatWaitsForAReceiveOfTheDeadPeerEnds() {
        Pair pair = connected(Spec.usual());
        if (has(Deviation.NO_RECEIVE_ENDS_THE_CONNECTION)) {
            // It does not wait: it completes when it is sent.
            pair.here().post(Work.send(1), Work.send(2));
            assertThat(pair.here().drain(2)).extracting(Outcome::id).containsExactly(1L, 2L);
            pair.here().awaitState(QueuePairState.ERROR);
            return;
        }
        pair.here().post(Work.send(1), Work.send(2).silent(), Work.send(3));
        process.kill();
        long start = System.nanoTime();
        List<Outcome> outcomes = pair.here().drain(3);
        noticed(pair.here(), start);
        assertThat(outcomes.get(0).id()).isEqualTo(1);
        assertThat(outcomes.get(0).status()).isIn(WorkStatus.RETRY_EXCEEDED, WorkStatus.FLUSHED);
        assertThat(outcomes.subList(1, 3)).allMatch(outcome -> outcome.status() == WorkStatus.FLUSHED);
    }

    @Test
    void oneSidedTrafficToADyingPeerEndsInAnErrorAndAFlush() {
        int bytes = 1 << 16;
        Pair pair = connected(Spec.usual());
        // Separate memory for each, because data that changes while it is being sent does not match its checksum.
        LocalMemory local = here.allocate(3L * bytes, AccessFlag.allRemote());
        EndMemory remote = there.allocate(3L * bytes, AccessFlag.allRemote());
        List<Work> kinds = new ArrayList<>(List.of(
                Work.write(0, remote.remote().slice(0, bytes), local.piece(0, bytes)),
                Work.read(0, remote.remote().slice(bytes, bytes), local.piece(bytes, bytes))));
        if (hasAtomics()) {
            kinds.add(Work.fetchAndAdd(0, remote.remote().slice(2L * bytes, 8), 1, local.piece(2L * bytes, 8)));
        }
        List<Activity> floods = new ArrayList<>();
        List<LocalQueue> queues = new ArrayList<>();
        for (Work work : kinds) {
            Pair each = connected(Spec.usual());
            queues.add(each.here());
            floods.add(each.here().flood(work, 16));
        }
        Deadline.await("traffic", () -> floods.stream().allMatch(flood -> flood.done() > Amount.of(200, 20)));
        process.kill();
        long start = System.nanoTime();
        for (int i = 0; i < kinds.size(); i++) {
            noticed(queues.get(i), start);
            List<Outcome> failed = floods.get(i).await(5000).failed();
            assertThat(failed).isNotEmpty();
            assertThat(failed.getFirst().status())
                    .isIn(
                            has(Deviation.REFUSAL_ENDS_THE_CONNECTION)
                                    ? WorkStatus.LOCAL_QUEUE_PAIR_ERROR
                                    : WorkStatus.RETRY_EXCEEDED,
                            WorkStatus.FLUSHED);
            assertThat(failed.stream().skip(1)).allMatch(outcome -> outcome.status() == WorkStatus.FLUSHED);
        }
        if (silent()) {
            unnoticed(pair.here());
        }
        noticed(pair.here(), start);
    }

    @Test
    void everyReceiveEndsOnceHoweverThePeerDies() throws Exception {
        long seed = System.nanoTime();
        System.out.println("PeerDeathTest: seed " + seed);
        Random random = new Random(seed);
        for (int round = 0; round < Amount.of(4, 2); round++) {
            Pair pair = connected(Spec.usual().withCompletions(4096));
            LocalMemory target = here.allocate(64 * 4096, AccessFlag.allRemote());
            EndMemory source = there.allocate(4096, AccessFlag.allRemote());
            Map<Long, Integer> ends = new HashMap<>();
            for (long i = 0; i < 64; i++) {
                pair.here().receive(i, target.piece(i * 4096, 4096));
            }
            Activity flood = pair.there().flood(Work.send(0, source.piece(0, 4096)), 8);
            long next = 64;
            long killAt = 100L + random.nextInt(Amount.of(3000, 300));
            boolean killed = false;
            Deadline deadline = Deadline.in(EndQueue.TIMEOUT_MILLIS);
            while (ends.size() < next && deadline.waiting()) {
                List<Outcome> some = pair.here().poll();
                if (some.isEmpty() && leavesReceives(pair.here())) {
                    some = pair.here().collect(1, QUIET_MILLIS);
                    if (some.isEmpty()) {
                        break;
                    }
                }
                for (Outcome outcome : some) {
                    deadline.progress();
                    ends.merge(outcome.id(), 1, Integer::sum);
                    if (outcome.status() == WorkStatus.SUCCESS && !killed) {
                        pair.here().receive(next, target.piece(next % 64 * 4096, 4096));
                        next++;
                    }
                }
                if (!killed && next > killAt) {
                    killed = true;
                    process.kill();
                    if (silent()) {
                        pair.here().modify(QueuePairState.ERROR);
                    }
                }
            }
            assertThat(flood).isNotNull();
            if (!killed) {
                process.kill(); // The connection has already ended, because there was no receive.
            }
            if (has(Deviation.WORK_POSTED_IN_ERROR_STAYS)) {
                // Only the newest ones may remain, and those that were posted first have ended.
                assertThat(ends).hasSizeGreaterThanOrEqualTo(64);
                assertThat(Collections.max(ends.keySet()))
                        .as("round %d, seed %d", round, seed)
                        .isEqualTo(ends.size() - 1);
            } else {
                assertThat(ends).as("round %d, seed %d", round, seed).hasSize((int) next);
            }
            assertThat(ends.values()).containsOnly(1);
            pair.here().awaitState(QueuePairState.ERROR);
            pair.here().close();
            target.close();
            startPeer(0);
        }
    }

    /// Whether receives remain that were posted while the connection ended.
    private boolean leavesReceives(LocalQueue queue) {
        return has(Deviation.WORK_POSTED_IN_ERROR_STAYS) && queue.state() == QueuePairState.ERROR;
    }

    @Test
    void otherPeersAndTheContextContinue() {
        Pair doomed = connected(Spec.usual());
        doomed.here().receive(1);
        LocalQueue other = here.queue(Spec.usual());
        LocalQueue loop = here.queue(Spec.usual());
        connect(loop, other);
        process.kill();
        if (silent()) {
            unnoticed(doomed.here());
        }
        doomed.here().one();
        other.receive(2);
        loop.post(Work.send(3));
        assertThat(loop.one().status()).isEqualTo(WorkStatus.SUCCESS);
        assertThat(other.one().status()).isEqualTo(WorkStatus.SUCCESS);
        startPeer(0);
        Pair next = connected(Spec.usual());
        next.there().receive(4);
        next.here().post(Work.send(5));
        assertThat(next.here().one().opcode()).isEqualTo(CompletionOpcode.SEND);
    }

    @Test
    void theNextStartRemovesFilesOfACrash() {
        LocalMemory mine = here.allocate(4096, AccessFlag.allRemote());
        int own = PrivateMemory.contents().size();
        there.allocate(1 << 20, AccessFlag.allRemote());
        process.kill();
        Deadline.await("the kernel has released its locks", () -> !process.isAlive());
        LocalEnd next = LocalEnd.open(fabric.device());
        next.close();
        assertThat(PrivateMemory.contents().size())
                .as("files other than those of this process: %s", PrivateMemory.contents())
                .isLessThan(own + 3);
        mine.fill(1);
        here.close();
        assertThat(PrivateMemory.contents()).as("all files are removed").isEmpty();
    }

    @Test
    void oneSidedOperationsNeedNoThreadOfTheTarget() {
        Pair pair = connected(Spec.usual());
        EndMemory remote = there.allocate(4096, AccessFlag.allRemote());
        LocalMemory local = here.allocate(4096, AccessFlag.allRemote());
        local.setLong(0, 7);
        var to = remote.remote();
        pair.there().receive(50, remote.piece(1024, 64));
        process.freeze();
        if (!fabric.sharesMemory()) {
            pair.here().post(Work.write(1, to, local.piece(0, 8)));
            assertThat(pair.here().collect(1, 300)).as("over TCP it needs one").isEmpty();
            process.thaw();
            assertThat(pair.here().one().status()).isEqualTo(WorkStatus.SUCCESS);
            return;
        }
        try {
            for (int i = 0; i < 200 && !hasAtomics(); i++) {
                pair.here().post(Work.write(1, to, local.piece(0, 8)), Work.read(4, to, local.piece(24, 8)));
                assertThat(pair.here().drain(2)).allMatch(outcome -> outcome.status() == WorkStatus.SUCCESS);
                assertThat(local.getLong(24)).isEqualTo(7);
            }
            for (int i = 0; i < 200 && hasAtomics(); i++) {
                pair.here()
                        .post(
                                Work.write(1, to, local.piece(0, 8)),
                                Work.fetchAndAdd(2, to.slice(0, 8), 1, local.piece(8, 8)),
                                Work.compareAndSwap(3, to.slice(0, 8), 8, 9, local.piece(16, 8)),
                                Work.read(4, to, local.piece(24, 8)));
                assertThat(pair.here().drain(4)).allMatch(outcome -> outcome.status() == WorkStatus.SUCCESS);
                assertThat(local.getLong(8)).isEqualTo(7);
                assertThat(local.getLong(16)).isEqualTo(8);
                assertThat(local.getLong(24)).isEqualTo(9);
            }
            pair.here().post(Work.send(5, local.piece(0, 64)));
            assertThat(pair.here().one().status())
                    .as("a SEND needs only the receive that was posted")
                    .isEqualTo(WorkStatus.SUCCESS);
        } finally {
            process.thaw();
        }
        assertThat(pair.there().one().id()).isEqualTo(50);
        assertThat(remote.getLong(0)).isEqualTo(hasAtomics() ? 9 : 7);
    }

    @Test
    void aDirectViewOutlivesThePeer() {
        Pair pair = connected(Spec.usual());
        Set<AccessFlag> rights = EnumSet.copyOf(AccessFlag.allRemote());
        rights.remove(AccessFlag.REMOTE_ATOMIC);
        rights.add(AccessFlag.DIRECT_VIEW);
        EndMemory memory = there.allocate(4096, rights);
        memory.setLong(0, 7);
        RemoteMemory remote = memory.remote();
        MemorySegment view = pair.here().queuePair().directView(remote.address(), remote.length(), remote.key());
        assertThat(view != null).isEqualTo(fabric.provider().equals("soft") && fabric.sharesMemory());
        if (view == null) {
            return;
        }
        process.freeze();
        try {
            assertThat(view.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(7);
            view.set(ValueLayout.JAVA_LONG, 8, 8);
        } finally {
            process.thaw();
        }
        assertThat(memory.getLong(8)).isEqualTo(8);
        process.kill();
        pair.here().awaitState(QueuePairState.ERROR);
        assertThat(view.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(8);
        view.set(ValueLayout.JAVA_LONG, 8, 9);
        assertThat(pair.here().queuePair().directView(remote.address(), remote.length(), remote.key()))
                .isNull();
        pair.here().close();
        assertThatThrownBy(() -> view.get(ValueLayout.JAVA_LONG, 0)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aStoppedPeerIsNotTreatedAsDead() {
        Pair pair = connected(Spec.usual());
        EndMemory own = there.register(4096, AccessFlag.allRemote());
        LocalMemory local = here.allocate(4096, AccessFlag.allRemote());
        local.setLong(0, 5);
        var to = own.remote();
        // If the kernel answers, a SEND without a receive also gets an answer and ends with its retries.
        boolean receiveFirst = kernelAnswers();
        if (receiveFirst) {
            pair.there().receive(3);
        }
        process.freeze();
        try {
            pair.here().post(Work.write(1, to, local.piece(0, 8)), Work.send(2));
            assertThat(pair.here().collect(2, 1500)).allMatch(outcome -> outcome.status() == WorkStatus.SUCCESS);
            assertThat(pair.here().state()).isEqualTo(QueuePairState.READY_TO_SEND);
        } finally {
            process.thaw();
        }
        if (!receiveFirst) {
            pair.there().receive(3);
        }
        assertThat(pair.there().one().status()).isEqualTo(WorkStatus.SUCCESS);
        assertThat(own.getLong(0)).isEqualTo(5);
    }

    /// It has as much time as the queue pair is patient, and 5 seconds at least.
    @Test
    void aStoppedPeerThatMustCopyHasTime() {
        Pair pair = connected(Spec.usual());
        EndMemory own = there.register(4096, AccessFlag.allRemote());
        LocalMemory local = here.allocate(4096, AccessFlag.allRemote());
        RemoteMemory to = own.remote();
        process.freeze();
        try {
            pair.here().post(Work.write(1, to, local.piece(0, 8)));
            boolean mustCopy = fabric.sharesMemory() && !kernelAnswers();
            assertThat(pair.here().collect(1, mustCopy ? 6000 : 1000))
                    .allMatch(outcome -> !mustCopy && outcome.status() == WorkStatus.SUCCESS);
            assertThat(pair.here().state()).isEqualTo(QueuePairState.READY_TO_SEND);
            if (mustCopy) {
                process.thaw();
                assertThat(pair.here().one().status()).isEqualTo(WorkStatus.SUCCESS);
            }
        } finally {
            process.thaw();
        }
    }

    /// Several queue pairs whose peer does not answer end when their own time is over, and not one after the other.
    @Test
    void queuePairsOfAStoppedPeerThatMustCopyEndTogether() {
        EndMemory own = there.register(4096, AccessFlag.allRemote());
        LocalMemory local = here.allocate(4096, AccessFlag.allRemote());
        RemoteMemory to = own.remote();
        if (!fabric.sharesMemory() || kernelAnswers()) {
            System.out.println(fabric + ": nobody copies for another process");
            return;
        }
        List<LocalQueue> queues = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            LocalQueue mine = here.queue(Spec.usual());
            EndQueue theirs = there.queue(Spec.usual());
            ConnectionOptions impatient = ConnectionOptions.defaults().withTimeout(Duration.ofMillis(67), 3);
            mine.connect(theirs.info(), impatient);
            theirs.connect(mine.info(), impatient);
            mine.post(Work.write(0, to, local.piece(0, 8)));
            assertThat(mine.one().status()).isEqualTo(WorkStatus.SUCCESS);
            queues.add(mine);
        }
        process.freeze();
        try {
            long start = System.nanoTime();
            queues.forEach(queue -> queue.post(Work.write(1, to, local.piece(0, 8))));
            for (LocalQueue queue : queues) {
                assertThat(queue.one().status()).isEqualTo(WorkStatus.RETRY_EXCEEDED);
            }
            assertThat(System.nanoTime() - start)
                    .as("nanoseconds, of 5 seconds for each of 6")
                    .isLessThan(TimeUnit.SECONDS.toNanos(20));
        } finally {
            process.thaw();
        }
    }

    @Test
    void workThatNeedsAStoppedPeerCanBeAbandoned() {
        EndMemory own = there.register(1 << 16, AccessFlag.allRemote());
        LocalMemory local = here.allocate(1 << 16, AccessFlag.allRemote());
        var to = own.remote();
        Pair flushed = connected(Spec.usual());
        Pair closed = connected(Spec.usual());
        Pair reset = connected(Spec.usual());
        process.freeze();
        try {
            for (Pair pair : List.of(flushed, closed, reset)) {
                pair.here()
                        .post(
                                Work.write(1, to, local.piece(0, 1 << 16)),
                                Work.read(2, to, local.piece(0, 1 << 16)),
                                hasAtomics()
                                        ? Work.fetchAndAdd(3, to, 1, local.piece(0, 8))
                                        : Work.read(3, to, local.piece(0, 8)));
            }
            long start = System.nanoTime();
            flushed.here().modify(QueuePairState.ERROR);
            if (here.context().supports(Capability.RESET)) {
                reset.here().modify(QueuePairState.RESET);
            }
            closed.here().close();
            assertThat(System.nanoTime() - start)
                    .as("nanoseconds to abandon it")
                    .isLessThan(5_000_000_000L);
            if (kernelAnswers()) {
                assertThat(flushed.here().drain(3)).extracting(Outcome::id).containsExactly(1L, 2L, 3L);
                return;
            }
            assertThat(flushed.here().drain(3)).extracting(Outcome::status).containsOnly(WorkStatus.FLUSHED);
        } finally {
            process.thaw();
        }
        assertThat(reset.here().poll()).isEmpty();
    }

    @Test
    void aPeerThatGoesOnTakesNoWorkOfAnother() {
        if (!fabric.hasSeveralPeers()) {
            throw LeftOut.because(getClass(), fabric + ": two processes on the other host need an address each");
        }
        EndMemory ofStopped = there.register(64, AccessFlag.allRemote());
        LocalMemory local = here.allocate(64, AccessFlag.allRemote());
        local.setLong(0, 5);
        Pair stopped = connected(Spec.usual());
        var toStopped = ofStopped.remote();
        HelperProcess first = process;
        startPeer(1);
        try {
            EndMemory ofOther = there.register(64, AccessFlag.allRemote());
            Pair other = connected(Spec.usual());
            var toOther = ofOther.remote();
            first.freeze();
            stopped.here().post(Work.write(1, toStopped, local.piece(0, 8)));
            assertThat(stopped.here().collect(1, 300)).allMatch(outcome -> kernelAnswers());
            stopped.here().modify(QueuePairState.ERROR);
            process.freeze();
            try {
                other.here().post(Work.write(2, toOther, local.piece(0, 8)));
                assertThat(other.here().collect(1, 300)).allMatch(outcome -> kernelAnswers());
                first.thaw();
                // Where silence is death, the stopped peer has 1.6 seconds in all.
                assertThat(other.here().collect(1, silent() && !kernelAnswers() ? 500 : 1500))
                        .allMatch(outcome -> outcome.status() == WorkStatus.SUCCESS);
                assertThat(other.here().state()).isEqualTo(QueuePairState.READY_TO_SEND);
            } finally {
                first.thaw();
                process.thaw();
            }
            Deadline.await("the WRITE is done", () -> ofOther.getLong(0) == 5);
        } finally {
            first.close();
        }
    }

    @Test
    void aStoppedPeerCanBeConnectedToAndLeft() {
        if (!here.context().supports(Capability.CONNECT_BY_NUMBERS)) {
            System.out.println(fabric + ": a stopped process accepts no connection");
            return;
        }
        LocalQueue mine = here.queue(Spec.usual());
        EndQueue theirs = there.queue(Spec.usual());
        EndMemory remote = there.allocate(64, AccessFlag.allRemote());
        EndMemory own = there.register(64, AccessFlag.allRemote());
        LocalMemory local = here.allocate(64, AccessFlag.allRemote());
        var to = remote.remote();
        var toOwn = own.remote();
        var info = theirs.info();
        theirs.connect(mine.info(), ConnectionOptions.defaults());
        process.freeze();
        try {
            mine.connect(info, ConnectionOptions.defaults());
            mine.post(Work.write(1, to, local.piece(0, 64)));
            if (fabric.sharesMemory()) {
                assertThat(mine.one().status()).isEqualTo(WorkStatus.SUCCESS);
            }
            mine.post(Work.write(2, toOwn, local.piece(0, 64)), Work.send(3));
            long start = System.nanoTime();
            here.close();
            assertThat(System.nanoTime() - start).as("nanoseconds to close").isLessThan(5_000_000_000L);
        } finally {
            process.thaw();
        }
    }

    @Test
    void killingAStoppedPeerEndsWorkThatNeedsIt() {
        EndMemory own = there.register(1 << 16, AccessFlag.allRemote());
        LocalMemory local = here.allocate(1 << 16, AccessFlag.allRemote());
        Pair pair = connected(Spec.usual());
        var to = own.remote();
        process.freeze();
        pair.here().post(Work.write(1, to, local.piece(0, 1 << 16)), Work.read(2, to, local.piece(0, 1 << 16)));
        if (kernelAnswers()) {
            assertThat(pair.here().drain(2)).extracting(Outcome::status).containsOnly(WorkStatus.SUCCESS);
            process.kill();
            return;
        }
        assertThat(pair.here().collect(1, 50)).isEmpty();
        process.kill();
        long start = System.nanoTime();
        List<Outcome> outcomes = pair.here().drain(2);
        noticed(pair.here(), start);
        assertThat(outcomes).noneMatch(outcome -> outcome.status() == WorkStatus.SUCCESS);
        assertThat(outcomes).extracting(Outcome::id).containsExactly(1L, 2L);
    }

    /// A stopped peer does not read what it is told, here of closed regions, and more than a socket takes.
    @Test
    void theDeathOfAStoppedPeerThatWasToldALotIsNoticed() throws Exception {
        Pair pair = connected(Spec.usual());
        pair.here().receive(1);
        pair.here().arm();
        List<LocalMemory> regions = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            regions.add(here.register(64, AccessFlag.allRemote()));
        }
        process.freeze();
        regions.forEach(LocalMemory::close);
        process.kill();
        if (silent()) {
            unnoticed(pair.here());
        }
        long start = System.nanoTime();
        assertThat(pair.here().channel().awaitEvent(Duration.ofSeconds(10))).isNotNull();
        noticed(pair.here(), start);
        assertThat(pair.here().one().status()).isEqualTo(WorkStatus.FLUSHED);
    }

    @Test
    void theOrderlyEndOfAPeerIsNoticed() {
        Pair pair = connected(Spec.usual());
        pair.here().receive(1);
        process.close();
        if (silent()) {
            unnoticed(pair.here());
        }
        long start = System.nanoTime();
        assertThat(pair.here().one().status()).isEqualTo(WorkStatus.FLUSHED);
        noticed(pair.here(), start);
    }
}
