package io.rdmacomm.soft.iwarp;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/// Our frames equal those of others, byte for byte, and theirs are understood wherever TCP cuts them.
class GoldenFramesTest {
    private static final int AT = 5;

    @SuppressWarnings("unused") // Named by @FieldSource.
    static final List<Frames.Golden> ALL = Frames.ALL;

    private final SegmentHeader header = new SegmentHeader();
    private final FpduChecksum checksum = new FpduChecksum();
    private final ByteBuffer out = ByteBuffer.allocateDirect(128);

    @ParameterizedTest
    @FieldSource("ALL")
    void headersAreCompleteAtTheRightByteWhereverTheyAreCut(Frames.Golden golden) {
        ByteBuffer frame = golden.at(AT);
        for (int available = 0; available <= golden.length(); available++) {
            // A limit at what has come: a read beyond it throws.
            ByteBuffer come = frame.duplicate().limit(AT + available);
            int missing = SegmentHeader.missing(come, AT, available);
            if (available < golden.headerBytes()) {
                assertThat(missing).isBetween(1, golden.headerBytes() - available);
            } else {
                assertThat(missing).isZero();
                assertThat(header.decode(come, AT)).isEqualTo(Violation.NONE);
                assertThat(header.headerBytes()).isEqualTo(golden.headerBytes());
            }
        }
    }

    @ParameterizedTest
    @FieldSource("ALL")
    void checksumsAreRightWhereverTheFrameIsCut(Frames.Golden golden) {
        ByteBuffer frame = golden.at(AT);
        assertThat(header.decode(frame, AT)).isEqualTo(Violation.NONE);
        int end = FpduLayout.DDP_CONTROL + header.segmentBytes();
        assertThat(Fpdu.bytes(header.segmentBytes())).isEqualTo(golden.length());
        for (int cut = 0; cut <= end; cut++) {
            checksum.reset();
            checksum.update(frame, AT, cut);
            checksum.update(frame, AT + cut, end - cut);
            assertThat(Fpdu.checkTrailer(frame, AT + end, header.segmentBytes(), checksum))
                    .isEqualTo(Violation.NONE);
        }
    }

    @ParameterizedTest
    @FieldSource("ALL")
    void everyFlippedBitIsSeenByTheChecksum(Frames.Golden golden) {
        ByteBuffer frame = golden.at(AT);
        assertThat(header.decode(frame, AT)).isEqualTo(Violation.NONE);
        int segment = header.segmentBytes();
        int end = FpduLayout.DDP_CONTROL + segment;
        for (int bit = 0; bit < golden.length() * 8; bit++) {
            int at = AT + bit / 8;
            frame.put(at, (byte) (frame.get(at) ^ (1 << bit % 8)));
            checksum.reset();
            checksum.update(frame, AT, end);
            assertThat(Fpdu.checkTrailer(frame, AT + end, segment, checksum)).isEqualTo(Violation.CHECKSUM);
            frame.put(at, (byte) (frame.get(at) ^ (1 << bit % 8)));
        }
    }

    @Test
    void send() {
        header.setUntagged(Opcode.SEND, 1);
        header.payloadBytes = 5;
        header.encode(out, AT);
        out.put(AT + 20, Frames.bytes("68656c6c6f"));
        assertWritten(Frames.SEND);
        assertThat(header.decode(Frames.SEND.at(0), 0)).isEqualTo(Violation.NONE);
        assertThat(header.opcode).isEqualTo(Opcode.SEND);
        assertThat(header.last).isTrue();
        assertThat(header.messageNumber).isEqualTo(1);
        assertThat(header.payloadBytes).isEqualTo(5);
    }

    @Test
    void write() {
        header.setTagged(Opcode.WRITE, true, 0x12345678, 0x7f0000001000L, 4);
        header.encode(out, AT);
        out.put(AT + 16, Frames.bytes("01020304"));
        assertWritten(Frames.WRITE);
        assertThat(header.decode(Frames.WRITE.at(0), 0)).isEqualTo(Violation.NONE);
        assertThat(header.key).isEqualTo(0x12345678);
        assertThat(header.address).isEqualTo(0x7f0000001000L);
        assertThat(header.payloadBytes).isEqualTo(4);
    }

