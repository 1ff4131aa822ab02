package io.rdmacomm.soft.iwarp;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ReceiveSequenceTest {
    private final ReceiveSequence sequence = new ReceiveSequence();
    private final SegmentHeader header = new SegmentHeader();

    private Violation tagged(int opcode, boolean last, int key, long address, int bytes) {
        header.setTagged(opcode, last, key, address, bytes);
        return sequence.accept(header);
    }

    private Violation untagged(int opcode, int number) {
        header.setUntagged(opcode, number);
        return sequence.accept(header);
    }

    private Violation send(int number, int offset, int bytes, boolean last) {
        header.setUntagged(Opcode.SEND, number);
        header.messageOffset = offset;
        header.payloadBytes = bytes;
        header.last = last;
        return sequence.accept(header);
    }

    @Test
    void countsEachQueueFromOne() {
        assertThat(untagged(Opcode.SEND, 1)).isEqualTo(Violation.NONE);
        assertThat(untagged(Opcode.READ_REQUEST, 1)).isEqualTo(Violation.NONE);
        assertThat(untagged(Opcode.IMMEDIATE, 2)).isEqualTo(Violation.NONE);
        assertThat(untagged(Opcode.ATOMIC_REQUEST, 2)).isEqualTo(Violation.NONE);
        assertThat(untagged(Opcode.ATOMIC_RESPONSE, 1)).isEqualTo(Violation.NONE);
        assertThat(untagged(Opcode.ACKNOWLEDGE, 1)).isEqualTo(Violation.NONE);
        assertThat(untagged(Opcode.SEND, 3)).isEqualTo(Violation.NONE);
    }

    @Test
    void rejectsANumberOutOfOrder() {
        assertThat(untagged(Opcode.SEND, 0)).isEqualTo(Violation.MESSAGE_NUMBER);
        assertThat(untagged(Opcode.SEND, 2)).isEqualTo(Violation.MESSAGE_NUMBER);
        assertThat(untagged(Opcode.SEND, 1)).isEqualTo(Violation.NONE);
        assertThat(untagged(Opcode.SEND, 1)).isEqualTo(Violation.MESSAGE_NUMBER);
        assertThat(untagged(Opcode.READ_REQUEST, 2)).isEqualTo(Violation.MESSAGE_NUMBER);
        assertThat(Violation.MESSAGE_NUMBER.answer()).isEqualTo(TerminateCode.MESSAGE_NUMBER);
    }

    @Test
    void segmentsFollowEachOther() {
        assertThat(send(1, 0, 100, false)).isEqualTo(Violation.NONE);
        assertThat(sequence.offset()).isZero();
        assertThat(sequence.isInsideMessage()).isTrue();
        assertThat(send(1, 100, 50, false)).isEqualTo(Violation.NONE);
        assertThat(sequence.offset()).isEqualTo(100);
        assertThat(send(1, 151, 50, true)).isEqualTo(Violation.MESSAGE_OFFSET);
        assertThat(send(1, 149, 50, true)).isEqualTo(Violation.MESSAGE_OFFSET);
        assertThat(send(2, 150, 50, true)).isEqualTo(Violation.MESSAGE_NUMBER);
        assertThat(send(1, 150, 50, true)).isEqualTo(Violation.NONE);
        assertThat(sequence.isInsideMessage()).isFalse();
        assertThat(send(2, 10, 50, true)).isEqualTo(Violation.MESSAGE_OFFSET);
        assertThat(send(2, 0, 50, true)).isEqualTo(Violation.NONE);
        assertThat(sequence.offset()).isZero();
    }

    @Test
    void noRequestInsideASend() {
        assertThat(send(1, 0, 100, false)).isEqualTo(Violation.NONE);
        assertThat(untagged(Opcode.READ_REQUEST, 1)).isEqualTo(Violation.INTERLEAVED);
        assertThat(untagged(Opcode.ATOMIC_REQUEST, 1)).isEqualTo(Violation.INTERLEAVED);
        assertThat(untagged(Opcode.IMMEDIATE, 1)).isEqualTo(Violation.INTERLEAVED);
        assertThat(untagged(Opcode.SEND_SOLICITED, 1)).isEqualTo(Violation.INTERLEAVED);
        // Responses are another matter.
        assertThat(untagged(Opcode.ATOMIC_RESPONSE, 1)).isEqualTo(Violation.NONE);
        assertThat(untagged(Opcode.ACKNOWLEDGE, 1)).isEqualTo(Violation.NONE);
        assertThat(tagged(Opcode.READ_RESPONSE, true, 1, 0, 10)).isEqualTo(Violation.NONE);
        assertThat(tagged(Opcode.WRITE, true, 1, 0, 10)).isEqualTo(Violation.NONE);
        assertThat(send(1, 100, 1, true)).isEqualTo(Violation.NONE);
    }

    @Test
    void taggedSegmentsContinueTheirMessage() {
        assertThat(tagged(Opcode.WRITE, false, 7, 0x1000, 64)).isEqualTo(Violation.NONE);
        assertThat(tagged(Opcode.WRITE, true, 8, 0x1040, 64)).isEqualTo(Violation.TAGGED_CONTINUATION);
        assertThat(tagged(Opcode.WRITE, true, 7, 0x1041, 64)).isEqualTo(Violation.TAGGED_CONTINUATION);
        assertThat(tagged(Opcode.WRITE, true, 7, 0x1000, 64)).isEqualTo(Violation.TAGGED_CONTINUATION);
        assertThat(tagged(Opcode.READ_RESPONSE, true, 9, 0x5000, 64)).isEqualTo(Violation.NONE);
        assertThat(tagged(Opcode.WRITE, true, 7, 0x1040, 64)).isEqualTo(Violation.NONE);
        assertThat(sequence.offset()).isEqualTo(64);
        assertThat(tagged(Opcode.WRITE, true, 8, 0x9000, 64)).isEqualTo(Violation.NONE);
        assertThat(sequence.offset()).isZero();
        assertThat(sequence.isInsideMessage()).isFalse();
    }

    @Test
    void messagesEndAtFourGigabytes() {
        int bytes = 65000;
        long done = 0;
        while (done + bytes <= 0xffff_ffffL) {
            assertThat(tagged(Opcode.WRITE, false, 7, done, bytes)).isEqualTo(Violation.NONE);
            done += bytes;
        }
        assertThat(tagged(Opcode.WRITE, true, 7, done, bytes)).isEqualTo(Violation.MESSAGE_TOO_LONG);
    }

    @Test
    void nothingFollowsTerminate() {
        assertThat(send(1, 0, 100, false)).isEqualTo(Violation.NONE);
        assertThat(untagged(Opcode.TERMINATE, 1)).isEqualTo(Violation.NONE);
        assertThat(send(1, 100, 100, true)).isEqualTo(Violation.AFTER_TERMINATE);
        assertThat(untagged(Opcode.TERMINATE, 2)).isEqualTo(Violation.AFTER_TERMINATE);
        assertThat(tagged(Opcode.WRITE, true, 1, 0, 0)).isEqualTo(Violation.AFTER_TERMINATE);
    }

    @Test
    void numbersWrapAroundOnBothSides() {
        MessageNumbers numbers = new MessageNumbers();
        assertThat(numbers.take(Opcode.SEND)).isEqualTo(1);
        assertThat(numbers.take(Opcode.IMMEDIATE)).isEqualTo(2);
        assertThat(numbers.take(Opcode.READ_REQUEST)).isEqualTo(1);
        assertThat(numbers.upcoming(Opcode.ATOMIC_REQUEST)).isEqualTo(2);
        numbers.rewind(Opcode.SEND, -1);
        assertThat(numbers.take(Opcode.SEND)).isEqualTo(-1);
        assertThat(numbers.take(Opcode.SEND)).isZero();
        assertThat(numbers.take(Opcode.SEND)).isEqualTo(1);
    }
}
