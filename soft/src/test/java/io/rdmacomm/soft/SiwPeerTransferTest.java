package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.iwarp.Opcode;
import io.rdmacomm.soft.iwarp.ReadRequest;
import io.rdmacomm.soft.iwarp.SegmentHeader;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Messages to and from siw: whole, in segments and in pieces.
class SiwPeerTransferTest {
    private static final byte[] HELLO = SiwEnds.HELLO;

    @AutoClose
    private final SiwEnds ends = new SiwEnds();

    @Test
    void headersInPiecesOfAllSizes() throws Exception {
        ends.calledBySiw(true);
        String frame = ends.peer.message(1, HELLO);
        ends.peer.wire.sendByteByByte(frame);
        ends.own.succeeded(1);
        for (int cut = 2; cut < frame.length(); cut += 2) {
            int number = cut / 2 + 1;
            ends.own.receive(number, AddressEnd.HALF);
            String next = ends.peer.message(number, HELLO);
            ends.peer.send(next.substring(0, cut));
            assertThat(ends.own.isQuiet()).isTrue();
            ends.peer.send(next.substring(cut));
            assertThat(ends.own.succeeded(number).bytes()).isEqualTo(6);
        }
    }

    @Test
    void aMessageMayBeEmpty() throws Exception {
        ends.calledBySiw(false);
        ends.peer.sendMessage(1, new byte[0]);
        assertThat(ends.own.succeeded(1).bytes()).isZero();
        ends.own.post(ends.own.batch().send(2).signaled());
        assertThat(ends.peer.readFrame()).isEmpty();
        ends.own.succeeded(2);
        ends.own.post(ends.own.batch().write(3, 0, 0).signaled());
        assertThat(ends.peer.readAnyFrame()).isEmpty();
        assertThat(ends.peer.header.opcode).isEqualTo(Opcode.WRITE);
        ends.own.succeeded(3);
        ends.own.post(ends.own.batch().read(4, 0, 0).signaled());
        ends.peer.readFrame();
        assertThat(ends.peer.header.opcode).isEqualTo(Opcode.READ_REQUEST);
        ends.peer.answerRead(new byte[0], 1);
        ends.own.succeeded(4);
    }

