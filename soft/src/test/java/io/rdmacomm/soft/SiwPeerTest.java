package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rdmacomm.soft.iwarp.Fpdu;
import io.rdmacomm.soft.iwarp.Opcode;
import io.rdmacomm.soft.iwarp.ReadRequest;
import io.rdmacomm.soft.iwarp.SegmentHeader;
import io.rdmacomm.soft.iwarp.TerminateCode;
import io.rdmacomm.soft.mpa.Wire;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.WorkRequestException;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.Listener;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// A software device and one of another make: what Linux siw sends, byte for byte, and what it would make of ours.
class SiwPeerTest {
    private static final Duration LONG = AddressEnd.LONG;
    private static final ConnectionParameters ONE =
            ConnectionParameters.defaults().withDepths(1, 1);
    private static final byte[] HELLO = {'h', 'e', 'l', 'l', 'o', 0};

    private AddressEnd own;
    private FakePeer peer;
    private Connection connection;

    @BeforeEach
    void open() {
        own = new AddressEnd();
    }

    @AfterEach
    void close() throws IOException {
        if (peer != null) {
            peer.close();
        }
        own.close();
    }

    /// siw calls us: revision 2, never A, CRC or not, IRD and ORD 1.
    private void calledBySiw(boolean checksums) throws Exception {
        called((checksums ? "50" : "10") + "02 0004 0001 0001", (checksums ? "50" : "10") + "02 0004 0001 0001");
        if (checksums) {
            peer.withChecksums();
        }
    }