    @Test
    void readyToReceive() {
        header.setTagged(Opcode.WRITE, true, 1, 0, 0);
        header.encode(out, AT);
        assertWritten(Frames.READY_TO_RECEIVE);
    }

    @Test
    void readRequest() {
        ReadRequest request = new ReadRequest();
        request.sinkKey = 0xaabbcc00;
        request.sinkAddress = 0x1000;
        request.bytes = 64;
        request.sourceKey = 0x11223300;
        request.sourceAddress = 0x2000;
        header.setUntagged(Opcode.READ_REQUEST, 1);
        header.encode(out, AT);
        request.encode(out, AT);
        assertWritten(Frames.READ_REQUEST);

        ReadRequest found = new ReadRequest();
        assertThat(found.decode(Frames.READ_REQUEST.at(0), 0)).isEqualTo(Violation.NONE);
        assertThat(found).usingRecursiveComparison().isEqualTo(request);
    }

    @Test
    void readResponse() {
        header.setTagged(Opcode.READ_RESPONSE, true, 0xaabbcc00, 0x1000, 0);
        header.encode(out, AT);
        assertWritten(Frames.READ_RESPONSE);
    }

    @Test
    void terminate() {
        int bytes = TerminateMessage.encode(out, AT, header, TerminateCode.RDMAP_CATASTROPHIC);
        assertThat(bytes).isEqualTo(24);
        assertWritten(Frames.TERMINATE);
    }

    @Test
    void controlBytesOfAllMessages() {
        assertControl(Opcode.WRITE, "c140", "8140");
        assertControl(Opcode.READ_REQUEST, "4141", null);
        assertControl(Opcode.READ_RESPONSE, "c142", "8142");
        assertControl(Opcode.SEND, "4143", "0143");
        assertControl(Opcode.SEND_INVALIDATE, "4144", "0144");
        assertControl(Opcode.SEND_SOLICITED, "4145", "0145");
        assertControl(Opcode.SEND_SOLICITED_INVALIDATE, "4146", "0146");
        assertControl(Opcode.TERMINATE, "4147", null);
        assertControl(Opcode.IMMEDIATE, "4148", null);
        assertControl(Opcode.IMMEDIATE_SOLICITED, "4149", null);
        assertControl(Opcode.ATOMIC_REQUEST, "414a", null);
        assertControl(Opcode.ATOMIC_RESPONSE, "414b", null);
    }

    private void assertControl(int opcode, String whenLast, @Nullable String whenMore) {
        header.setUntagged(opcode, 1);
        header.encode(out, 0);
        assertThat(Frames.hex(out, 2, 2)).isEqualTo(whenLast);
        header.last = false;
        header.encode(out, 0);
        if (whenMore == null) {
            assertThat(header.decode(out, 0)).isEqualTo(Violation.SEGMENTED);
        } else {
            assertThat(Frames.hex(out, 2, 2)).isEqualTo(whenMore);
            assertThat(header.decode(out, 0)).isEqualTo(Violation.NONE);
            assertThat(header.last).isFalse();
        }
    }

    private void assertWritten(Frames.Golden golden) {
        int segment = header.segmentBytes();
        int end = FpduLayout.DDP_CONTROL + segment;
        checksum.reset();
        checksum.update(out, AT, end);
        assertThat(Fpdu.writeTrailer(out, AT + end, segment, checksum)).isEqualTo(golden.length() - end);
        assertThat(Frames.hex(out, AT, golden.length())).isEqualTo(Frames.plain(golden.hex()));

        int trailer = Fpdu.writeTrailer(out, AT + end, segment);
        assertThat(Frames.hex(out, AT + end, trailer)).isEqualTo("00".repeat(trailer));
    }
}
