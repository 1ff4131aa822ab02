package io.rdmacomm.soft.iwarp;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/// Every rule for a single segment, and the error that the peer gets when it breaks one.
class SegmentHeaderTest {
    private final SegmentHeader header = new SegmentHeader();

    private Violation decode(String hex) {
        ByteBuffer frame = Frames.direct(hex);
        assertThat(SegmentHeader.missing(frame, 0, frame.capacity())).isZero();
        return header.decode(frame, 0);
    }

    private void refuses(String hex, Violation violation, TerminateCode answer) {
        assertThat(decode(hex)).isEqualTo(violation);
        assertThat(violation.answer()).isEqualTo(answer);
    }

    @Test
    void otherVersions() {
        refuses("000e c040 00000001 0000000000000000", Violation.TAGGED_VERSION, TerminateCode.TAGGED_VERSION);
        refuses("000e c340 00000001 0000000000000000", Violation.TAGGED_VERSION, TerminateCode.TAGGED_VERSION);
        refuses("0012 4243" + "00".repeat(16), Violation.UNTAGGED_VERSION, TerminateCode.UNTAGGED_VERSION);
        refuses("000e c100 00000001 0000000000000000", Violation.RDMAP_VERSION, TerminateCode.RDMAP_VERSION);
        refuses("0012 4183" + "00".repeat(16), Violation.RDMAP_VERSION, TerminateCode.RDMAP_VERSION);
    }

    @Test
    void opcodes() {
        refuses("0012 414f" + "00".repeat(16), Violation.UNKNOWN_OPCODE, TerminateCode.UNEXPECTED_OPCODE);
        refuses("000e c143 00000001 0000000000000000", Violation.BUFFER_MODEL, TerminateCode.UNEXPECTED_OPCODE);
        refuses("0012 4140" + "00".repeat(16), Violation.BUFFER_MODEL, TerminateCode.UNEXPECTED_OPCODE);
    }

    @Test
    void reservedBitsAreIgnored() {
        assertThat(decode("0012 7d73 00000000 00000000 00000001 00000000")).isEqualTo(Violation.NONE);
        assertThat(header.opcode).isEqualTo(Opcode.SEND);
        assertThat(header.last).isTrue();
    }

    @Test
    void shortFramesAreRejectedBeforeTheRestArrives() {
        assertThat(decode("0000 c140")).isEqualTo(Violation.TOO_SHORT);
        assertThat(decode("000d c140")).isEqualTo(Violation.TOO_SHORT);
        assertThat(decode("0011 4143")).isEqualTo(Violation.TOO_SHORT);
        assertThat(decode("002d 4141")).isEqualTo(Violation.TOO_SHORT);
        assertThat(decode("0045 414a")).isEqualTo(Violation.TOO_SHORT);
        assertThat(decode("001d 414b")).isEqualTo(Violation.TOO_SHORT);
        assertThat(decode("0019 4148")).isEqualTo(Violation.TOO_SHORT);
        assertThat(decode("0015 4147")).isEqualTo(Violation.TOO_SHORT);
        assertThat(decode("0019 414e")).isEqualTo(Violation.TOO_SHORT);
        assertThat(Violation.TOO_SHORT.answer()).isEqualTo(TerminateCode.FRAME_LENGTH);
    }

    @Test
    void messagesOfFixedLength() {
        refuses(
                "002f 4141 00000000 00000001 00000001 00000000" + "00".repeat(29),
                Violation.TOO_LONG,
                TerminateCode.FRAME_LENGTH);
        assertThat(decode("001b 4148 00000000 00000000 00000001 00000000" + "00".repeat(9)))
                .isEqualTo(Violation.TOO_LONG);
        // Not the last segment, or not the first.
        refuses(
                "002e 0141 00000000 00000001 00000001 00000000" + "00".repeat(28),
                Violation.SEGMENTED,
                TerminateCode.MESSAGE_OFFSET);
        assertThat(decode("002e 4141 00000000 00000001 00000001 00000004" + "00".repeat(28)))
                .isEqualTo(Violation.SEGMENTED);
    }

    @Test
    void queues() {
        refuses("0012 4143 00000000 00000001 00000001 00000000", Violation.QUEUE, TerminateCode.UNTAGGED_QUEUE);
        assertThat(decode("0012 4143 00000000 80000000 00000001 00000000")).isEqualTo(Violation.QUEUE);
        assertThat(decode("002e 4141 00000000 00000000 00000001 00000000" + "00".repeat(28)))
                .isEqualTo(Violation.QUEUE);
        assertThat(decode("0016 4147 00000000 00000000 00000001 00000000 00000000"))
                .isEqualTo(Violation.QUEUE);
        assertThat(decode("001e 414b 00000000 00000001 00000001 00000000" + "00".repeat(12)))
                .isEqualTo(Violation.QUEUE);
    }

    @Test
    void addressesThatWrap() {
        refuses(
                "0010 c140 00000001 ffffffffffffffff 0102",
                Violation.TAGGED_ADDRESS_WRAP,
                TerminateCode.TAGGED_ADDRESS_WRAP);
        assertThat(decode("000f c140 00000001 ffffffffffffffff 01")).isEqualTo(Violation.NONE);
        refuses(
                "0013 4143 00000000 00000000 00000001 ffffffff 01",
                Violation.MESSAGE_TOO_LONG,
                TerminateCode.MESSAGE_TOO_LONG);
        assertThat(decode("0012 4143 00000000 00000000 00000001 ffffffff")).isEqualTo(Violation.NONE);

        ReadRequest request = new ReadRequest();
        String prefix = "002e 4141 00000000 00000001 00000001 00000000";
        assertThat(request.decode(
                        Frames.direct(prefix + "00000001 0000000000000000 00000002 00000002 ffffffffffffffff"), 0))
                .isEqualTo(Violation.ADDRESS_WRAP);
        assertThat(request.decode(
                        Frames.direct(prefix + "00000001 ffffffff00000000 ffffffff 00000002 0000000000000000"), 0))
                .isEqualTo(Violation.NONE);
        assertThat(request.decode(
                        Frames.direct(prefix + "00000001 ffffffff00000002 ffffffff 00000002 0000000000000000"), 0))
                .isEqualTo(Violation.ADDRESS_WRAP);
        assertThat(Violation.ADDRESS_WRAP.answer()).isEqualTo(TerminateCode.ADDRESS_WRAP);
    }

    @Test
    void longestSegment() {
        header.setTagged(Opcode.WRITE, false, 1, 0, Fpdu.MAX_SEGMENT_BYTES - 14);
        ByteBuffer frame = ByteBuffer.allocateDirect(16);
        header.encode(frame, 0);
        assertThat(header.decode(frame, 0)).isEqualTo(Violation.NONE);
        assertThat(header.payloadBytes).isEqualTo(Fpdu.MAX_SEGMENT_BYTES - 14);
        assertThat(header.last).isFalse();
    }
}
