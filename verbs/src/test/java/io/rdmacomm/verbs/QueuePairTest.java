package io.rdmacomm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rdmacomm.verbs.spi.QueuePairOwner;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// Behavior of queue pairs that is common to all providers: states, checks, slots.
class QueuePairTest extends QueuePairFixture {
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SEND_QUEUE_ERROR")
    void acceptsWorkAccordingToItsState(QueuePairState state) {
        QueuePair pair = inState(create(options()), state);
        if (state == QueuePairState.RESET) {
            assertThatThrownBy(() -> pair.post(receives(1)))
                    .isInstanceOf(QueuePairStateException.class)
                    .hasMessageContaining("EINVAL")
                    .hasMessageContaining("queue pair 0x11")
                    .hasMessageContaining("RESET");
        } else {
            assertThat(pair.post(receives(1))).isEqualTo(1);
        }
        if (state.code() < QueuePairState.READY_TO_SEND.code()) {
            assertThatThrownBy(() -> pair.post(sends(1, true)))
                    .isInstanceOf(QueuePairStateException.class)
                    .hasMessageContaining(state.name());
            assertThat(driver(pair).sent).isEmpty();
        } else {
            assertThat(pair.post(sends(1, true))).isEqualTo(1);
        }
    }

    @Test
    void aSingleThreadedQueuePairWaitsForNoLock() throws Exception {
        QueuePair pair = connected(options().withSingleThreaded(true));
        QueuePairOwner owner = driver(pair).owner;
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(1);
        CompletableFuture<Boolean> endedByThePost = CompletableFuture.supplyAsync(() -> {
            owner.lockSends();
            owner.lockReceives();
            held.countDown();
            try {
                return over.await(10, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            } finally {
                owner.unlockReceives();
                owner.unlockSends();
            }
        });
        held.await();

        assertThat(pair.post(sends(1, true)) + pair.post(receives(1))).isEqualTo(2);

        over.countDown();
        assertThat(endedByThePost.get(20, TimeUnit.SECONDS)).isTrue();
    }

    /// As with RoCE when the addresses of the network interface are removed.
    @Test
    void anEmptyGidIsNeitherSentNorTaken() {
        QueuePair pair = create(options());
        QueuePairInfo empty = new QueuePairInfo(0x99, 1, 2, Gid.NONE, PathMtu.MTU_512);
        device.gids.clear();
        assertThat(pair.info().gid())
                .as("on InfiniBand the LID alone is enough")
                .isEqualTo(Gid.NONE);

        device.linkLayer = LinkLayer.ETHERNET;
        VerbException none = catchThrowableOfType(VerbException.class, pair::info);
        assertThat(none.errno()).isEqualTo(Errno.ENODATA);
        assertThat(none)
                .hasMessageContaining("entry 0 of the GID table of port 1")
                .hasMessageContaining("is empty");
        VerbException sent = catchThrowableOfType(VerbException.class, () -> pair.connect(empty));
        assertThat(sent.errno()).isEqualTo(Errno.EINVAL);
        assertThat(sent).hasMessageContaining("has sent an empty GID");

        device.gids.add(new GidEntry(0, new Gid(1, 2), GidType.ROCE_V2, 0));
        assertThat(pair.info().gid()).isEqualTo(new Gid(1, 2));
    }

    @Test
    void aFailedCompletionIsReportedToItsQueuePair() {
        QueuePair pair = connected(options());
        pair.post(sends(2, true));
        device.complete(0, WorkStatus.SUCCESS, CompletionOpcode.SEND, pair.number());
        device.complete(1, WorkStatus.RETRY_EXCEEDED, CompletionOpcode.SEND, pair.number());
        device.complete(2, WorkStatus.FLUSHED, CompletionOpcode.SEND, 0x777);

        assertThat(queue.poll(completions)).isEqualTo(3);

        assertThat(driver(pair).failed).containsExactly(1L);
    }

    @Test
    void aRejectedTransitionChangesNothing() {
        QueuePair pair = inState(create(options()), QueuePairState.INIT);
        QueuePairAttributes tooMuch =
                new QueuePairAttributes().state(QueuePairState.INIT).port(2).timeout(new AckTimeout(3));

        assertThatThrownBy(() -> pair.modify(tooMuch)).isInstanceOf(QueuePairStateException.class);
        assertThat(pair.query().port()).isEqualTo(1);
        assertThat(pair.query().has(QueuePairAttribute.TIMEOUT)).isFalse();
        driver(pair).rejectModify = true;
        assertThatThrownBy(() -> pair.modify(
                        new QueuePairAttributes().state(QueuePairState.INIT).port(2)))
                .hasMessageContaining("the device is gone");
        assertThat(pair.query().port()).isEqualTo(1);
        assertThat(pair.state()).isEqualTo(QueuePairState.INIT);
    }

    @Test
    void connectsWithTheSmallestMtuOfBothPorts() {
        QueuePair pair = connected(options());

        QueuePairAttributes now = pair.query();
        assertThat(now.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(now.pathMtu()).isEqualTo(PathMtu.MTU_512);
        assertThat(now.destinationNumber()).isEqualTo(0x99);
        assertThat(now.receivePsn()).isEqualTo(1);
        assertThat(now.sendPsn()).isEqualTo(pair.info().packetSequenceNumber());
        assertThat(now.rnrRetry()).isEqualTo(7);
        assertThat(pair.info().mtu()).isEqualTo(PathMtu.MTU_1024);
        assertThatThrownBy(() -> pair.connect(pair.info())).isInstanceOf(QueuePairStateException.class);
    }

    /// Defect W4 of rdma_comm_core: its RoCE path always used port 1.
    @Test
    void connectsThroughThePortAndGidOfTheOptions() {
        QueuePair pair = create(options());

        pair.connect(
                new QueuePairInfo(0x99, 1, 2, new Gid(3, 4), PathMtu.MTU_512),
                ConnectionOptions.defaults()
                        .withPath(PathOptions.defaults().withPort(2).withGidIndex(5)));

        QueuePairAttributes now = pair.query();
        assertThat(now.port()).isEqualTo(2);
        assertThat(now.addressVector().port()).isEqualTo(2);
        assertThat(now.addressVector().sourceGidIndex()).isEqualTo(5);
    }

    /// Defect W5 of rdma_comm_core: it used the MTU of the local port, which the peer may not support.
    @ParameterizedTest
    @CsvSource({
        "MTU_512,  MTU_4096, MTU_512",
        "MTU_4096, MTU_4096, MTU_1024",
        "MTU_4096, MTU_256,  MTU_256",
        "MTU_1024, MTU_1024, MTU_1024"
    })
    void theMtuIsTheSmallestOfThePeerTheOptionsAndThePort(PathMtu peer, PathMtu wanted, PathMtu expected) {
        QueuePair pair = create(options());

        pair.connect(
                new QueuePairInfo(0x99, 1, 2, new Gid(3, 4), peer),
                ConnectionOptions.defaults().withPath(PathOptions.defaults().withMtu(wanted)));

        assertThat(pair.info().mtu()).isEqualTo(PathMtu.MTU_1024);
        assertThat(pair.query().pathMtu()).isEqualTo(expected);
    }

    /// A side told its port's MTU whatever it connected with, so its peer sent longer packets than it accepts.
    @ParameterizedTest
    @CsvSource({
        "MTU_256,  MTU_4096, MTU_256",
        "MTU_4096, MTU_512,  MTU_512",
        "MTU_4096, MTU_4096, MTU_1024",
        "MTU_512,  MTU_256,  MTU_256"
    })
    void bothSidesTakeTheSmallestMtuThatEitherNames(PathMtu mine, PathMtu its, PathMtu expected) {
        QueuePair here = create(options());
        QueuePair there = create(options());
        ConnectionOptions how = withMtu(mine);
        ConnectionOptions itsHow = withMtu(its);

        QueuePairInfo told = here.info(how.path());
        here.connect(there.info(itsHow.path()), how);
        there.connect(told, itsHow);

        assertThat(here.query().pathMtu()).isEqualTo(expected);
        assertThat(there.query().pathMtu()).isEqualTo(expected);
    }

    private static ConnectionOptions withMtu(PathMtu mtu) {
        return ConnectionOptions.defaults().withPath(PathOptions.defaults().withMtu(mtu));
    }

    /// Defect R9 of rdma_comm_core: it reset and reused queue pairs, with packet numbers that started at 0.
    @Test
    void packetNumbersStartAtRandomAndAConnectedQueuePairCannotConnectAgain() {
        Set<Integer> numbers = new HashSet<>();
        for (int i = 0; i < 8; i++) {
            numbers.add(create(options()).info().packetSequenceNumber());
        }
        QueuePair pair = connected(options());

        // Eight equal random numbers of 24 bits do not happen.
        assertThat(numbers).hasSizeGreaterThan(1);
        assertThatThrownBy(() -> pair.connect(pair.info()))
                .isInstanceOf(QueuePairStateException.class)
                .hasMessageContaining("READY_TO_SEND");
    }

    @Test
    void aFullSendQueueAcceptsNoMoreUntilACompletionIsPolled() {
        QueuePair pair = connected(options());
        SendBatch batch = sends(6, true);

        assertThat(pair.post(batch)).isEqualTo(4);
        assertThat(pair.post(batch, 4)).isZero();
        device.complete(0, WorkStatus.SUCCESS, CompletionOpcode.SEND, pair.number());
        assertThat(pair.post(batch, 4)).as("not before it is polled").isZero();
        assertThat(queue.poll(completions)).isEqualTo(1);
        assertThat(pair.post(batch, 4)).isEqualTo(1);
        assertThat(driver(pair).sent).containsExactly(0L, 1L, 2L, 3L, 4L);
    }

    @Test
    void unsignaledSendsHoldTheirSlotsUntilALaterCompletion() {
        QueuePair pair = connected(options());
        SendBatch silent = sends(3, false);
        pair.post(silent);
        assertThat(pair.post(sends(1, true))).isEqualTo(1);
        assertThat(pair.post(silent)).isZero();

        device.complete(0, WorkStatus.SUCCESS, CompletionOpcode.SEND, pair.number());
        queue.poll(completions);

        assertThat(pair.post(sends(4, true))).isEqualTo(4);
    }

    @Test
    void signalAllSignalsEverySend() {
        QueuePair pair = connected(options().withSignalAll(true));
        pair.post(sends(4, false));
        for (int i = 0; i < 3; i++) {
            device.complete(i, WorkStatus.SUCCESS, CompletionOpcode.SEND, pair.number());
        }
        queue.poll(completions);

        assertThat(pair.post(sends(4, false))).isEqualTo(3);
    }

    @Test
    void slotsOfRequestsThatTheDeviceRejectedAreFree() {
        QueuePair pair = connected(options());
        driver(pair).takeAtMost = 1;
        assertThat(pair.post(sends(3, true))).isEqualTo(1);
        driver(pair).takeAtMost = 100;
        assertThat(pair.post(sends(4, true))).isEqualTo(3);
    }

    @Test
    void aFullReceiveQueueAcceptsNoMoreUntilACompletionIsPolled() {
        QueuePair pair = connected(options());
        assertThat(pair.post(receives(6))).isEqualTo(4);
        assertThat(pair.post(receives(1))).isZero();
        device.complete(0, WorkStatus.SUCCESS, CompletionOpcode.RECEIVE, pair.number());
        queue.poll(completions);
        assertThat(pair.post(receives(2))).isEqualTo(1);
    }

    @Test
    void aResetEmptiesBothQueues() {
        QueuePair pair = connected(options());
        pair.post(sends(4, true));
        pair.post(receives(4));
        device.complete(0, WorkStatus.SUCCESS, CompletionOpcode.SEND, pair.number());
        device.complete(0, WorkStatus.SUCCESS, CompletionOpcode.RECEIVE, pair.number());
        pair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        pair.connect(new QueuePairInfo(0x99, 1, 2, new Gid(3, 4), PathMtu.MTU_512));

        assertThat(queue.poll(completions)).as("completions from before stay").isEqualTo(2);
        assertThat(pair.post(sends(6, true))).isEqualTo(4);
        assertThat(pair.post(receives(6))).isEqualTo(4);
    }

    @Test
    void aFailedQueuePairAcceptsEveryRequestAndFlushesIt() {
        QueuePair pair = connected(options());
        pair.post(sends(4, true));
        driver(pair).owner.entered(QueuePairState.ERROR);

        assertThat(pair.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(pair.post(sends(6, true))).isEqualTo(6);
        assertThat(pair.post(receives(6))).isEqualTo(6);
    }

    @Test
    void aRequestThatDoesNotFitIsNamedAndThoseBeforeItArePosted() {
        QueuePair pair = connected(options());
        SendBatch batch = SendBatch.create(arena, 3, 4, 64);
        batch.send(0).send(1).with(0, 1, 1).with(0, 1, 1).with(0, 1, 1).send(2);

        WorkRequestException bad = catchThrowableOfType(WorkRequestException.class, () -> pair.post(batch));

        assertThat(bad.index()).isEqualTo(1);
        assertThat(bad.errno()).isEqualTo(Errno.EINVAL);
        assertThat(bad).hasMessageContaining("3 scatter/gather elements, this queue pair allows 2");
        assertThat(driver(pair).sent).containsExactly(0L);
    }

    @Test
    void tooLongInlineDataIsNamedAndRequestsBeforeItArePosted() {
        QueuePair pair = connected(options());
        SendBatch batch = SendBatch.create(arena, 2, 4, 64);
        batch.send(0).inline(arena.allocate(64), 0, 16);
        batch.send(1).inline(arena.allocate(64), 0, 17);

        WorkRequestException bad = catchThrowableOfType(WorkRequestException.class, () -> pair.post(batch));

        assertThat(bad.index()).isEqualTo(1);
        assertThat(bad).hasMessageContaining("17 inline bytes, this queue pair allows 16");
        assertThat(driver(pair).sent).containsExactly(0L);
    }

    @Test
    void inlineDataThatGrowsLaterIsChecked() {
        QueuePair pair = connected(options());
        SendBatch batch = SendBatch.create(arena, 1, 2);
        batch.send(0).inline().with(0x1000, 17, 1);
        assertThatThrownBy(() -> pair.post(batch)).hasMessageContaining("17 inline bytes");
        batch.element(0, 0, 0x1000, 16, 1);
        assertThat(pair.post(batch)).isEqualTo(1);
        batch.element(0, 0, 0x1000, 18, 1);
        assertThatThrownBy(() -> pair.post(batch)).hasMessageContaining("18 inline bytes");
    }

    @Test
    void readsAndAtomicsCannotBeInline() {
        QueuePair pair = connected(options());
        SendBatch batch = SendBatch.create(arena, 1, 1);
        batch.read(0, 0x1000, 1).with(0x2000, 8, 1).inline();
        assertThatThrownBy(() -> pair.post(batch))
                .isInstanceOf(WorkRequestException.class)
                .hasMessageContaining("READ cannot be inline");
        batch.clear().fetchAndAdd(0, 0x1000, 1, 1).with(0x2000, 8, 1).inline();
        assertThatThrownBy(() -> pair.post(batch)).hasMessageContaining("FETCH_AND_ADD cannot be inline");
    }

    @Test
    void aReceiveWithTooManyElementsIsNamed() {
        QueuePair pair = connected(options());
        ReceiveBatch batch = ReceiveBatch.create(arena, 2, 3);
        batch.receive(0).receive(1).with(0, 1, 1).with(0, 1, 1).with(0, 1, 1);

        WorkRequestException bad = catchThrowableOfType(WorkRequestException.class, () -> pair.post(batch));

        assertThat(bad.index()).isEqualTo(1);
        assertThat(driver(pair).received).containsExactly(0L);
    }

    @Test
    void anOpcodeThatServiceOrDeviceDoNotSupportIsRejected() {
        device.capabilities.remove(Capability.ATOMICS);
        QueuePair unreliable = connectedUnreliable();
        SendBatch batch = SendBatch.create(arena, 1, 1);

        batch.read(0, 0, 0).with(0, 8, 0);
        assertThatThrownBy(() -> unreliable.post(batch)).hasMessageContaining("READ is not supported on a UNRELIABLE");
        batch.clear().fetchAndAdd(0, 0, 0, 0).with(0, 8, 0);
        QueuePair reliable = connected(options());
        assertThatThrownBy(() -> reliable.post(batch)).hasMessageContaining("FETCH_AND_ADD is not supported");
    }

    @Test
    void anOpcodeThatThePeerDoesNotSupportIsRejectedUntilReset() {
        QueuePair pair = connected(options());
        SendBatch batch = SendBatch.create(arena, 2, 1);
        batch.send(0).sendWithImmediate(1, 7);
        driver(pair).owner.peerDoesNotSupport(EnumSet.of(SendOpcode.SEND_WITH_IMMEDIATE), "it is an old one");

        WorkRequestException bad = catchThrowableOfType(WorkRequestException.class, () -> pair.post(batch));

        assertThat(bad.index()).isEqualTo(1);
        assertThat(bad).hasMessageContaining("SEND_WITH_IMMEDIATE is not supported by this peer: it is an old one");
        assertThat(driver(pair).sent).containsExactly(0L);
        pair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        pair.connect(new QueuePairInfo(0x99, 1, 2, new Gid(3, 4), PathMtu.MTU_512));
        assertThat(pair.post(batch)).isEqualTo(2);
    }

    @Test
    void anOpcodeThatTheDeviceDoesNotSupportIsNotBlamedOnThePeer() {
        device.capabilities.remove(Capability.ATOMICS);
        QueuePair pair = connected(options());
        driver(pair).owner.peerDoesNotSupport(EnumSet.of(SendOpcode.FETCH_AND_ADD), "it is an old one");
        driver(pair).owner.peerDoesNotSupport(EnumSet.noneOf(SendOpcode.class), "");
        SendBatch batch = SendBatch.create(arena, 1, 1);
        batch.fetchAndAdd(0, 0, 0, 0).with(0, 8, 0);
        assertThatThrownBy(() -> pair.post(batch)).hasMessageContaining("FETCH_AND_ADD is not supported on a RELIABLE");
    }

    @Test
    void anUnsupportedStateIsRejectedWithoutAskingTheDevice() {
        QueuePair pair = connected(options());
        device.capabilities.remove(Capability.SEND_QUEUE_DRAIN);
        device.capabilities.remove(Capability.RESET);
        for (QueuePairState unknown : EnumSet.of(QueuePairState.SEND_QUEUE_DRAIN, QueuePairState.RESET)) {
            assertThatThrownBy(() -> pair.modify(new QueuePairAttributes().state(unknown)))
                    .isInstanceOf(UnsupportedVerbException.class)
                    .hasMessageContaining("modify queue pair to " + unknown);
            assertThat(pair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        }
        QueuePair fresh = create(options());
        fresh.modify(init());
        fresh.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        assertThat(fresh.state()).as("it was never connected").isEqualTo(QueuePairState.RESET);
    }

    @Test
    void aPathIsOneOfThePort() {
        QueuePairInfo peer = new QueuePairInfo(1, 2, 3, Gid.NONE, PathMtu.MTU_1024);
        PathOptions path = PathOptions.defaults();
        ConnectionOptions how = ConnectionOptions.defaults();
        QueuePair pair = create(options());
        assertThatThrownBy(() -> pair.connect(peer, how.withPath(path.withPartitionKeyIndex(1))))
                .isInstanceOfSatisfying(
                        VerbException.class,
                        failure -> assertThat(failure.errno()).isEqualTo(Errno.EINVAL))
                .hasMessageContainingAll("port 1 of null0", "no partition key 1", "0 to 0");
        assertThatThrownBy(() -> pair.initialize(how.withPath(path.withSubnetPath(1, 0))))
                .hasMessageContainingAll("port 1 of null0", "no source path bits 1", "0 to 0");
        assertThat(pair.state()).isEqualTo(QueuePairState.RESET);
        QueuePair datagrams = create(options().withType(QueuePairType.UNRELIABLE_DATAGRAM));
        assertThatThrownBy(() -> datagrams.initialize(DatagramOptions.ofKey(0).withPartitionKeyIndex(1)))
                .hasMessageContaining("no partition key 1");
        pair.connect(peer, how.withPath(path.withSubnetPath(0, 7)));
        assertThat(pair.query().addressVector()).isEqualTo(new AddressVector(Gid.NONE, 3, 0, 1, 0, 0, 64, 0, 0, 7));
        assertThatThrownBy(() -> path.withSubnetPath(128, 0)).hasMessageContaining("source path bits");
        assertThatThrownBy(() -> path.withSubnetPath(0, 32)).hasMessageContaining("static rate");
    }

    private QueuePair connectedUnreliable() {
        QueuePair pair = create(options().withType(QueuePairType.UNRELIABLE_CONNECTED));
        pair.modify(init());
        pair.modify(new QueuePairAttributes()
                .state(QueuePairState.READY_TO_RECEIVE)
                .addressVector(new AddressVector(Gid.NONE, 1, 0, 1, 0, 0, 0, 0))
                .pathMtu(PathMtu.MTU_1024)
                .destinationNumber(1)
                .receivePsn(2));
        pair.modify(
                new QueuePairAttributes().state(QueuePairState.READY_TO_SEND).sendPsn(1));
        return pair;
    }

    @Test
    void receivesOfASharedQueueCannotBePostedToTheQueuePair() {
        SharedReceiveQueue shared = domain.createSharedReceiveQueue(SharedReceiveQueueOptions.ofDepth(4));
        QueuePair pair = connected(options().withSharedReceives(shared));

        VerbException rejected = catchThrowableOfType(VerbException.class, () -> pair.post(receives(1)));

        assertThat(rejected.errno()).isEqualTo(Errno.EINVAL);
        assertThat(rejected).hasMessageContaining("shared receive queue");
        assertThatThrownBy(shared::close).hasMessageContaining("EBUSY");
        assertThat(shared.post(receives(2))).isEqualTo(2);
    }

    @Test
    void aRejectedRequestLeavesThoseBeforeItPosted() {
        QueuePair pair = connected(options().withSizes(QueueSizes.defaults().withDepth(3, 1)));
        SendBatch batch = SendBatch.create(arena, 3, 1).send(1).send(2).send(3);
        driver(pair).failure = new WorkRequestException("post send", Errno.EINVAL, 2, "the device rejects it");

        assertThatThrownBy(() -> pair.post(batch)).isSameAs(driver(pair).failure);

        driver(pair).failure = null;
        assertThat(pair.post(batch)).as("two slots are taken").isEqualTo(1);
    }

    @Test
    void aFailedPostFreesItsSlots() {
        QueuePair pair = connected(options());
        SendBatch batch = sends(6, true);
        driver(pair).failure = new VerbException("post", Errno.EINVAL, "rejected");
        assertThatThrownBy(() -> pair.post(batch)).isSameAs(driver(pair).failure);

        driver(pair).failure = null;
        assertThat(pair.post(batch)).as("the depth").isEqualTo(4);
        assertThat(driver(pair).sent).containsExactly(0L, 1L, 2L, 3L);
    }

    @Test
    void theChainOfSharedReceivesEndsBeforeABadOne() {
        SharedReceiveQueue shared = domain.createSharedReceiveQueue(SharedReceiveQueueOptions.ofDepth(8));
        ReceiveBatch batch = ReceiveBatch.create(arena, 3, 2);
        batch.receive(1).with(0, 8, 1);
        batch.receive(2).with(0, 8, 1).with(0, 8, 1);
        batch.receive(3);
        WorkRequestException failure = catchThrowableOfType(WorkRequestException.class, () -> shared.post(batch));
        assertThat(failure.index()).isEqualTo(1);
    }
}
