package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.roce.wire.PacketOpcode;
import io.rdmacomm.soft.roce.wire.Psn;
import io.rdmacomm.soft.roce.wire.Syndrome;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// A device that speaks RoCE v2, and a peer that lies, loses packets, or says nothing.
@Timeout(60)
class RoceDeviceTest extends RoceCase {
    private static final int SENT_BYTES = 4096;

    RoceDeviceTest() {
        super(QueuePairType.RELIABLE_CONNECTED);
    }

    private Packet answer(int opcode, int number, int syndrome) {
        Packet packet = packet(opcode, 0);
        packet.psn = Psn.add(psn, number);
        packet.wantsAnswer = false;
        packet.syndrome = syndrome;
        return packet;
    }

    private void assertAnswer(int number, int syndrome) throws IOException {
        Packet packet = awaitPacket();
        assertThat(packet.opcode).isEqualTo(PacketOpcode.ACKNOWLEDGE);
        assertThat(packet.syndrome).isEqualTo(syndrome);
        assertThat(packet.psn).isEqualTo(Psn.add(THEIR_PSN, number));
        assertThat(packet.destination).isEqualTo(THEIR_NUMBER);
    }

    private void read(int bytes) {
        pair.post(SendBatch.create(arena, 1, 1)
                .read(1, 0x1000, 5)
                .with(region, 0, bytes)
                .signaled());
    }

    /// The request has been posted, so its failure is a completion, not an exception of the call.
    @Test
    void aRequestWhoseMemoryWasFreedEndsWithAnError() {
        Arena mistake = Arena.ofShared();
        MemoryRegion freed = domain.register(mistake.allocate(64, 8), AccessFlag.allRemote());
        mistake.close();

        pair.post(SendBatch.create(arena, 1, 1)
                .write(1, 0x1000, 5)
                .with(freed, 0, 64)
                .signaled());

        assertThat(poll().status(0)).isEqualTo(WorkStatus.GENERAL_ERROR);
        assertThat(pair.state()).isEqualTo(QueuePairState.ERROR);
    }

    // ---- The responder ----

    @Test
    void aRepeatedMessageIsAcknowledgedAndReceivedOnce() throws IOException {
        receive(1);
        receive(2);
        for (int i = 0; i < 3; i++) {
            peer.send(packet(PacketOpcode.SEND_ONLY, 0), 8, 0);
            assertAnswer(0, Syndrome.DONE);
        }
        assertThat(poll().workId(0)).isOne();
        assertNothingCompletes();
        assertThat(counter("roce_duplicates")).isEqualTo(2);
    }

    @Test
    void aGapIsReportedOnce() throws IOException {
        receive(1);
        peer.send(packet(PacketOpcode.SEND_ONLY, 1), 8, 0);
        assertAnswer(0, Syndrome.SEQUENCE_ERROR);
        peer.send(packet(PacketOpcode.SEND_ONLY, 2), 8, 0);
        assertThat(peer.receive(SHORT_MILLIS)).isNull();
        peer.send(packet(PacketOpcode.SEND_ONLY, 0), 8, 0);
        assertAnswer(0, Syndrome.DONE);
        assertThat(poll().workId(0)).isOne();
        assertThat(counter("roce_packets_out_of_order")).isOne();
    }

    @Test
    void withoutAReceiveTheMessageComesAgain() throws IOException {
        peer.send(packet(PacketOpcode.SEND_ONLY, 0), 8, 0);
        Packet refusal = awaitPacket();
        assertThat(Syndrome.isNotReady(refusal.syndrome)).isTrue();
        receive(1);
        peer.send(packet(PacketOpcode.SEND_ONLY, 0), 8, 0);
        assertAnswer(0, Syndrome.DONE);
        assertThat(poll().status(0)).isEqualTo(WorkStatus.SUCCESS);
    }

