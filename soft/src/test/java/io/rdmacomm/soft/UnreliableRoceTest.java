package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.roce.wire.PacketOpcode;
import io.rdmacomm.soft.roce.wire.Psn;
import io.rdmacomm.soft.roce.wire.Syndrome;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// An unreliable connection over RoCE v2, and a peer that lies, loses packets, or is not there.
@Timeout(60)
class UnreliableRoceTest extends RoceCase {
    private static final int SEND_FIRST = unreliable(PacketOpcode.SEND_FIRST);
    private static final int SEND_MIDDLE = unreliable(PacketOpcode.SEND_MIDDLE);
    private static final int SEND_LAST = unreliable(PacketOpcode.SEND_LAST);
    private static final int SEND_ONLY = unreliable(PacketOpcode.SEND_ONLY);
    private static final int WRITE_FIRST = unreliable(PacketOpcode.WRITE_FIRST);
    private static final int WRITE_LAST = unreliable(PacketOpcode.WRITE_LAST);
    private static final int WRITE_ONLY = unreliable(PacketOpcode.WRITE_ONLY);
    private static final int WRITE_ONLY_IMMEDIATE = unreliable(PacketOpcode.WRITE_ONLY_IMMEDIATE);

    UnreliableRoceTest() {
        super(QueuePairType.UNRELIABLE_CONNECTED);
    }

    @Override
    boolean bursts() {
        return true;
    }

    private static int unreliable(int operation) {
        return PacketOpcode.UNRELIABLE | operation;
    }

    /// Sends a packet whose payload is its number, counted from [#THEIR_PSN].
    private void arrives(int opcode, int number, int bytes) throws IOException {
        peer.send(packet(opcode, number), bytes, 0);
    }

    private Packet write(int opcode, int number, long offset, int length) {
        Packet packet = packet(opcode, number);
        packet.address = region.address() + offset;
        packet.key = region.remoteKey();
        packet.length = length;
        return packet;
    }

    private byte at(long offset) {
        return region.segment().get(ValueLayout.JAVA_BYTE, offset);
    }

    private static byte payload(int number) {
        return (byte) Psn.add(THEIR_PSN, number);
    }

    private void assertReceived(int id, int bytes) {
        Completions done = poll();
        assertThat(done.status(0)).isEqualTo(WorkStatus.SUCCESS);
        assertThat(done.workId(0)).isEqualTo(id);
        assertThat(done.byteLength(0)).isEqualTo(bytes);
    }

    private void assertSilent() throws IOException {
        assertThat(peer.receive(SHORT_MILLIS)).as("an answer").isNull();
    }

    // ---- The responder ----

    @Test
    void aMessageIsReceivedAndNotAnswered() throws IOException {
        receive(1, 3 * MTU);
        arrives(SEND_FIRST, 0, MTU);
        arrives(SEND_MIDDLE, 1, MTU);
        arrives(SEND_LAST, 2, 7);
        assertReceived(1, 2 * MTU + 7);
        assertThat(at(MTU - 1)).isEqualTo(payload(0));
        assertThat(at(MTU)).isEqualTo(payload(1));
        assertThat(at(2 * MTU + 6)).isEqualTo(payload(2));
        assertSilent();
        assertThat(counter("roce_messages_dropped")).isZero();
    }

    /// Which packets of a message of three arrive.
    @ParameterizedTest
    @ValueSource(strings = {"0", "1", "2", "0 1", "0 2", "1 2"})
    void aMessageThatLacksAPacketIsDroppedAndTheNextOneTakesItsReceive(String numbers) throws IOException {
        int[] opcodes = {SEND_FIRST, SEND_MIDDLE, SEND_LAST};
        receive(1, 3 * MTU);
        receive(2);
        for (String number : numbers.split(" ", -1)) {
            arrives(opcodes[Integer.parseInt(number)], Integer.parseInt(number), MTU);
        }
        arrives(SEND_ONLY, 3, 8);
        assertReceived(1, 8);
        assertThat(at(0)).isEqualTo(payload(3));
        assertThat(counter("roce_messages_dropped")).isOne();
        arrives(SEND_ONLY, 4, 8);
        assertReceived(2, 8);
        assertNothingCompletes();
    }

