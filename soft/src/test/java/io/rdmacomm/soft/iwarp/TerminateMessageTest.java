package io.rdmacomm.soft.iwarp;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.WorkStatus;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class TerminateMessageTest {
    private static final String PREFIX = "4147 00000000 00000002 00000001 00000000";

    private final TerminateMessage message = new TerminateMessage();
    private final SegmentHeader header = new SegmentHeader();
    private final ByteBuffer out = ByteBuffer.allocateDirect(96);

    private TerminateMessage decode(String control, String context) {
        int length = 22 + context.replace(" ", "").length() / 2;
        ByteBuffer frame = Frames.direct(String.format("%04x", length) + PREFIX + control + context);
        assertThat(SegmentHeader.missing(frame, 0, frame.capacity())).isZero();
        assertThat(header.decode(frame, 0)).isEqualTo(Violation.NONE);
        message.decode(frame, 0, header.payloadBytes);
        return message;
    }

    /// The table of both layouts: the RFC's, and that of siw on little-endian machines.
    @ParameterizedTest
    @CsvSource({
        "12 02 c0 00, NO_RECEIVE",
        "21 02 03 00, NO_RECEIVE",
        "11 00 c0 00, TAGGED_INVALID_KEY",
        "11 00 03 00, TAGGED_INVALID_KEY",
        "01 02 e0 00, MISSING_RIGHT",
        "10 02 07 00, MISSING_RIGHT",
        "02 06 00 00, UNEXPECTED_OPCODE",
        "20 06 00 00, UNEXPECTED_OPCODE",
        "20 02 00 00, CHECKSUM",
        "02 02 00 00, CHECKSUM",
    })
    void decodesBothLayouts(String control, TerminateCode expected) {
        assertThat(decode(control, "").code).isEqualTo(expected);
    }

    @Test
    void reportsBothReadingsWhereTheTwoLayoutsCannotBeToldApart() {
        decode("20 06 00 00", "");
        assertThat(message.alternative).isEqualTo(TerminateCode.INSUFFICIENT_IRD);
        assertThat(message)
                .hasToString("the peer reports: RDMAP remote operation, unexpected opcode, or MPA, not enough inbound"
                        + " READs");
        decode("01 00 00 00", "");
        assertThat(message.code).isEqualTo(TerminateCode.INVALID_KEY);
        assertThat(message.alternative).isEqualTo(TerminateCode.DDP_CATASTROPHIC);
        decode("20 02 00 00", "");
        assertThat(message.alternative).isEqualTo(TerminateCode.UNKNOWN);
    }

    @Test
    void unknownNumbersAreShown() {
        assertThat(decode("75 31 80 00", "0000").code).isEqualTo(TerminateCode.UNKNOWN);
        assertThat(message).hasToString("the peer reports: unknown reason 0x75318000");
    }

    @Test
    void saysWhichSegmentItIsAbout() {
        decode("21 02 03 00", "0005 4143 00000000 00000000 00000007 00000000");
        assertThat(message.causeOpcode).isEqualTo(Opcode.SEND);
        assertThat(message.causeNumber).isEqualTo(7);
        assertThat(message).hasToString("the peer reports: DDP untagged, no receive posted (about Send)");

        decode("11 00 c0 00", "0012 c140 12345678 00007f0000001000");
        assertThat(message.causeOpcode).isEqualTo(Opcode.WRITE);
        assertThat(message.causeKey).isEqualTo(0x12345678);
        assertThat(message.causeAddress).isEqualTo(0x7f0000001000L);
    }

    @Test
    void truncatedContextIsIgnored() {
        String context = "0012 c140 12345678 00007f0000001000";
        for (int bytes = 0; bytes < 16; bytes++) {
            decode("11 00 c0 00", Frames.plain(context).substring(0, 2 * bytes));
            assertThat(message.code).isEqualTo(TerminateCode.TAGGED_INVALID_KEY);
            assertThat(message.causeOpcode).isEqualTo(-1);
        }
        decode("12 02 c0 00", "0005 4143 00000000 00000000 00000007");
        assertThat(message.causeOpcode).isEqualTo(-1);
        // More than any context can be: the rest is not looked at.
        assertThat(decode("12 02 c0 00", "0005 4143 00000000 00000000 00000007 00000000" + "ee".repeat(200))
                        .causeNumber)
                .isEqualTo(7);
    }

    @Test
    void writesTheFaultyHeader() {
        ByteBuffer cause = Frames.READ_REQUEST.at(3);
        assertThat(header.decode(cause, 3)).isEqualTo(Violation.NONE);
        int bytes = TerminateMessage.encode(out, 0, header, TerminateCode.OUT_OF_BOUNDS, cause, 3);
        assertThat(bytes).isEqualTo(72);
        assertThat(Frames.hex(out, 0, 26)).isEqualTo(Frames.plain("0046" + PREFIX + "01 01 e0 00 002e"));
        assertThat(Frames.hex(out, 26, 46))
                .isEqualTo(Frames.plain(Frames.READ_REQUEST.hex()).substring(4, 96));
        assertDecoded(TerminateCode.OUT_OF_BOUNDS, Opcode.READ_REQUEST);
        assertThat(message.causeNumber).isEqualTo(1);

        cause = Frames.WRITE.at(0);
        assertThat(header.decode(cause, 0)).isEqualTo(Violation.NONE);
        assertThat(TerminateMessage.encode(out, 0, header, TerminateCode.TAGGED_INVALID_KEY, cause, 0))
                .isEqualTo(40);
        assertDecoded(TerminateCode.TAGGED_INVALID_KEY, Opcode.WRITE);
        assertThat(message.causeKey).isEqualTo(0x12345678);
    }

    private void assertDecoded(TerminateCode code, int opcode) {
        assertThat(header.decode(out, 0)).isEqualTo(Violation.NONE);
        message.decode(out, 0, header.payloadBytes);
        assertThat(message.code).isEqualTo(code);
        assertThat(message.causeOpcode).isEqualTo(opcode);
    }

    @ParameterizedTest
    @EnumSource(value = TerminateCode.class, mode = EnumSource.Mode.EXCLUDE, names = "UNKNOWN")
    void everyCodeIsFoundByItsNumbers(TerminateCode code) {
        assertThat(TerminateCode.of(code.layer(), code.type(), code.code())).isSameAs(code);
        assertThat(code.workStatus()).isNotIn(WorkStatus.SUCCESS, WorkStatus.UNKNOWN);
    }

    @Test
    void statusesOfRejectedRequests() {
        assertThat(TerminateCode.NO_RECEIVE.workStatus()).isEqualTo(WorkStatus.RECEIVER_NOT_READY_EXCEEDED);
        assertThat(TerminateCode.MESSAGE_TOO_LONG.workStatus()).isEqualTo(WorkStatus.REMOTE_INVALID_REQUEST);
        assertThat(TerminateCode.CHECKSUM.isProtection()).isFalse();
    }

    @ParameterizedTest
    @EnumSource(value = Violation.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void everyViolationHasAnAnswerAndAText(Violation violation) {
        assertThat(violation.answer()).isNotEqualTo(TerminateCode.UNKNOWN);
        assertThat(violation.toString()).isNotBlank();
    }
}