    @Test
    void aDamagedPacketAndThatOfAStrangerDoNothing() throws IOException {
        receive(1);
        peer.send(packet(PacketOpcode.SEND_ONLY, 0), 8, 1 << 20);
        try (RawRoce stranger = new RawRoce("127.0.0.83", HERE)) {
            stranger.send(packet(PacketOpcode.SEND_ONLY, 0), 8, 0);
            Packet forNobody = packet(PacketOpcode.SEND_ONLY, 0);
            forNobody.destination ^= 0x1000;
            peer.send(forNobody, 8, 0);
            assertThat(peer.receive(SHORT_MILLIS)).isNull();
            assertThat(stranger.receive(SHORT_MILLIS)).isNull();
        }
        await("they have arrived", () -> counter("roce_packets_received") == 3);
        assertNothingCompletes();
        assertThat(counter("roce_wrong_checksums")).isOne();
        await("two are for nobody", () -> counter("roce_packets_for_nobody") == 2);
    }

    /// The length of the message and of its packets, keys, bounds, and packets of a message that has not begun.
    @ParameterizedTest
    @CsvSource({
        "WRITE_ONLY, 0, 8, 9, 0x61",
        "WRITE_FIRST, 0, 8, 300, 0x61",
        "WRITE_FIRST, 0, 256, 256, 0x61",
        "WRITE_ONLY, 1, 8, 8, 0x62",
        "WRITE_ONLY, 0, 300, 300, 0x61",
        "WRITE_MIDDLE, 0, 256, 256, 0x61",
        "SEND_LAST, 0, 8, 8, 0x61",
        "WRITE_FIRST, 0, 256, 1000000, 0x62",
        "WRITE_FIRST, 0, 256, -1, 0x61"
    })
    void aRequestThatLiesIsRefusedAndEndsTheConnection(String opcode, int key, int bytes, int length, String syndrome)
            throws Exception {
        region.segment().set(ValueLayout.JAVA_LONG, 0, 7);
        Packet packet = packet(PacketOpcode.class.getField(opcode).getInt(null), 0);
        packet.address = region.address();
        packet.key = region.remoteKey() ^ key;
        packet.length = length;
        peer.send(packet, bytes, 0);
        assertAnswer(0, Integer.decode(syndrome));
        await("the error state", () -> pair.state() == QueuePairState.ERROR);
        assertThat(region.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(7);
        peer.send(packet, bytes, 0);
        assertThat(peer.receive(SHORT_MILLIS)).as("silence in the error state").isNull();
    }

    @Test
    void packetsOfOtherTransportServicesAreForNobody() throws IOException {
        receive(1);
        peer.send(packet(PacketOpcode.UNRELIABLE | PacketOpcode.SEND_ONLY, 0), 8, 0);
        peer.send(packet(PacketOpcode.DATAGRAM | PacketOpcode.SEND_ONLY, 0), 8, 0);
        await("they are for nobody", () -> counter("roce_packets_for_nobody") == 2);
        assertNothingCompletes();
        peer.send(packet(PacketOpcode.SEND_ONLY, 0), 8, 0);
        assertAnswer(0, Syndrome.DONE);
        assertThat(poll().workId(0)).isOne();
    }

    // ---- The requester ----

    @Test
    void answersThatNobodyAskedForDoNothing() throws IOException {
        int sent = 0;
        for (int opcode :
                new int[] {PacketOpcode.ACKNOWLEDGE, PacketOpcode.READ_RESPONSE_ONLY, PacketOpcode.ATOMIC_ACKNOWLEDGE
                }) {
            for (int number : new int[] {-1, 0, 1}) {
                int bytes = opcode == PacketOpcode.READ_RESPONSE_ONLY ? 8 : 0;
                peer.send(answer(opcode, number, Syndrome.DONE), bytes, 0);
                peer.send(answer(opcode, number, Syndrome.INVALID_REQUEST), bytes, 0);
                sent += 2;
            }
        }
        int count = sent;
        await("they have arrived", () -> counter("roce_packets_received") == count);
        assertNothingCompletes();
        send(8);
        assertThat(awaitPacket().psn).isEqualTo(psn);
        // That of a READ, to a SEND.
        peer.send(answer(PacketOpcode.READ_RESPONSE_ONLY, 0, Syndrome.DONE), 8, 0);
        peer.send(answer(PacketOpcode.ACKNOWLEDGE, 0, Syndrome.DONE), 0, 0);
        assertThat(poll().status(0)).isEqualTo(WorkStatus.SUCCESS);
    }

    @Test
    void aMissingPacketIsRepeatedWithThoseBehindIt() throws IOException {
        send(3 * MTU);
        for (int i = 0; i < 3; i++) {
            assertThat(awaitPacket().psn).isEqualTo(Psn.add(psn, i));
        }
        peer.send(answer(PacketOpcode.ACKNOWLEDGE, 1, Syndrome.SEQUENCE_ERROR), 0, 0);
        peer.send(answer(PacketOpcode.ACKNOWLEDGE, 1, Syndrome.SEQUENCE_ERROR), 0, 0);
        Packet middle = awaitPacket();
        assertThat(middle.psn).isEqualTo(Psn.add(psn, 1));
        assertThat(middle.opcode).isEqualTo(PacketOpcode.SEND_MIDDLE);
        assertThat(awaitPacket().opcode).isEqualTo(PacketOpcode.SEND_LAST);
        peer.send(answer(PacketOpcode.ACKNOWLEDGE, 2, Syndrome.DONE), 0, 0);
        assertThat(poll().status(0)).isEqualTo(WorkStatus.SUCCESS);
        assertThat(counter("roce_repetitions")).isOne();
    }

    /// Otherwise nothing would ever be sent again: peers acknowledge only when they are asked.
    @Test
    void theLastPacketInTheWindowAsksForAnAnswer() throws IOException {
        int packets = SENT_BYTES / MTU;
        send(SENT_BYTES);
        for (int i = 0; i < packets; i++) {
            assertThat(awaitPacket().psn).isEqualTo(Psn.add(psn, i));
        }
        int burst = packets;
        for (int lost = 1; burst > 4; lost++) {
            peer.send(answer(PacketOpcode.ACKNOWLEDGE, lost, Syndrome.SEQUENCE_ERROR), 0, 0);
            Packet last = awaitPacket();
            assertThat(last.psn).isEqualTo(Psn.add(psn, lost));
            burst = 1;
            for (Packet next = peer.receive(SHORT_MILLIS); next != null; next = peer.receive(SHORT_MILLIS)) {
                // A new burst if the time for an answer was over meanwhile.
                burst = next.psn == Psn.add(psn, lost) ? 1 : burst + 1;
                last = next;
            }
            assertThat(last.wantsAnswer).as("the last of %s packets", burst).isTrue();
        }
        assertThat(burst).isEqualTo(4);
    }

    @Test
    void theAnswerToAReadMayComeInAnyOrder() throws IOException {
        read(4 * MTU);
        assertThat(awaitPacket().length).isEqualTo(4 * MTU);
        for (int part : new int[] {1, 2, 0, 3}) {
            int opcode = part == 0
                    ? PacketOpcode.READ_RESPONSE_FIRST
                    : part == 3 ? PacketOpcode.READ_RESPONSE_LAST : PacketOpcode.READ_RESPONSE_MIDDLE;
            assertNothingCompletes();
            peer.send(answer(opcode, part, Syndrome.DONE), MTU, 0);
        }
        assertThat(poll().status(0)).isEqualTo(WorkStatus.SUCCESS);
        assertThat(counter("roce_repetitions")).isZero();
        for (int i = 0; i < 4 * MTU; i++) {
            assertThat(region.segment().get(ValueLayout.JAVA_BYTE, i)).isEqualTo((byte) Psn.add(psn, i / MTU));
        }
    }

    @Test
    void anAcknowledgementThatOvertakesAnAnswerCounts() throws IOException {
        pair.post(SendBatch.create(arena, 2, 1)
                .read(1, 0x1000, 5)
                .with(region, 0, 8)
                .signaled()
                .send(2)
                .with(region, 0, 8)
                .signaled());
        assertThat(awaitPacket().opcode).isEqualTo(PacketOpcode.READ_REQUEST);
        assertThat(awaitPacket().opcode).isEqualTo(PacketOpcode.SEND_ONLY);
        peer.send(answer(PacketOpcode.ACKNOWLEDGE, 1, Syndrome.DONE), 0, 0);
        peer.send(answer(PacketOpcode.READ_RESPONSE_ONLY, 0, Syndrome.DONE), 8, 0);
        assertThat(poll().workId(0)).isOne();
        assertThat(poll().workId(0)).isEqualTo(2);
    }

    @Test
    void aMissingPartOfAReadIsAskedForAgain() throws IOException {
        read(3 * MTU);
        assertThat(awaitPacket().length).isEqualTo(3 * MTU);
        peer.send(answer(PacketOpcode.READ_RESPONSE_FIRST, 0, Syndrome.DONE), MTU, 0);
        peer.send(answer(PacketOpcode.READ_RESPONSE_LAST, 2, Syndrome.DONE), MTU, 0);
        Packet again = awaitPacket();
        assertThat(again.opcode).isEqualTo(PacketOpcode.READ_REQUEST);
        assertThat(again.psn).isEqualTo(Psn.add(psn, 1));
        assertThat(again.address).isEqualTo(0x1000 + MTU);
        assertThat(again.length).isEqualTo(2 * MTU);
        peer.send(answer(PacketOpcode.READ_RESPONSE_FIRST, 1, Syndrome.DONE), MTU, 0);
        peer.send(answer(PacketOpcode.READ_RESPONSE_LAST, 2, Syndrome.DONE), MTU, 0);
        assertThat(poll().status(0)).isEqualTo(WorkStatus.SUCCESS);
    }

    /// A responder that has not got the request for the next part would execute it as a repetition, and count none of
    /// its
    /// packets (IBTA 9.7.5.1.4).
    @Test
    void aPartOfAReadIsAskedForAgainOnlyUpToItsEnd() throws IOException {
        read(32 * MTU);
        assertThat(awaitPacket().length).isEqualTo(16 * MTU);
        peer.send(answer(PacketOpcode.READ_RESPONSE_FIRST, 0, Syndrome.DONE), MTU, 0);
        peer.send(answer(PacketOpcode.READ_RESPONSE_LAST, 15, Syndrome.DONE), MTU, 0);
        Packet again = awaitPacket();
        while (again.psn != Psn.add(psn, 1)) {
            assertThat(again.psn).as("the second part").isEqualTo(Psn.add(psn, 16));
            again = awaitPacket();
        }
        assertThat(again.length).isEqualTo(15 * MTU);
    }

    @Test
    void anAnswerOfAnotherLengthFailsTheRead() throws IOException {
        read(8);
        assertThat(awaitPacket().length).isEqualTo(8);
        peer.send(answer(PacketOpcode.READ_RESPONSE_ONLY, 0, Syndrome.DONE), 12, 0);
        assertThat(poll().status(0)).isEqualTo(WorkStatus.BAD_RESPONSE);
    }

    @Test
    void silenceExhaustsTheRetries() throws IOException {
        send(8);
        for (int i = 0; i <= RETRIES; i++) {
            assertThat(awaitPacket().psn).isEqualTo(psn);
        }
        assertThat(poll().status(0)).isEqualTo(WorkStatus.RETRY_EXCEEDED);
        assertThat(peer.receive(SHORT_MILLIS)).isNull();
    }

    @Test
    void aCongestionNotificationIsTaken() throws IOException {
        Packet notification = packet(PacketOpcode.CONGESTION, 0);
        notification.backward = true;
        notification.wantsAnswer = false;
        peer.send(notification, 0, 0);
        send(8);
        assertThat(awaitPacket().psn).isEqualTo(psn);
        peer.send(answer(PacketOpcode.ACKNOWLEDGE, 0, Syndrome.DONE), 0, 0);
        assertThat(poll().status(0)).isEqualTo(WorkStatus.SUCCESS);
    }

    // ---- Opening ----

    @ParameterizedTest
    @CsvSource({
        THERE + ", EADDRINUSE, UDP port 4791 of 127.0.0.82 is taken",
        "10.255.255.1, EADDRNOTAVAIL, this host does not have the address 10.255.255.1",
        "::1, EINVAL, is not an IPv4 address"
    })
    void anAddressThatCannotBeUsedIsExplained(String address, Errno errno, String words) {
        assertThatThrownBy(() -> Soft.open("roce2=" + address + "?transport=roce"))
                .isInstanceOfSatisfying(
                        VerbException.class, e -> assertThat(e.errno()).isEqualTo(errno))
                .hasMessageContaining(words);
    }

    @ParameterizedTest
    @EnumSource(
            value = QueuePairType.class,
            names = {"RELIABLE_CONNECTED", "UNRELIABLE_CONNECTED"})
    void aPeerWithoutAnIpv4AddressIsRefused(QueuePairType kind) {
        QueuePair other = pair.protectionDomain()
                .createQueuePair(QueuePairOptions.reliable(queue).withType(kind));
        other.initialize(ConnectionOptions.defaults());
        QueuePairInfo elsewhere = new QueuePairInfo(
                THEIR_NUMBER, THEIR_PSN, 0, Gid.of(InetAddress.ofLiteral("fe80::1")), PathMtu.ofBytes(MTU));

        assertThatThrownBy(() -> other.readyToReceive(elsewhere, ConnectionOptions.defaults()))
                .isInstanceOfSatisfying(
                        VerbException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL))
                .hasMessageContaining("and RoCE at 127.0.0.81 reaches only IPv4 addresses");
        assertThat(other.state()).isEqualTo(QueuePairState.INIT);
    }