    @Test
    void messagesMayBeMissingAsAWhole() throws IOException {
        receive(1);
        receive(2);
        arrives(SEND_ONLY, 1000, 8);
        assertReceived(1, 8);
        arrives(SEND_ONLY, 0, 8);
        assertReceived(2, 8);
        assertThat(counter("roce_packets_out_of_order")).isEqualTo(2);
        assertThat(counter("roce_messages_dropped")).isZero();
    }

    @Test
    void anInterruptedWriteStaysAsFarAsItHasCome() throws IOException {
        peer.send(write(WRITE_FIRST, 0, 0, 3 * MTU), MTU, 0);
        arrives(WRITE_LAST, 2, MTU);
        peer.send(write(WRITE_ONLY, 3, 5 * MTU, 8), 8, 0);
        await("the next WRITE", () -> at(5 * MTU + 7) == payload(3));
        assertThat(at(0)).isEqualTo(payload(0));
        assertThat(at(MTU - 1)).isEqualTo(payload(0));
        assertThat(at(MTU)).isZero();
        assertThat(at(2 * MTU)).isZero();
        assertThat(counter("roce_messages_dropped")).isOne();
    }

    @Test
    void aMessageWithoutAReceiveIsDropped() throws IOException {
        arrives(SEND_FIRST, 0, MTU);
        arrives(SEND_LAST, 1, MTU);
        peer.send(write(WRITE_ONLY_IMMEDIATE, 2, 0, 8), 8, 0);
        await("both are dropped", () -> counter("roce_messages_dropped") == 2);
        assertThat(at(0)).isZero();
        receive(1);
        arrives(SEND_ONLY, 3, 8);
        assertReceived(1, 8);
        assertSilent();
    }