    private void called(String request, String expectedReply) throws Exception {
        Listener listener = own.manager.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 4);
        peer = new FakePeer(Wire.to(listener.localAddress()));
        peer.wire.sendByteByByte(Wire.REQUEST + Wire.plain(request));
        ConnectionRequest arrived = listener.awaitRequest(LONG);
        assertThat(arrived).isNotNull();
        arrived.prepare(own.pair);
        own.receive(1, AddressEnd.HALF);
        connection = arrived.accept(own.pair, ONE, LONG);
        assertThat(peer.wire.readFrame()).isEqualTo(Wire.plain(Wire.REPLY + expectedReply));
    }

    /// We call siw, which overwrites the key of our request with that of a reply.
    private void callingSiw(String behindTheReply) throws Exception {
        calling("5402 0004 8001 c001", "5402 0004 0001 0001" + behindTheReply);
    }

    private void calling(String expectedRequest, String reply) throws Exception {
        calling("soft0=127.0.0.1?checksum=true", expectedRequest, reply);
    }

    private void calling(String device, String expectedRequest, String reply) throws Exception {
        own.close();
        own = new AddressEnd(device);
        try (ServerSocket server = Wire.listen()) {
            CompletableFuture<Connection> connecting = AddressEnd.async(() -> {
                try (var route = own.manager.resolve(Wire.addressOf(server), LONG)) {
                    route.prepare(own.pair);
                    own.receive(1, AddressEnd.HALF);
                    return route.connect(own.pair, ONE, LONG);
                }
            });
            peer = new FakePeer(new Wire(server.accept())).withChecksums();
            assertThat(peer.wire.readFrame()).isEqualTo(Wire.plain(Wire.REQUEST + expectedRequest));
            peer.send(Wire.REPLY + reply);
            connection = connecting.get(20, TimeUnit.SECONDS);
        }
    }

    private void send(int bytes) {
        own.post(own.batch().send(7).with(own.region, 0, bytes).signaled());
    }

    private void assertMessage(int number, String text) throws IOException {
        byte[] payload = peer.readFrame();
        assertThat(peer.header.opcode).isEqualTo(Opcode.SEND);
        assertThat(peer.header.messageNumber).isEqualTo(number);
        assertThat(new String(payload, 0, text.length(), StandardCharsets.UTF_8))
                .isEqualTo(text);
    }

    // ---- Set-up ----

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void responderIsSilentUntilTheInitiatorHasSpoken(boolean checksums) throws Exception {
        calledBySiw(checksums);
        own.put("first");
        send(6);
        // Nothing may be behind the reply: siw would give up. The peer speaks first.
        peer.sendMessage(1, HELLO);
        assertMessage(1, "first");
        assertThat(own.statuses(2)).containsExactly(WorkStatus.SUCCESS, WorkStatus.SUCCESS);
        assertThat(own.received()).isEqualTo("hello");
    }

    @Test
    void revisionOne() throws Exception {
        called("0001 0000", "0001 0000");
        peer.sendMessage(1, HELLO);
        assertThat(own.succeeded(1).bytes()).isEqualTo(6);
        own.put("answer");
        send(7);
        assertMessage(1, "answer");
    }

    @Test
    void hardwareSendsAReadyToReceiveWrite() throws Exception {
        called("5002 0004 8001 c001", "5002 0004 8001 8001");
        peer.withChecksums().send("000ec140 00000001 0000000000000000 ebd34c5f");
        own.put("server speaks");
        send(14);
        assertMessage(1, "server speaks");
        own.succeeded(7);
        assertThat(own.isQuiet()).isTrue();
    }

    @Test
    void hardwareSendsAReadyToReceiveRead() throws Exception {
        called("1002 0004 8001 4001", "1002 0004 8001 4001");
        ReadRequest nothing = new ReadRequest();
        nothing.sourceKey = 1;
        peer.send(peer.readRequest(1, nothing));
        assertThat(peer.readFrame()).isEmpty();
        assertThat(peer.header.opcode).isEqualTo(Opcode.READ_RESPONSE);
        assertThat(own.isQuiet()).isTrue();
    }

    @Test
    void siwSpeaksRightBehindItsReply() throws Exception {
        callingSiw("0018 4143 00000000 00000000 00000001 00000000" + "68656c6c6f00" + "0000"
                + checksumOf("00184143000000000000000000000001000000006865" + "6c6c6f000000"));
        assertThat(own.succeeded(1).bytes()).isEqualTo(6);
        assertThat(own.received()).isEqualTo("hello");
        own.put("answer");
        send(7);
        assertMessage(1, "answer");
    }

    private static String checksumOf(String hex) {
        CRC32C crc = new CRC32C();
        crc.update(Wire.bytes(hex));
        return HexFormat.of().toHexDigits(Integer.reverseBytes((int) crc.getValue()));
    }

    @Test
    void initiatorSendsTheReadyToReceiveFrameThatWasChosen() throws Exception {
        calling("5402 0004 8001 c001", "5002 0004 8001 8001");
        assertThat(peer.readAnyFrame()).isEmpty();
        assertThat(peer.header.opcode).isEqualTo(Opcode.WRITE);
        assertThat(own.isQuiet()).isTrue();
    }

    /// siw does not notice frames that come right behind its reply before something else comes.
    @Test
    void aPeerThatOverlookedTheFirstFrameIsReminded() throws Exception {
        callingSiw("");
        own.put("hello");
        send(6);
        assertMessage(1, "hello");
        for (int i = 0; i < 2; i++) {
            assertThat(peer.readAnyFrame()).isEmpty();
            assertThat(peer.header.opcode).isEqualTo(Opcode.WRITE);
        }
        send(6);
        assertMessage(2, "hello");
        assertThat(connection.isConnected()).isTrue();
    }

    @Test
    void initiatorSendsAReadOfNothing() throws Exception {
        calling("5402 0004 8001 c001", "5002 0004 8001 4001");
        peer.readFrame();
        assertThat(peer.header.opcode).isEqualTo(Opcode.READ_REQUEST);
        assertThat(peer.readRequest.bytes).isZero();
        SegmentHeader response = new SegmentHeader();
        response.setTagged(Opcode.READ_RESPONSE, true, peer.readRequest.sinkKey, peer.readRequest.sinkAddress, 0);
        peer.sendFrame(response, new byte[0]);
        peer.sendMessage(1, HELLO);
        own.succeeded(1);
        assertThat(connection.isConnected()).isTrue();
    }

    // ---- Data ----

    @Test
    void headersInPiecesOfAllSizes() throws Exception {
        calledBySiw(true);
        String frame = peer.message(1, HELLO);
        peer.wire.sendByteByByte(frame);
        own.succeeded(1);
        for (int cut = 2; cut < frame.length(); cut += 2) {
            int number = cut / 2 + 1;
            own.receive(number, AddressEnd.HALF);
            String next = peer.message(number, HELLO);
            peer.send(next.substring(0, cut));
            assertThat(own.isQuiet()).isTrue();
            peer.send(next.substring(cut));
            assertThat(own.succeeded(number).bytes()).isEqualTo(6);
        }
    }

    @Test
    void nothingIsAMessageToo() throws Exception {
        calledBySiw(false);
        peer.sendMessage(1, new byte[0]);
        assertThat(own.succeeded(1).bytes()).isZero();
        own.post(own.batch().send(2).signaled());
        assertThat(peer.readFrame()).isEmpty();
        own.succeeded(2);
        own.post(own.batch().write(3, 0, 0).signaled());
        assertThat(peer.readAnyFrame()).isEmpty();
        assertThat(peer.header.opcode).isEqualTo(Opcode.WRITE);
        own.succeeded(3);
        own.post(own.batch().read(4, 0, 0).signaled());
        peer.readFrame();
        assertThat(peer.header.opcode).isEqualTo(Opcode.READ_REQUEST);
        answerRead(new byte[0], 1);
        own.succeeded(4);
    }

    private void answerRead(byte[] data, int segments) throws IOException {
        int key = peer.readRequest.sinkKey;
        long address = peer.readRequest.sinkAddress;
        int each = data.length / segments;
        for (int i = 0; i < segments; i++) {
            boolean last = i == segments - 1;
            int from = i * each;
            int to = last ? data.length : from + each;
            SegmentHeader response = new SegmentHeader();
            response.setTagged(Opcode.READ_RESPONSE, last, key, address + from, to - from);
            peer.sendFrame(response, Arrays.copyOfRange(data, from, to));
        }
    }

    /// The messages of different queues may be cut into each other: a tagged one between segments of an untagged
    /// one (RFC 5041 5.3 orders the segments of a message, and the messages of a queue).
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void taggedMessagesBetweenTheSegmentsOfASend(boolean checksums) throws Exception {
        calledBySiw(checksums);
        startOfSend();
        own.post(own.batch().read(2, 0x1000, 5).with(own.region, 100, 4).signaled());
        peer.readFrame();
        answerRead(new byte[] {1, 2, 3, 4}, 2);
        own.succeeded(2);
        SegmentHeader write = new SegmentHeader();
        write.setTagged(Opcode.WRITE, true, own.region.remoteKey(), own.region.address() + 200, 4);
        peer.sendFrame(write, new byte[] {5, 6, 7, 8});
        peer.sendFrame(endOfSend(), Arrays.copyOfRange(HELLO, 2, 6));
        assertThat(own.succeeded(1).bytes()).isEqualTo(6);
        assertThat(own.received()).isEqualTo("hello");
        assertThat(own.region.segment().asSlice(100, 4).toArray(ValueLayout.JAVA_BYTE))
                .containsExactly(1, 2, 3, 4);
        assertThat(own.region.segment().asSlice(200, 4).toArray(ValueLayout.JAVA_BYTE))
                .containsExactly(5, 6, 7, 8);
    }

    private void startOfSend() throws IOException {
        SegmentHeader start = new SegmentHeader();
        start.setUntagged(Opcode.SEND, 1);
        start.last = false;
        start.payloadBytes = 2;
        peer.sendFrame(start, Arrays.copyOf(HELLO, 2));
    }

    private static SegmentHeader endOfSend() {
        SegmentHeader end = new SegmentHeader();
        end.setUntagged(Opcode.SEND, 1);
        end.messageOffset = 2;
        end.payloadBytes = 4;
        return end;
    }

    /// The memory of a Write goes while it comes in, in the middle of a Send: that is not the receive's fault.
    @Test
    void memoryOfAWriteInsideASendGoes() throws Exception {
        calledBySiw(false);
        startOfSend();
        MemoryRegion target = own.domain.allocate(64, AccessFlag.allRemote());
        SegmentHeader write = new SegmentHeader();
        write.setTagged(Opcode.WRITE, true, target.remoteKey(), target.address(), 8);
        String frame = peer.frame(write, new byte[] {1, 2, 3, 4, 5, 6, 7, 8});
        peer.send(frame.substring(0, 2 * (16 + 4)));
        own.await(() -> target.segment().get(ValueLayout.JAVA_BYTE, 3) == 4);
        target.close();
        peer.send(frame.substring(2 * (16 + 4)));
        assertTerminated(TerminateCode.TAGGED_INVALID_KEY);
        assertThat(own.next().status()).isEqualTo(WorkStatus.FLUSHED);
    }

    /// An adapter takes frames that fit into a TCP segment (RFC 5044 4.5): of each kind of message with payload.
    @ParameterizedTest
    @ValueSource(ints = {536, 1440, 8948})
    void framesFitTheSegmentsOfTheDevice(int segment) throws Exception {
        own.close();
        own = new AddressEnd("soft0=127.0.0.1?segment=" + segment);
        calledBySiw(true);
        peer.sendMessage(1, HELLO);
        own.succeeded(1);
        int bytes = 30_001;
        own.fill(bytes, 3);
        byte[] expected = own.region.segment().asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);

        own.post(own.batch().send(2).with(own.region, 0, bytes).signaled());
        assertThat(readMessage(Opcode.SEND, segment)).isEqualTo(expected);
        own.succeeded(2);
        own.post(own.batch().write(3, 0x2000, 5).with(own.region, 0, bytes).signaled());
        assertThat(readMessage(Opcode.WRITE, segment)).isEqualTo(expected);
        own.succeeded(3);
        ReadRequest read = new ReadRequest();
        read.bytes = bytes;
        read.sourceKey = own.region.remoteKey();
        read.sourceAddress = own.region.address();
        peer.send(peer.readRequest(1, read));
        assertThat(readMessage(Opcode.READ_RESPONSE, segment)).isEqualTo(expected);
    }

    @Test
    void framesFitTheSegmentsOfADeviceThatCalls() throws Exception {
        calling("soft0=127.0.0.1?checksum=true&segment=1440", "5402 0004 8001 c001", "5402 0004 0001 0001");
        own.post(own.batch().send(2).with(own.region, 0, 5000).signaled());
        assertThat(readMessage(Opcode.SEND, 1440)).hasSize(5000);
        own.succeeded(2);
    }

    private byte[] readMessage(int opcode, int longestFrame) throws IOException {
        ByteArrayOutputStream message = new ByteArrayOutputStream();
        do {
            message.write(peer.readFrame());
            assertThat(peer.header.opcode).isEqualTo(opcode);
            assertThat(Fpdu.bytes(peer.header.segmentBytes())).isLessThanOrEqualTo(longestFrame);
        } while (!peer.header.last);
        return message.toByteArray();
    }

    /// The steps of `rping -s`, with the sizes at its limits.
    @ParameterizedTest
    @CsvSource({"64, 1", "64, 3", "65535, 2", "65535, 46"})
    void rpingExchange(int size, int segments) throws Exception {
        callingSiw("");
        own.fill(size, 65);
        own.put("rping-data");
        own.post(own.batch().send(2).with(own.region, 0, 16).signaled());
        peer.readFrame();
        own.succeeded(2);

        // siw reads the data.
        ReadRequest read = new ReadRequest();
        read.sinkKey = 0x100;
        read.sinkAddress = 0x2000;
        read.bytes = size;
        read.sourceKey = own.region.remoteKey();
        read.sourceAddress = own.region.address();
        peer.send(peer.readRequest(1, read));
        byte[] data = new byte[size];
        int got = 0;
        do {
            byte[] payload = peer.readFrame();
            assertThat(peer.header.opcode).isEqualTo(Opcode.READ_RESPONSE);
            assertThat(peer.header.key).isEqualTo(0x100);
            assertThat(peer.header.address).isEqualTo(0x2000 + got);
            System.arraycopy(payload, 0, data, got, payload.length);
            got += payload.length;
        } while (!peer.header.last);
        assertThat(got).isEqualTo(size);
        assertThat(HexFormat.of().formatHex(data, 0, 10)).isEqualTo("7270696e672d64617461");
        peer.sendMessage(1, new byte[16]);
        assertThat(own.succeeded(1).bytes()).isEqualTo(16);

        // siw writes it back, in segments.
        int each = size / segments;
        for (int i = 0; i < segments; i++) {
            boolean last = i == segments - 1;
            int from = i * each;
            int to = last ? size : from + each;
            SegmentHeader write = new SegmentHeader();
            write.setTagged(
                    Opcode.WRITE,
                    last,
                    own.region.remoteKey(),
                    own.region.address() + AddressEnd.HALF + from,
                    to - from);
            peer.sendFrame(write, Arrays.copyOfRange(data, from, to));
        }
        own.receive(9, 0);
        peer.sendMessage(2, new byte[0]);
        own.succeeded(9);
        byte[] back = own.region.segment().asSlice(AddressEnd.HALF, size).toArray(ValueLayout.JAVA_BYTE);
        assertThat(back).isEqualTo(data);
        connection.disconnect();
        assertThat(peer.wire.isEnded()).isTrue();
    }

    @Test
    void notMoreReadsAtOnceThanAgreed() throws Exception {
        calledBySiw(false);
        assertThat(connection.initiatorDepth()).isEqualTo(1);
        peer.sendMessage(1, HELLO);
        own.succeeded(1);
        own.post(own.batch()
                .read(2, 0x1000, 5)
                .with(own.region, 0, 4)
                .signaled()
                .read(3, 0x2000, 5)
                .with(own.region, 4, 4)
                .signaled());
        peer.readFrame();
        assertThat(peer.readRequest.sourceAddress).isEqualTo(0x1000);
        assertThat(peer.header.messageNumber).isEqualTo(1);
        answerRead(new byte[] {1, 2, 3, 4}, 2);
        peer.readFrame();
        assertThat(peer.readRequest.sourceAddress).isEqualTo(0x2000);
        assertThat(peer.header.messageNumber).isEqualTo(2);
        answerRead(new byte[] {5, 6, 7, 8}, 1);
        own.succeeded(2);
        own.succeeded(3);
        assertThat(own.region.segment().get(ValueLayout.JAVA_BYTE, 7)).isEqualTo((byte) 8);
    }

    @Test
    void noReadsWithAPeerThatAnswersNone() throws Exception {
        called("1002 0004 0000 0001", "1002 0004 0001 0000");
        assertThat(connection.initiatorDepth()).isZero();
        peer.sendMessage(1, HELLO);
        own.succeeded(1);
        own.post(own.batch().read(2, 0x1000, 5).with(own.region, 0, 4).signaled());
        assertThat(own.next().status()).isEqualTo(WorkStatus.REMOTE_INVALID_REQUEST);
        assertThat(connection.awaitDisconnect(LONG)).isTrue();
        assertThat(connection.disconnectReason()).contains("READ was not sent", "initiator depth is 0");
    }

    @Test
    void solicitedAndInvalidatingSends() throws Exception {
        calledBySiw(false);
        SegmentHeader segment = new SegmentHeader();
        segment.setUntagged(Opcode.SEND_SOLICITED, 1);
        segment.payloadBytes = HELLO.length;
        peer.sendFrame(segment, HELLO);
        own.succeeded(1);
        own.post(own.batch().send(2).with(own.region, 0, 4).solicited().signaled());
        peer.readFrame();
        assertThat(peer.header.opcode).isEqualTo(Opcode.SEND_SOLICITED);
        own.succeeded(2);
        own.post(
                own.batch().sendWithInvalidate(3, 0x4711).with(own.region, 0, 4).signaled());
        peer.readFrame();
        assertThat(peer.header.opcode).isEqualTo(Opcode.SEND_INVALIDATE);
        assertThat(peer.header.key).isEqualTo(0x4711);
    }

    // ---- What others do not have ----

    /// As libsiw refuses them: what was posted before is sent, and the connection stands.
    @ParameterizedTest
    @EnumSource(names = {"SEND_WITH_IMMEDIATE", "WRITE_WITH_IMMEDIATE", "COMPARE_AND_SWAP", "FETCH_AND_ADD"})
    void whatThePeerDoesNotKnowIsNotPosted(SendOpcode opcode) throws Exception {
        calledBySiw(false);
        peer.sendMessage(1, HELLO);
        own.succeeded(1);
        own.put("before");
        SendBatch batch = own.batch().send(2).with(own.region, 0, 7).signaled();
        switch (opcode) {
            case SEND_WITH_IMMEDIATE -> batch.sendWithImmediate(3, 99);
            case WRITE_WITH_IMMEDIATE -> batch.writeWithImmediate(3, 0x1000, 5, 99);
            case COMPARE_AND_SWAP -> batch.compareAndSwap(3, 0x1000, 5, 0, 1);
            default -> batch.fetchAndAdd(3, 0x1000, 5, 1);
        }
        batch.with(own.region, 0, 8).send(4).with(own.region, 0, 7);
        WorkRequestException refused = catchThrowableOfType(WorkRequestException.class, () -> own.pair.post(batch));
        assertThat(refused.index()).isEqualTo(1);
        assertThat(refused.errno()).isEqualTo(Errno.EINVAL);
        assertThat(refused)
                .hasMessageContaining(opcode + " is not possible with this peer")
                .hasMessageContaining(connection.remoteAddress().toString())
                .hasMessageContaining("RFC 5040");
        assertMessage(1, "before");
        own.succeeded(2);
        own.put("after");
        send(6);
        assertMessage(2, "after");
        own.succeeded(7);
        assertThat(connection.isConnected()).isTrue();
        assertThat(own.isQuiet()).isTrue();
    }

    /// The next connection of the queue pair may be to a peer that knows more.
    @Test
    void aQueuePairThatIsResetForgetsWhatItsPeerDidNotKnow() throws Exception {
        calledBySiw(false);
        SendBatch batch = own.batch().sendWithImmediate(2, 99);
        assertThatThrownBy(() -> own.pair.post(batch)).isInstanceOf(WorkRequestException.class);
        own.pair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        own.pair.connect(own.pair.info());
        own.receive(1, 8);
        own.post(batch.clear().sendWithImmediate(2, 99).signaled());
        assertThat(own.statuses(2)).containsOnly(WorkStatus.SUCCESS);
    }

    // ---- Violations of the peer ----

    private void assertTerminated(TerminateCode code) throws IOException, InterruptedException {
        do {
            peer.readFrame();
        } while (peer.header.opcode != Opcode.TERMINATE);
        assertThat(peer.terminate.code).isEqualTo(code);
        assertThat(peer.wire.isEnded()).isTrue();
        assertThat(connection.awaitDisconnect(LONG)).isTrue();
        assertThat(own.pair.state()).isEqualTo(QueuePairState.ERROR);
    }

    private void assertWriteRefused(int key, long address, TerminateCode code) throws Exception {
        calledBySiw(false);
        SegmentHeader write = new SegmentHeader();
        write.setTagged(Opcode.WRITE, true, key, address, 4);
        peer.sendFrame(write, new byte[4]);
        assertTerminated(code);
        assertThat(own.next().status()).isEqualTo(WorkStatus.FLUSHED);
    }

    @Test
    void writeWithAForgedKey() throws Exception {
        assertWriteRefused(own.region.remoteKey() ^ 0x5a5a, own.region.address(), TerminateCode.TAGGED_INVALID_KEY);
    }

    @Test
    void writeBeyondTheRegion() throws Exception {
        assertWriteRefused(
                own.region.remoteKey(),
                own.region.address() + 2L * AddressEnd.HALF - 3,
                TerminateCode.TAGGED_OUT_OF_BOUNDS);
    }

    @Test
    void readWithAForgedKey() throws Exception {
        calledBySiw(false);
        ReadRequest read = new ReadRequest();
        read.bytes = 4;
        read.sourceKey = own.region.remoteKey() ^ 0x5a5a;
        read.sourceAddress = own.region.address();
        peer.send(peer.readRequest(1, read));
        assertTerminated(TerminateCode.INVALID_KEY);
    }

    @Test
    void sendWithoutReceive() throws Exception {
        calledBySiw(false);
        peer.sendMessage(1, HELLO);
        own.succeeded(1);
        peer.sendMessage(2, HELLO);
        assertTerminated(TerminateCode.NO_RECEIVE);
    }

    @Test
    void wrongChecksum() throws Exception {
        calledBySiw(true);
        String frame = peer.message(1, HELLO);
        peer.send(frame.substring(0, frame.length() - 2) + (frame.endsWith("00") ? "01" : "00"));
        assertTerminated(TerminateCode.CHECKSUM);
        assertThat(own.next().status()).isEqualTo(WorkStatus.FLUSHED);
    }

    @ParameterizedTest
    @CsvSource({
        "0012 4143 00000000 00000000 00000005 00000000, MESSAGE_NUMBER",
        "0012 4143 00000000 00000000 00000001 00000004, MESSAGE_OFFSET",
        "0012 4143 00000000 00000003 00000001 00000000, UNTAGGED_QUEUE",
        "0012 4243 00000000 00000000 00000001 00000000, UNTAGGED_VERSION",
        "0012 4183 00000000 00000000 00000001 00000000, RDMAP_VERSION",
        "0012 414f 00000000 00000000 00000001 00000000, UNEXPECTED_OPCODE",
        "0012 414c 00000000 00000000 00000001 00000000, UNEXPECTED_OPCODE",
        "001a 414e 00000000 00000004 00000001 00000000 0000000000000000, UNEXPECTED_OPCODE",
        "0004 4143 00000000, FRAME_LENGTH",
        "000e c142 aabbcc00 0000000000001000, UNEXPECTED_OPCODE",
    })
    void violations(String frame, TerminateCode code) throws Exception {
        calledBySiw(false);
        peer.send(frame + "00000000" + "0000");
        do {
            peer.readFrame();
        } while (peer.header.opcode != Opcode.TERMINATE);
        assertThat(peer.terminate.code.layer()).isEqualTo(code.layer());
        assertThat(peer.terminate.code).isEqualTo(code);
        assertThat(peer.wire.isEnded()).isTrue();
        assertThat(connection.awaitDisconnect(LONG)).isTrue();
    }

    @Test
    void responseOfTheWrongLength() throws Exception {
        calledBySiw(false);
        peer.sendMessage(1, HELLO);
        own.succeeded(1);
        own.put("untouched");
        own.post(own.batch().read(2, 0x1000, 5).with(own.region, 0, 4).signaled());
        peer.readFrame();
        answerRead(new byte[8], 1);
        assertThat(own.next().status()).isNotEqualTo(WorkStatus.SUCCESS);
        assertThat(own.region.segment().getString(0)).isEqualTo("untouched");
        assertThat(connection.awaitDisconnect(LONG)).isTrue();
    }

    // ---- How it ends ----

    /// In the RFC's layout and in that of siw.
    @ParameterizedTest
    @ValueSource(strings = {"12 02 00 00", "21 02 03 00"})
    void terminateIsReported(String why) throws Exception {
        calledBySiw(false);
        peer.sendMessage(1, HELLO);
        own.succeeded(1);
        own.receive(2, 10);
        peer.send("0016 4147 00000000 00000002 00000001 00000000" + why + "00000000");
        assertThat(connection.awaitDisconnect(LONG)).isTrue();
        assertThat(connection.disconnectReason()).contains("no receive posted");
        assertThat(own.pair.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(own.next().status()).isEqualTo(WorkStatus.FLUSHED);
    }

    @Test
    void peerDisconnects() throws Exception {
        calledBySiw(false);
        peer.close();
        assertEnded();
    }

    @Test
    void peerResets() throws Exception {
        calledBySiw(false);
        peer.wire.reset();
        assertEnded();
    }

    @Test
    void peerEndsInsideAFrame() throws Exception {
        calledBySiw(false);
        peer.send(peer.message(1, HELLO).substring(0, 44));
        peer.close();
        assertEnded();
    }

    @Test
    void peerEndsInsideAMessage() throws Exception {
        calledBySiw(false);
        SegmentHeader part = new SegmentHeader();
        part.setUntagged(Opcode.SEND, 1);
        part.last = false;
        part.payloadBytes = HELLO.length;
        peer.sendFrame(part, HELLO);
        peer.close();
        assertEnded();
    }

    private void assertEnded() throws InterruptedException {
        assertThat(connection.awaitDisconnect(LONG)).isTrue();
        assertThat(connection.isConnected()).isFalse();
        assertThat(own.pair.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(own.next().status()).isEqualTo(WorkStatus.FLUSHED);
    }

    // ---- The live stream, mutated ----

    @Test
    void mutatedFramesCostTheirConnectionOnly() throws Exception {
        long seed = Long.getLong("rdma.fuzz.seed", System.nanoTime());
        int streams = Integer.getInteger("rdma.fuzz.streams", 60);
        Random random = new Random(seed);
        for (int i = 0; i < streams; i++) {
            own.region.segment().fill((byte) 0);
            calledBySiw(false);
            sendMutated(random);
            peer.close();
            assertThat(connection.awaitDisconnect(LONG))
                    .as("seed %d, stream %d", seed, i)
                    .isTrue();
            assertThat(own.pair.state()).isEqualTo(QueuePairState.ERROR);
            connection.close();
            own.renew();
        }
        calledBySiw(false);
        peer.sendMessage(1, HELLO);
        own.succeeded(1);
    }

    private void sendMutated(Random random) {
        ReadRequest read = new ReadRequest();
        read.bytes = 16;
        read.sourceKey = own.region.remoteKey();
        read.sourceAddress = own.region.address();
        SegmentHeader write = new SegmentHeader();
        write.setTagged(Opcode.WRITE, true, own.region.remoteKey(), own.region.address(), 16);
        String stream = peer.message(1, HELLO) + peer.readRequest(1, read) + peer.frame(write, new byte[16]);
        byte[] bytes = Wire.bytes(stream);
        for (int m = 1 + random.nextInt(4); m > 0; m--) {
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
        }
        try {
            peer.send(HexFormat.of().formatHex(bytes, 0, random.nextInt(bytes.length + 1)));
        } catch (IOException e) {
            // It was ended while the rest was being sent.
            assertThat(e).isInstanceOf(SocketException.class);
        }
    }
}
