package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rdmacomm.soft.iwarp.Fpdu;
import io.rdmacomm.soft.iwarp.Opcode;
import io.rdmacomm.soft.iwarp.ReadRequest;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.WorkRequestException;
import io.rdmacomm.verbs.WorkStatus;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Requests that siw, or the path to it, does not take: the software device holds them back or rejects them.
class SiwPeerLimitsTest {
    private static final Duration LONG = AddressEnd.LONG;
    private static final byte[] HELLO = SiwEnds.HELLO;

    @AutoClose
    private final SiwEnds ends = new SiwEnds();

    /// An adapter takes frames that fit into a TCP segment (RFC 5044 4.5): of each kind of message with payload.
    @ParameterizedTest
    @ValueSource(ints = {536, 1440, 8948})
    void framesFitTheSegmentsOfTheDevice(int segment) throws Exception {
        ends.reopen("soft0=127.0.0.1?segment=" + segment);
        ends.calledBySiw(true);
        ends.peer.sendMessage(1, HELLO);
        ends.own.succeeded(1);
        int bytes = 30_001;
        ends.own.fill(bytes, 3);
        byte[] expected = ends.own.region.segment().asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);

        ends.own.post(ends.own.batch().send(2).with(ends.own.region, 0, bytes).signaled());
        assertThat(readMessage(Opcode.SEND, segment)).isEqualTo(expected);
        ends.own.succeeded(2);
        ends.own.post(ends.own
                .batch()
                .write(3, 0x2000, 5)
                .with(ends.own.region, 0, bytes)
                .signaled());
        assertThat(readMessage(Opcode.WRITE, segment)).isEqualTo(expected);
        ends.own.succeeded(3);
        ReadRequest read = new ReadRequest();
        read.bytes = bytes;
        read.sourceKey = ends.own.region.remoteKey();
        read.sourceAddress = ends.own.region.address();
        ends.peer.send(ends.peer.readRequest(1, read));
        assertThat(readMessage(Opcode.READ_RESPONSE, segment)).isEqualTo(expected);
    }

    @Test
    void framesFitTheSegmentsOfADeviceThatCalls() throws Exception {
        ends.calling("soft0=127.0.0.1?checksum=true&segment=1440", "5402 0004 8001 c001", "5402 0004 0001 0001");
        ends.own.post(ends.own.batch().send(2).with(ends.own.region, 0, 5000).signaled());
        assertThat(readMessage(Opcode.SEND, 1440)).hasSize(5000);
        ends.own.succeeded(2);
    }

    private byte[] readMessage(int opcode, int longestFrame) throws IOException {
        ByteArrayOutputStream message = new ByteArrayOutputStream();
        do {
            message.write(ends.peer.readFrame());
            assertThat(ends.peer.header.opcode).isEqualTo(opcode);
            assertThat(Fpdu.bytes(ends.peer.header.segmentBytes())).isLessThanOrEqualTo(longestFrame);
        } while (!ends.peer.header.last);
        return message.toByteArray();
    }

    @Test
    void atMostTheAgreedReadsAreInFlight() throws Exception {
        ends.calledBySiw(false);
        assertThat(ends.connection.initiatorDepth()).isEqualTo(1);
        ends.peer.sendMessage(1, HELLO);
        ends.own.succeeded(1);
        ends.own.post(ends.own
                .batch()
                .read(2, 0x1000, 5)
                .with(ends.own.region, 0, 4)
                .signaled()
                .read(3, 0x2000, 5)
                .with(ends.own.region, 4, 4)
                .signaled());
        ends.peer.readFrame();
        assertThat(ends.peer.readRequest.sourceAddress).isEqualTo(0x1000);
        assertThat(ends.peer.header.messageNumber).isEqualTo(1);
        ends.peer.answerRead(new byte[] {1, 2, 3, 4}, 2);
        ends.peer.readFrame();
        assertThat(ends.peer.readRequest.sourceAddress).isEqualTo(0x2000);
        assertThat(ends.peer.header.messageNumber).isEqualTo(2);
        ends.peer.answerRead(new byte[] {5, 6, 7, 8}, 1);
        ends.own.succeeded(2);
        ends.own.succeeded(3);
        assertThat(ends.own.region.segment().get(ValueLayout.JAVA_BYTE, 7)).isEqualTo((byte) 8);
    }

    @Test
    void noReadsWithAPeerThatAnswersNone() throws Exception {
        ends.called("1002 0004 0000 0001", "1002 0004 0001 0000");
        assertThat(ends.connection.initiatorDepth()).isZero();
        ends.peer.sendMessage(1, HELLO);
        ends.own.succeeded(1);
        ends.own.post(
                ends.own.batch().read(2, 0x1000, 5).with(ends.own.region, 0, 4).signaled());
        assertThat(ends.own.next().status()).isEqualTo(WorkStatus.REMOTE_INVALID_REQUEST);
        assertThat(ends.connection.awaitDisconnect(LONG)).isTrue();
        assertThat(ends.connection.disconnectReason()).contains("READ was not sent", "initiator depth is 0");
    }

    /// As libsiw refuses them: what was posted before is sent, and the connection stands.
    @ParameterizedTest
    @EnumSource(names = {"SEND_WITH_IMMEDIATE", "WRITE_WITH_IMMEDIATE", "COMPARE_AND_SWAP", "FETCH_AND_ADD"})
    void whatThePeerDoesNotKnowIsNotPosted(SendOpcode opcode) throws Exception {
        ends.calledBySiw(false);
        ends.peer.sendMessage(1, HELLO);
        ends.own.succeeded(1);
        ends.own.put("before");
        SendBatch batch = ends.own.batch().send(2).with(ends.own.region, 0, 7).signaled();
        switch (opcode) {
            case SEND_WITH_IMMEDIATE -> batch.sendWithImmediate(3, 99);
            case WRITE_WITH_IMMEDIATE -> batch.writeWithImmediate(3, 0x1000, 5, 99);
            case COMPARE_AND_SWAP -> batch.compareAndSwap(3, 0x1000, 5, 0, 1);
            default -> batch.fetchAndAdd(3, 0x1000, 5, 1);
        }
        batch.with(ends.own.region, 0, 8).send(4).with(ends.own.region, 0, 7);
        WorkRequestException refused =
                catchThrowableOfType(WorkRequestException.class, () -> ends.own.pair.post(batch));
        assertThat(refused.index()).isEqualTo(1);
        assertThat(refused.errno()).isEqualTo(Errno.EINVAL);
        assertThat(refused)
                .hasMessageContaining(opcode + " is not supported by this peer")
                .hasMessageContaining(ends.connection.remoteAddress().toString())
                .hasMessageContaining("RFC 5040");
        ends.assertMessage(1, "before");
        ends.own.succeeded(2);
        ends.own.put("after");
        ends.send(6);
        ends.assertMessage(2, "after");
        ends.own.succeeded(7);
        assertThat(ends.connection.isConnected()).isTrue();
        assertThat(ends.own.isQuiet()).isTrue();
    }

    /// The next connection of the queue pair may be to a peer that knows more.
    @Test
    void aQueuePairThatIsResetForgetsWhatItsPeerDidNotKnow() throws Exception {
        ends.calledBySiw(false);
        SendBatch batch = ends.own.batch().sendWithImmediate(2, 99);
        assertThatThrownBy(() -> ends.own.pair.post(batch)).isInstanceOf(WorkRequestException.class);
        ends.own.pair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        ends.own.pair.connect(ends.own.pair.info());
        ends.own.receive(1, 8);
        ends.own.post(batch.clear().sendWithImmediate(2, 99).signaled());
        assertThat(ends.own.statuses(2)).containsOnly(WorkStatus.SUCCESS);
    }
}