    /// The length of the message and of its packets, keys, bounds, and packets of a message that has not begun.
    @ParameterizedTest
    @CsvSource({
        "WRITE_ONLY, 0, 8, 9",
        "WRITE_FIRST, 0, 8, 300",
        "WRITE_FIRST, 0, 256, 256",
        "WRITE_ONLY, 1, 8, 8",
        "WRITE_ONLY, 0, 300, 300",
        "WRITE_MIDDLE, 0, 256, 256",
        "SEND_LAST, 0, 8, 8",
        "SEND_ONLY, 0, 300, 0",
        "SEND_FIRST, 0, 8, 0",
        "WRITE_FIRST, 0, 256, 1000000",
        "WRITE_FIRST, 0, 256, -1"
    })
    void aMessageThatLiesIsDroppedAndTheConnectionGoesOn(String opcode, int key, int bytes, int length)
            throws Exception {
        receive(1);
        Packet packet = write(unreliable(PacketOpcode.class.getField(opcode).getInt(null)), 0, MTU, length);
        packet.key ^= key;
        peer.send(packet, bytes, 0);
        arrives(SEND_ONLY, 1, 8);
        assertReceived(1, 8);
        assertThat(at(MTU)).isZero();
        assertThat(pair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(counter("roce_messages_dropped")).isOne();
        assertSilent();
    }

    @Test
    void aMessageThatBecomesAnotherOneIsDropped() throws IOException {
        receive(1, 2 * MTU);
        arrives(SEND_FIRST, 0, MTU);
        arrives(WRITE_LAST, 1, MTU);
        arrives(SEND_LAST, 2, MTU);
        arrives(SEND_ONLY, 3, 8);
        assertReceived(1, 8);
        assertNothingCompletes();
        assertThat(counter("roce_messages_dropped")).isOne();
    }

    @Test
    void aMessageThatIsTooLongForItsReceiveIsDroppedAndLeavesIt() throws IOException {
        receive(1);
        arrives(SEND_FIRST, 0, MTU);
        arrives(SEND_LAST, 1, 8);
        arrives(SEND_ONLY, 2, 8);
        assertReceived(1, 8);
        assertThat(counter("roce_messages_dropped")).isOne();
    }

    @Test
    void theReceiveOfAnInterruptedMessageIsFlushedFirst() throws IOException {
        receive(1);
        receive(2);
        arrives(SEND_FIRST, 0, MTU);
        arrives(SEND_LAST, 2, MTU);
        await("it is dropped", () -> counter("roce_messages_dropped") == 1);
        pair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
        for (int id = 1; id <= 2; id++) {
            Completions done = poll();
            assertThat(done.workId(0)).isEqualTo(id);
            assertThat(done.status(0)).isEqualTo(WorkStatus.FLUSHED);
        }
        arrives(SEND_ONLY, 3, 8);
        await("it is for nobody", () -> counter("roce_packets_for_nobody") == 1);
        assertNothingCompletes();
    }

    @Test
    void aReceiveWhoseMemoryIsGoneEndsTheConnection() throws IOException {
        MemoryRegion gone = pair.protectionDomain().allocate(MTU, AccessFlag.allRemote());
        pair.post(ReceiveBatch.create(arena, 1, 1).receive(1).with(gone, 0, MTU));
        gone.close();
        arrives(SEND_ONLY, 0, 8);
        assertThat(poll().status(0)).isEqualTo(WorkStatus.LOCAL_PROTECTION_ERROR);
        await("the error state", () -> pair.state() == QueuePairState.ERROR);
    }

    @Test
    void packetsOfOtherTransportServicesAreForNobody() throws IOException {
        receive(1);
        arrives(PacketOpcode.SEND_ONLY, 0, 8);
        arrives(PacketOpcode.READ_REQUEST, 0, 0);
        arrives(PacketOpcode.DATAGRAM | PacketOpcode.SEND_ONLY, 0, 8);
        peer.send(packet(PacketOpcode.ACKNOWLEDGE, 0), 0, 0);
        arrives(unreliable(PacketOpcode.READ_REQUEST), 0, 0);
        arrives(PacketOpcode.CONGESTION, 0, 0);
        arrives(SEND_ONLY, 0, 8);
        assertReceived(1, 8);
        assertNothingCompletes();
        assertThat(counter("roce_packets_for_nobody")).isEqualTo(4);
        assertThat(counter("roce_packets_malformed")).isOne();
        assertSilent();
    }

    @Test
    void packetsForAClosedQueuePairDoNothing() throws IOException {
        receive(1);
        arrives(SEND_FIRST, 0, MTU);
        Packet late = packet(SEND_LAST, 1);
        await("it has come", () -> counter("roce_packets_received") == 1);
        pair.close();
        peer.send(late, 8, 0);
        // The first one may have been counted, and not delivered, when the queue pair was closed.
        await(
                "it is for nobody",
                () -> counter("roce_packets_received") == 2 && counter("roce_packets_for_nobody") >= 1);
        assertSilent();
    }

    /// A stranger who can send from the address of the peer, and knows the number of another queue pair and how many
    /// there are, tries the numbers around it, and all numbers whose low half counts queue pairs. By chance, one of
    /// the four is found in one run of 500, and two in one of a million.
    @Test
    void aStrangerDoesNotFindAQueuePairByItsNeighbors() throws IOException {
        int found = 0;
        for (int place = 1; place <= 4; place++) {
            int known = pair.number();
            pair.close();
            pair = connected();
            receive(place);
            long strays = counter("roce_packets_for_nobody");
            int sent = 0;
            for (int guess = 0; guess < 4096; guess++) {
                guess(known - 2048 + guess);
                guess((guess << 12) | place);
                sent += 2;
                if (guess % 64 == 63) {
                    long so = strays + sent - 2;
                    await("they have come", () -> counter("roce_packets_for_nobody") >= so);
                }
            }
            found += queue.poll(Completions.create(arena, 1));
        }
        assertThat(found).isLessThan(2);
    }

    private void guess(int number) throws IOException {
        Packet packet = packet(SEND_ONLY, 0);
        packet.destination = number & 0xffffff;
        peer.send(packet, 8, 0);
    }

    // ---- The requester ----

    @Test
    void aMessageEndsWhenItWasSent() throws IOException {
        pair.post(SendBatch.create(arena, 1, 1)
                .sendWithImmediate(1, 0x01020304)
                .with(region, 0, 2 * MTU + 8)
                .signaled()
                .solicited());
        assertThat(poll().status(0)).isEqualTo(WorkStatus.SUCCESS);
        int[] opcodes = {SEND_FIRST, SEND_MIDDLE, unreliable(PacketOpcode.SEND_LAST_IMMEDIATE)};
        for (int i = 0; i < opcodes.length; i++) {
            Packet packet = awaitPacket();
            assertThat(packet.opcode).isEqualTo(opcodes[i]);
            assertThat(packet.psn).isEqualTo(Psn.add(psn, i));
            assertThat(packet.wantsAnswer).isFalse();
            assertThat(packet.solicited).isEqualTo(i == 2);
            assertThat(packet.payloadBytes).isEqualTo(i == 2 ? 8 : MTU);
        }
        assertSilent();
        assertThat(counter("roce_repetitions")).isZero();
    }

    @Test
    void answersDoNothing() throws IOException {
        send(8);
        assertThat(poll().status(0)).isEqualTo(WorkStatus.SUCCESS);
        Packet refusal = packet(PacketOpcode.ACKNOWLEDGE, 0);
        refusal.psn = psn;
        refusal.syndrome = Syndrome.ACCESS_ERROR;
        peer.send(refusal, 0, 0);
        await("it is for nobody", () -> counter("roce_packets_for_nobody") == 1);
        assertNothingCompletes();
        assertThat(pair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    /// It is sent in parts, so that what arrives is not held up.
    @Test
    void aLongMessageIsCompleteAndInOrder() throws IOException {
        for (int i = 0; i < BYTES; i++) {
            region.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (i / MTU));
        }
        pair.post(SendBatch.create(arena, 2, 1)
                .write(1, 0x1000, 5)
                .with(region, 0, BYTES)
                .signaled()
                .send(2)
                .with(region, 0, 8)
                .signaled());
        int packets = BYTES / MTU;
        for (int i = 0; i < packets; i++) {
            Packet packet = awaitPacket();
            assertThat(packet.psn).isEqualTo(Psn.add(psn, i));
            assertThat(peer.payload(packet, MTU - 1)).isEqualTo((byte) i);
            if (i == 0) {
                assertThat(packet.opcode).isEqualTo(WRITE_FIRST);
                assertThat(packet.length).isEqualTo(BYTES);
                assertThat(packet.address).isEqualTo(0x1000);
            }
        }
        assertThat(awaitPacket().opcode).isEqualTo(SEND_ONLY);
        assertThat(poll().workId(0)).isOne();
        assertThat(poll().workId(0)).isEqualTo(2);
    }

    @Test
    void aPeerThatIsNotThereChangesNothing() throws IOException {
        peer.close();
        for (int i = 0; i < 10; i++) {
            send(3 * MTU);
            assertThat(poll().status(0)).isEqualTo(WorkStatus.SUCCESS);
        }
        assertThat(pair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    @Test
    void aRequestThatFailsHereEndsSendingUntilItIsAllowedAgain() throws IOException {
        pair.post(SendBatch.create(arena, 2, 1)
                .send(1)
                .with(region.address(), 8, region.localKey() ^ 0x5500)
                .send(2)
                .with(region, 0, 8));
        Completions failed = poll();
        assertThat(failed.workId(0)).isOne();
        assertThat(failed.status(0)).isEqualTo(WorkStatus.LOCAL_PROTECTION_ERROR);
        assertThat(poll().status(0)).isEqualTo(WorkStatus.FLUSHED);
        assertThat(pair.state()).isEqualTo(QueuePairState.SEND_QUEUE_ERROR);
        send(8);
        assertThat(poll().status(0)).isEqualTo(WorkStatus.FLUSHED);
        receive(3);
        arrives(SEND_ONLY, 0, 8);
        assertReceived(3, 8);
        assertSilent();

        pair.modify(new QueuePairAttributes().state(QueuePairState.READY_TO_SEND));

        send(8);
        assertThat(awaitPacket().psn).isEqualTo(psn);
        assertThat(poll().status(0)).isEqualTo(WorkStatus.SUCCESS);
    }

    /// There is no packet for it.
    @Test
    void aSendWithInvalidationFails() {
        pair.post(SendBatch.create(arena, 1, 1).sendWithInvalidate(1, 5).with(region, 0, 8));
        assertThat(poll().status(0)).isEqualTo(WorkStatus.LOCAL_QUEUE_PAIR_ERROR);
    }

    @Test
    void requestsWaitWhileTheSendQueueIsDrained() throws IOException {
        QueuePairAttributes drain = new QueuePairAttributes().state(QueuePairState.SEND_QUEUE_DRAIN);
        pair.modify(drain.drainNotification(true));
        assertThat(context.awaitAsyncEvent(Duration.ofMillis(LONG_MILLIS)).type())
                .isEqualTo(AsyncEventType.SEND_QUEUE_DRAINED);
        send(8);
        assertSilent();
        assertNothingCompletes();
        pair.modify(new QueuePairAttributes().state(QueuePairState.READY_TO_SEND));
        assertThat(awaitPacket().psn).isEqualTo(psn);
        assertThat(poll().status(0)).isEqualTo(WorkStatus.SUCCESS);
    }
}