    /// A packet names no context.
    @Test
    void contextsAtOneAddressShareTheNumbersOfQueuePairs() {
        int number = pair.number();
        try (Context second = Soft.open("roce2=" + HERE + "?transport=roce")) {
            assertThat(Soft.of(second).network().claimNumber(number))
                    .as("that of a queue pair, which need not be connected")
                    .isFalse();
            int free = number ^ 0x100000;
            assertThat(Soft.of(second).network().claimNumber(free)).isTrue();
            assertThat(Soft.of(context).network().claimNumber(free)).isFalse();
            Soft.of(second).network().releaseNumber(free);
            assertThat(Soft.of(context).network().claimNumber(free)).isTrue();
            Soft.of(context).network().releaseNumber(free);
        }
        pair.close();
        assertThat(Soft.of(context).network().claimNumber(number)).isTrue();
        Soft.of(context).network().releaseNumber(number);
    }

    @Test
    void noQueuePairGetsTheNumberOfTheManagerOrOfMulticast() {
        assertThat(Soft.of(context).network().claimNumber(1)).isFalse();
        assertThat(Soft.of(context).network().claimNumber(SendBatch.MULTICAST)).isFalse();
    }

    @Test
    void aContextLeavesTheSocketToAnotherOneAtTheSameAddress() throws IOException {
        try (Context second = Soft.open("roce2=" + HERE + "?transport=roce")) {
            assertThat(second.gid(1, 0)).isEqualTo(context.gid(1, 0));
        }
        receive(1);
        peer.send(packet(PacketOpcode.SEND_ONLY, 0), 8, 0);
        assertAnswer(0, Syndrome.DONE);
    }
}
