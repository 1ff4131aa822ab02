package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.Deviation;
import io.rdmacomm.tests.fixture.EndQueue;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.DatagramOptions;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.PathOptions;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttribute;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.QueueSizes;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// Attributes of a queue pair that were set are read back.
class QueryTest extends ContractCase {
    private static final EnumSet<QueuePairAttribute> ALWAYS =
            EnumSet.of(QueuePairAttribute.STATE, QueuePairAttribute.CURRENT_STATE, QueuePairAttribute.CAPACITY);
    private static final EnumSet<QueuePairAttribute> INITIALIZED = EnumSet.of(
            QueuePairAttribute.ACCESS_FLAGS, QueuePairAttribute.PORT, QueuePairAttribute.PARTITION_KEY_INDEX);
    private static final EnumSet<QueuePairAttribute> RECEIVING = EnumSet.of(
            QueuePairAttribute.ADDRESS_VECTOR,
            QueuePairAttribute.PATH_MTU,
            QueuePairAttribute.DESTINATION_NUMBER,
            QueuePairAttribute.RECEIVE_PSN,
            QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC,
            QueuePairAttribute.MIN_RNR_TIMER);
    private static final EnumSet<QueuePairAttribute> SENDING = EnumSet.of(
            QueuePairAttribute.SEND_PSN,
            QueuePairAttribute.TIMEOUT,
            QueuePairAttribute.RETRY_COUNT,
            QueuePairAttribute.RNR_RETRY,
            QueuePairAttribute.MAX_READ_ATOMIC);

    private static QueuePairAttributes has(LocalQueue queue, QueuePairState state, Set<QueuePairAttribute> more) {
        QueuePairAttributes now = queue.queuePair().query();
        assertThat(now.state()).isEqualTo(state);
        assertThat(now.currentState()).isEqualTo(state);
        EnumSet<QueuePairAttribute> expected = EnumSet.copyOf(ALWAYS);
        expected.addAll(more);
        assertThat(now.present()).isEqualTo(expected);
        QueueSizes known = queue.queuePair().sizes();
        assertThat(now.sizes().sends()).isGreaterThanOrEqualTo(known.sends());
        assertThat(now.sizes().receives()).isGreaterThanOrEqualTo(known.receives());
        assertThat(now.sizes().sendElements()).isGreaterThanOrEqualTo(known.sendElements());
        assertThat(now.sizes().receiveElements()).isGreaterThanOrEqualTo(known.receiveElements());
        assertThat(now.sizes().inlineBytes()).isGreaterThanOrEqualTo(known.inlineBytes());
        assertThat(now.draining()).isFalse();
        return now;
    }

    @SafeVarargs
    private static Set<QueuePairAttribute> all(Set<QueuePairAttribute>... sets) {
        EnumSet<QueuePairAttribute> all = EnumSet.noneOf(QueuePairAttribute.class);
        for (Set<QueuePairAttribute> each : sets) {
            all.addAll(each);
        }
        return all;
    }

    /// Not the defaults, and not what another attribute is.
    private ConnectionOptions particular() {
        PathOptions path = PathOptions.defaults()
                .withMtu(PathMtu.MTU_256)
                .withQuality(0, 104)
                .withHopLimit(33);
        ConnectionOptions how = patient().withTimeout(Duration.ofMillis(500), 5);
        return how.withRetries(how.retries().withReceiverNotReady(3, Duration.ofMillis(1)))
                .withPath(path)
                .withAccessFlags(Set.of(AccessFlag.REMOTE_WRITE))
                .withReadAtomic(2, 4);
    }