    /// siw would answer a single one wrongly.
    @Test
    void aShortReadAcrossPagesIsSentInTwoParts() throws Exception {
        ends.calledBySiw(false);
        ends.peer.sendMessage(1, HELLO);
        ends.own.succeeded(1);
        byte[] answer = {1, 2, 3, 4, 5, 6, 7, 8};
        ends.own.post(
                ends.own.batch().read(2, 0x7ffd, 9).with(ends.own.region, 0, 8).signaled());
        ends.peer.readFrame();
        assertThat(ends.peer.header.opcode).isEqualTo(Opcode.READ_REQUEST);
        assertThat(ends.peer.readRequest.sourceAddress).isEqualTo(0x7ffd);
        assertThat(ends.peer.readRequest.bytes).isEqualTo(3);
        ends.peer.answerRead(Arrays.copyOf(answer, 3), 1);
        ends.peer.readFrame();
        assertThat(ends.peer.readRequest.sourceAddress).isEqualTo(0x8000);
        assertThat(ends.peer.readRequest.sourceKey).isEqualTo(9);
        assertThat(ends.peer.readRequest.bytes).isEqualTo(5);
        ends.peer.answerRead(Arrays.copyOfRange(answer, 3, 8), 1);
        ends.own.succeeded(2);
        assertThat(ends.own.region.segment().asSlice(0, 8).toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(answer);
    }

    /// The messages of different queues may be cut into each other: a tagged one between segments of an untagged
    /// one (RFC 5041 5.3 orders the segments of a message, and the messages of a queue).
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void taggedMessagesBetweenTheSegmentsOfASend(boolean checksums) throws Exception {
        ends.calledBySiw(checksums);
        ends.peer.sendPart(1, 0, false, Arrays.copyOf(HELLO, 2));
        ends.own.post(ends.own
                .batch()
                .read(2, 0x1000, 5)
                .with(ends.own.region, 100, 4)
                .signaled());
        ends.peer.readFrame();
        ends.peer.answerRead(new byte[] {1, 2, 3, 4}, 2);
        ends.own.succeeded(2);
        SegmentHeader write = new SegmentHeader();
        write.setTagged(Opcode.WRITE, true, ends.own.region.remoteKey(), ends.own.region.address() + 200, 4);
        ends.peer.sendFrame(write, new byte[] {5, 6, 7, 8});
        ends.peer.sendPart(1, 2, true, Arrays.copyOfRange(HELLO, 2, 6));
        assertThat(ends.own.succeeded(1).bytes()).isEqualTo(6);
        assertThat(ends.own.received()).isEqualTo("hello");
        assertThat(ends.own.region.segment().asSlice(100, 4).toArray(ValueLayout.JAVA_BYTE))
                .containsExactly(1, 2, 3, 4);
        assertThat(ends.own.region.segment().asSlice(200, 4).toArray(ValueLayout.JAVA_BYTE))
                .containsExactly(5, 6, 7, 8);
    }

    /// The steps of `rping -s`, with the sizes at its limits.
    @ParameterizedTest
    @CsvSource({"64, 1", "64, 3", "65535, 2", "65535, 46"})
    void rpingExchange(int size, int segments) throws Exception {
        ends.callingSiw("");
        ends.own.fill(size, 65);
        ends.own.put("rping-data");
        ends.own.post(ends.own.batch().send(2).with(ends.own.region, 0, 16).signaled());
        ends.peer.readFrame();
        ends.own.succeeded(2);

        // siw reads the data.
        ReadRequest read = new ReadRequest();
        read.sinkKey = 0x100;
        read.sinkAddress = 0x2000;
        read.bytes = size;
        read.sourceKey = ends.own.region.remoteKey();
        read.sourceAddress = ends.own.region.address();
        ends.peer.send(ends.peer.readRequest(1, read));
        byte[] data = new byte[size];
        int got = 0;
        do {
            byte[] payload = ends.peer.readFrame();
            assertThat(ends.peer.header.opcode).isEqualTo(Opcode.READ_RESPONSE);
            assertThat(ends.peer.header.key).isEqualTo(0x100);
            assertThat(ends.peer.header.address).isEqualTo(0x2000 + got);
            System.arraycopy(payload, 0, data, got, payload.length);
            got += payload.length;
        } while (!ends.peer.header.last);
        assertThat(got).isEqualTo(size);
        assertThat(HexFormat.of().formatHex(data, 0, 10)).isEqualTo("7270696e672d64617461");
        ends.peer.sendMessage(1, new byte[16]);
        assertThat(ends.own.succeeded(1).bytes()).isEqualTo(16);

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
                    ends.own.region.remoteKey(),
                    ends.own.region.address() + AddressEnd.HALF + from,
                    to - from);
            ends.peer.sendFrame(write, Arrays.copyOfRange(data, from, to));
        }
        ends.own.receive(9, 0);
        ends.peer.sendMessage(2, new byte[0]);
        ends.own.succeeded(9);
        byte[] back = ends.own.region.segment().asSlice(AddressEnd.HALF, size).toArray(ValueLayout.JAVA_BYTE);
        assertThat(back).isEqualTo(data);
        ends.connection.disconnect();
        assertThat(ends.peer.isEnded()).isTrue();
    }

    @Test
    void solicitedAndInvalidatingSends() throws Exception {
        ends.calledBySiw(false);
        SegmentHeader segment = new SegmentHeader();
        segment.setUntagged(Opcode.SEND_SOLICITED, 1);
        segment.payloadBytes = HELLO.length;
        ends.peer.sendFrame(segment, HELLO);
        ends.own.succeeded(1);
        ends.own.post(
                ends.own.batch().send(2).with(ends.own.region, 0, 4).solicited().signaled());
        ends.peer.readFrame();
        assertThat(ends.peer.header.opcode).isEqualTo(Opcode.SEND_SOLICITED);
        ends.own.succeeded(2);
        ends.own.post(ends.own
                .batch()
                .sendWithInvalidate(3, 0x4711)
                .with(ends.own.region, 0, 4)
                .signaled());
        ends.peer.readFrame();
        assertThat(ends.peer.header.opcode).isEqualTo(Opcode.SEND_INVALIDATE);
        assertThat(ends.peer.header.key).isEqualTo(0x4711);
    }
}
