package io.rdmacomm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.net.InetAddress;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Bringing up each type of queue pair, datagrams that are posted, and multicast groups.
class DatagramQueuePairTest extends QueuePairFixture {
    private static final QueuePairInfo PEER = new QueuePairInfo(0x99, 1, 2, new Gid(3, 4), PathMtu.MTU_512);
    private static final Gid GROUP = Gid.of(InetAddress.ofLiteral("239.1.2.3"));

    private QueuePair datagrams() {
        QueuePair pair = create(options().withType(QueuePairType.UNRELIABLE_DATAGRAM));
        pair.startDatagrams(DatagramOptions.ofKey(0x1234));
        return pair;
    }

    private AddressHandle handle() {
        return domain.createAddressHandle(PEER, PathOptions.defaults());
    }

    private String complaint(QueuePair pair, SendBatch batch, int index) {
        WorkRequestException bad = catchThrowableOfType(WorkRequestException.class, () -> pair.post(batch));
        assertThat(bad.index()).isEqualTo(index);
        return bad.getMessage();
    }

    @Test
    void anUnreliableConnectionIsMadeWithoutWhatBelongsToAcknowledgements() {
        QueuePair pair = create(options().withType(QueuePairType.UNRELIABLE_CONNECTED));

        pair.connect(PEER);

        assertThat(pair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        Set<QueuePairAttribute> set = EnumSet.noneOf(QueuePairAttribute.class);
        driver(pair).changes.forEach(change -> set.addAll(change.present()));
        assertThat(set)
                .containsExactlyInAnyOrder(
                        QueuePairAttribute.STATE,
                        QueuePairAttribute.ACCESS_FLAGS,
                        QueuePairAttribute.PARTITION_KEY_INDEX,
                        QueuePairAttribute.PORT,
                        QueuePairAttribute.ADDRESS_VECTOR,
                        QueuePairAttribute.PATH_MTU,
                        QueuePairAttribute.DESTINATION_NUMBER,
                        QueuePairAttribute.RECEIVE_PSN,
                        QueuePairAttribute.SEND_PSN);
        assertThat(AccessFlag.of(pair.query().accessFlags()))
                .as("it has neither READs nor atomics")
                .containsExactlyInAnyOrder(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
    }

    @Test
    void anUnreliableConnectionCanBeMadeInSteps() {
        QueuePair pair = create(options().withType(QueuePairType.UNRELIABLE_CONNECTED));
        ConnectionOptions how = ConnectionOptions.defaults();
        pair.initialize(how);
        assertThat(pair.post(receives(1))).isEqualTo(1);
        pair.readyToReceive(PEER, how);
        pair.readyToSend(how);
        assertThat(pair.post(sends(1, true))).isEqualTo(1);
    }

    @Test
    void datagramsNeedAPortAndAKey() {
        QueuePair pair = create(options().withType(QueuePairType.UNRELIABLE_DATAGRAM));
        pair.initialize(DatagramOptions.ofKey(0x1234).withPort(1));
        assertThat(pair.state()).isEqualTo(QueuePairState.INIT);
        assertThat(pair.post(receives(1))).isEqualTo(1);

        pair.startDatagrams();

        assertThat(pair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(pair.query().queueKey()).isEqualTo(0x1234);
        assertThat(pair.query().sendPsn()).isEqualTo(pair.info().packetSequenceNumber());
    }

    @Test
    void eachTypeRejectsTheStepsOfTheOther() {
        QueuePair datagrams = create(options().withType(QueuePairType.UNRELIABLE_DATAGRAM));
        assertThatThrownBy(() -> datagrams.connect(PEER))
                .hasMessageContaining("EINVAL")
                .hasMessageContaining("startDatagrams");
        assertThatThrownBy(() -> datagrams.initialize(ConnectionOptions.defaults()))
                .hasMessageContaining("EINVAL");
        QueuePair connected = create(options());
        assertThatThrownBy(() -> connected.startDatagrams(DatagramOptions.ofKey(1)))
                .hasMessageContaining("RELIABLE_CONNECTED, not UNRELIABLE_DATAGRAM");
        assertThatThrownBy(connected::startDatagrams).hasMessageContaining("EINVAL");
        assertThat(datagrams.state()).isEqualTo(QueuePairState.RESET);
        assertThat(connected.state()).isEqualTo(QueuePairState.RESET);
    }

    @Test
    void anAddressHandleUsesThePathAndThePeersNumbers() {
        PathOptions path =
                PathOptions.defaults().withGidIndex(7).withQuality(3, 96).withHopLimit(5);
        domain.createAddressHandle(PEER, path).close();
        domain.createAddressHandle(PEER, PathOptions.defaults()).close();
        assertThat(device.log)
                .containsExactly(
                        "address " + new AddressVector(PEER.gid(), 2, 7, 1, 3, 96, 5, 0),
                        "address " + new AddressVector(PEER.gid(), 2, 0, 1, 0, 0, 64, 0));
    }

    @Test
    void aDatagramWithoutAddressIsRejected() {
        QueuePair pair = datagrams();
        SendBatch batch = SendBatch.create(arena, 3, 1);
        batch.send(0).to(handle(), 0x12, 1).send(1).send(2).to(handle(), 0x12, 1);

        assertThat(complaint(pair, batch, 1)).contains("it has no address; call to(...)");

        assertThat(driver(pair).sent).containsExactly(0L);
        batch.destination(1, handle(), 0x13, 2);
        assertThat(pair.post(batch, 1)).isEqualTo(2);
    }

    @Test
    void aRequestHasNoAddressOfThePreviousOneInItsPlace() {
        QueuePair pair = datagrams();
        SendBatch batch = SendBatch.create(arena, 1, 1);
        batch.send(0).to(handle(), 0x12, 1);
        assertThat(pair.post(batch)).isEqualTo(1);
        assertThat(complaint(pair, batch.clear().send(1), 0)).contains("no address");
    }

    @Test
    void aClosedAddressHandleIsRejected() {
        QueuePair pair = datagrams();
        AddressHandle handle = handle();
        SendBatch batch = SendBatch.create(arena, 1, 1);
        batch.send(0).to(handle, 0x12, 1);
        assertThat(pair.post(batch)).isEqualTo(1);
        handle.close();
        assertThat(complaint(pair, batch, 0)).contains("its address handle on null0 is closed");
    }

    @Test
    void aDatagramIsAtMostAsLongAsTheMtuOfThePort() {
        QueuePair pair = datagrams();
        SendBatch batch = SendBatch.create(arena, 2, 2);
        batch.send(0).with(0, 1000, 1).with(0, 24, 1).to(handle(), 1, 1);
        batch.send(1).with(0, 1000, 1).with(0, 25, 1).to(handle(), 1, 1);

        assertThat(complaint(pair, batch, 1)).contains("1025 bytes, a datagram has at most 1024");

        assertThat(driver(pair).sent).containsExactly(0L);
        batch.element(1, 1, 0, 24, 1);
        assertThat(pair.post(batch, 1)).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource(
            value = SendOpcode.class,
            names = {"SEND", "SEND_WITH_IMMEDIATE", "UNKNOWN"},
            mode = EnumSource.Mode.EXCLUDE)
    void aDatagramIsASendWithOrWithoutImmediateData(SendOpcode opcode) {
        QueuePair pair = datagrams();
        SendBatch batch = SendBatch.create(arena, 3, 1);
        batch.send(0).to(handle(), 1, 1);
        batch.sendWithImmediate(1, 2).to(handle(), 1, 1);
        switch (opcode) {
            case WRITE -> batch.write(2, 0, 0);
            case WRITE_WITH_IMMEDIATE -> batch.writeWithImmediate(2, 0, 0, 0);
            case READ -> batch.read(2, 0, 0);
            case COMPARE_AND_SWAP -> batch.compareAndSwap(2, 0, 0, 0, 0);
            case FETCH_AND_ADD -> batch.fetchAndAdd(2, 0, 0, 0);
            case LOCAL_INVALIDATE -> batch.localInvalidate(2, 0);
            case SEND_WITH_INVALIDATE -> batch.sendWithInvalidate(2, 0);
            default -> {
                return; // a window needs a region, and its opcode is checked like the others
            }
        }
        assertThat(complaint(pair, batch, 2)).contains(opcode + " is not supported on a UNRELIABLE_DATAGRAM");
        assertThat(driver(pair).sent).containsExactly(0L, 1L);
    }

    @Test
    void aQueuePairNumberHas24Bits() {
        SendBatch batch = SendBatch.create(arena, 1, 1);
        batch.send(0).to(handle(), SendBatch.MULTICAST, -1);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> batch.to(handle(), 0x1000000, 1))
                .withMessageContaining("queue pair number");
    }

    @Test
    void aSendQueueThatRecoversFromAnErrorHasAllItsRoom() {
        QueuePair pair = datagrams();
        SendBatch batch = SendBatch.create(arena, 4, 1);
        for (int i = 0; i < 4; i++) {
            batch.send(i).to(handle(), 1, 1);
        }
        assertThat(pair.post(batch)).isEqualTo(4);
        assertThat(pair.post(batch)).isZero();
        driver(pair).owner.entered(QueuePairState.SEND_QUEUE_ERROR);

        pair.modify(new QueuePairAttributes().state(QueuePairState.READY_TO_SEND));

        assertThat(pair.post(batch)).isEqualTo(4);
    }

    @Test
    void groupsAreAttachedOnceAndLeftBeforeTheQueuePairIsDestroyed() {
        QueuePair pair = datagrams();
        Gid other = new Gid(0xff0e_0000_0000_0000L, 1);
        pair.attach(GROUP);
        pair.attach(GROUP);
        pair.attach(other, 0xc001);
        pair.detach(GROUP);
        assertThatThrownBy(() -> pair.detach(GROUP)).hasMessageContaining("is not attached to ::ffff:239.1.2.3");
        pair.attach(GROUP);

        pair.close();

        assertThat(driver(pair).memberships)
                .containsExactly(
                        "attach ::ffff:239.1.2.3 0",
                        "attach " + other + " 49153",
                        "detach ::ffff:239.1.2.3 0",
                        "attach ::ffff:239.1.2.3 0",
                        "detach " + other + " 49153",
                        "detach ::ffff:239.1.2.3 0",
                        "destroy");
    }

    @Test
    void aFailedAttachLeavesNothingToDetach() {
        QueuePair pair = datagrams();
        driver(pair).failure = new VerbException("attach", Errno.ENOMEM, "no more groups");
        assertThatThrownBy(() -> pair.attach(GROUP)).isSameAs(driver(pair).failure);
        driver(pair).failure = null;
        pair.close();
        assertThat(driver(pair).memberships).containsExactly("destroy");
    }

    @Test
    void onlyDatagramsHaveGroups() {
        QueuePair pair = datagrams();
        assertThatThrownBy(() -> pair.attach(new Gid(3, 4))).hasMessageContaining("is not a multicast group");
        QueuePair connected = connected(options());
        assertThatThrownBy(() -> connected.attach(GROUP)).hasMessageContaining("not UNRELIABLE_DATAGRAM");
        device.capabilities.remove(Capability.MULTICAST);
        assertThatThrownBy(() -> pair.attach(GROUP))
                .isInstanceOfSatisfying(UnsupportedVerbException.class, rejected -> {
                    assertThat(rejected.capability()).isEqualTo(Capability.MULTICAST);
                });
        pair.close();
        assertThatThrownBy(() -> pair.attach(GROUP)).isInstanceOf(IllegalStateException.class);
    }
}