    @Test
    void whatConnectingSetsIsReadBack() {
        Pair pair = pair(Spec.usual());
        LocalQueue queue = pair.here();
        EndQueue peer = pair.there();
        has(queue, QueuePairState.RESET, Set.of());
        if (!can(Capability.CONNECT_BY_NUMBERS)) {
            pair.connect(patient());
            QueuePairAttributes now = has(queue, QueuePairState.READY_TO_SEND, INITIALIZED);
            assertThat(now.port()).isEqualTo(1);
            assertThat(AccessFlag.of(now.accessFlags())).contains(AccessFlag.REMOTE_WRITE);
            return;
        }
        ConnectionOptions how = particular();
        queue.queuePair().initialize(how);
        QueuePairAttributes now = has(queue, QueuePairState.INIT, INITIALIZED);
        assertThat(now.port()).isEqualTo(1);
        assertThat(now.partitionKeyIndex()).isZero();
        assertThat(AccessFlag.of(now.accessFlags())).containsExactly(AccessFlag.REMOTE_WRITE);

        queue.queuePair().readyToReceive(peer.info(), how);
        now = has(queue, QueuePairState.READY_TO_RECEIVE, all(INITIALIZED, RECEIVING));
        assertThat(now.pathMtu()).isEqualTo(PathMtu.MTU_256);
        assertThat(now.destinationNumber()).isEqualTo(peer.number());
        assertThat(now.receivePsn()).isEqualTo(peer.info().packetSequenceNumber());
        assertThat(now.maxDestinationReadAtomic()).isEqualTo(4);
        assertThat(now.minRnrTimer()).isEqualTo(how.retries().rnrTimer());
        AddressVector to = now.addressVector();
        assertThat(to.destinationGid()).isEqualTo(peer.info().gid());
        assertThat(to.port()).isEqualTo(1);
        assertThat(to.trafficClass()).isEqualTo(104);
        assertThat(to.hopLimit()).isEqualTo(has(Deviation.HOP_LIMIT_IS_THAT_OF_THE_ROUTE) ? 64 : 33);
        assertThat(to.sourceGidIndex()).isEqualTo(here().context().preferredGidIndex(1));

        queue.queuePair().readyToSend(how);
        now = has(queue, QueuePairState.READY_TO_SEND, all(INITIALIZED, RECEIVING, SENDING));
        assertThat(now.sendPsn()).isEqualTo(queue.info().packetSequenceNumber());
        assertThat(now.timeout()).isEqualTo(how.retries().timeout());
        assertThat(now.retryCount()).isEqualTo(5);
        assertThat(now.rnrRetry()).isEqualTo(3);
        assertThat(now.maxReadAtomic()).isEqualTo(2);
        assertThat(now.port()).as("of before").isEqualTo(1);
        assertThat(now.pathMtu()).isEqualTo(PathMtu.MTU_256);
        assertThat(now.receivePsn()).isEqualTo(peer.info().packetSequenceNumber());
        assertThat(now.toString()).contains("STATE=READY_TO_SEND", "PATH_MTU=MTU_256", "RETRY_COUNT=5");

        peer.connect(queue.info(), patient());
        peer.receive(1);
        queue.post(Work.send(2));
        good(queue.one(), 2, CompletionOpcode.SEND);
        good(peer.one(), 1, CompletionOpcode.RECEIVE);
    }

    @Test
    void whatIsSetLaterIsReadBack() {
        LocalQueue queue = connected().here();
        if (can(Capability.CONNECT_BY_NUMBERS)) {
            queue.queuePair()
                    .modify(new QueuePairAttributes()
                            .accessFlags(Set.of(AccessFlag.REMOTE_READ))
                            .minRnrTimer(particular().retries().rnrTimer()));
            QueuePairAttributes now = queue.queuePair().query();
            assertThat(AccessFlag.of(now.accessFlags())).containsExactly(AccessFlag.REMOTE_READ);
            assertThat(now.minRnrTimer()).isEqualTo(particular().retries().rnrTimer());
        }
        queue.modify(QueuePairState.ERROR);
        assertThat(queue.queuePair().query().state()).isEqualTo(QueuePairState.ERROR);
        if (can(Capability.RESET)) {
            queue.modify(QueuePairState.RESET);
            has(queue, QueuePairState.RESET, Set.of());
        }
    }

    @Test
    void saysWhetherTheSendQueueIsDraining() {
        LocalQueue queue = connected().here();
        if (!can(Capability.SEND_QUEUE_DRAIN)) {
            return;
        }
        queue.queuePair()
                .modify(new QueuePairAttributes()
                        .state(QueuePairState.SEND_QUEUE_DRAIN)
                        .drainNotification(true));
        Deadline.await(
                "nothing is to be drained", () -> !queue.queuePair().query().draining());
        assertThat(queue.queuePair().query().state()).isEqualTo(QueuePairState.SEND_QUEUE_DRAIN);
        queue.modify(QueuePairState.READY_TO_SEND);
        assertThat(queue.queuePair().query().draining()).isFalse();
    }

    @Test
    void whatStartingDatagramsSetsIsReadBack() {
        if (!can(Capability.UNRELIABLE_DATAGRAM)) {
            return;
        }
        CompletionQueue completions = here().context().createCompletionQueue(CompletionQueueOptions.ofCapacity(16));
        QueuePair pair = here().domain()
                .createQueuePair(QueuePairOptions.reliable(completions)
                        .withType(QueuePairType.UNRELIABLE_DATAGRAM)
                        .withSizes(QueueSizes.defaults().withInline(0)));
        pair.startDatagrams(DatagramOptions.ofKey(0x11223344));
        QueuePairAttributes now = pair.query();
        assertThat(now.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(now.queueKey()).isEqualTo(0x11223344);
        assertThat(now.sendPsn()).isEqualTo(pair.info().packetSequenceNumber());
        assertThat(now.port()).isEqualTo(1);
        assertThat(now.present())
                .doesNotContain(QueuePairAttribute.TIMEOUT, QueuePairAttribute.ADDRESS_VECTOR)
                .contains(QueuePairAttribute.PARTITION_KEY_INDEX);
    }
}
