package io.rdmacomm.soft.iwarp;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/// The messages of RFC 7306, and those of our own.
class ExtensionsTest {
    private final SegmentHeader header = new SegmentHeader();
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(96);

    @Test
    void immediateData() {
        header.setUntagged(Opcode.IMMEDIATE, 3);
        header.encode(buffer, 0);
        ImmediateData.encode(buffer, 0, 0xcafebabe);
        assertThat(Frames.hex(buffer, 0, 28))
                .isEqualTo(Frames.plain("001a 4148 00000000 00000000 00000003 00000000 cafebabe 00000000"));
        assertThat(header.decode(buffer, 0)).isEqualTo(Violation.NONE);
        assertThat(ImmediateData.decode(buffer, 0)).isEqualTo(0xcafebabe);
        assertThat(header.payloadBytes).isZero();
    }

    @Test
    void fetchAndAdd() {
        AtomicRequest request = new AtomicRequest();
        request.operation = AtomicRequest.FETCH_ADD;
        request.identifier = 7;
        request.key = 0x12345678;
        request.address = 0x1008;
        request.value = -2;
        encode(request);
        assertThat(Frames.hex(buffer, 0, 72))
                .isEqualTo(Frames.plain("0046 414a 00000000 00000001 00000009 00000000"
                        + "00000000 00000007 12345678 0000000000001008 fffffffffffffffe"
                        + "0000000000000000 0000000000000000 0000000000000000"));
        assertDecodes(request);
    }

    @Test
    void compareAndSwap() {
        AtomicRequest request = new AtomicRequest();
        request.operation = AtomicRequest.COMPARE_SWAP;
        request.address = 0x1000;
        request.value = 5;
        request.compare = 6;
        encode(request);
        assertThat(Frames.hex(buffer, 20, 52))
                .isEqualTo(Frames.plain("00000002 00000000 00000000 0000000000001000 0000000000000005"
                        + "ffffffffffffffff 0000000000000006 ffffffffffffffff"));
        assertDecodes(request);
    }

    private void encode(AtomicRequest request) {
        header.setUntagged(Opcode.ATOMIC_REQUEST, 9);
        header.encode(buffer, 0);
        request.encode(buffer, 0);
    }

    private void assertDecodes(AtomicRequest request) {
        assertThat(header.decode(buffer, 0)).isEqualTo(Violation.NONE);
        AtomicRequest found = new AtomicRequest();
        assertThat(found.decode(buffer, 0)).isEqualTo(Violation.NONE);
        assertThat(found).usingRecursiveComparison().isEqualTo(request);
    }

    @Test
    void atomicsThatVerbsDoNotHave() {
        AtomicRequest request = new AtomicRequest();
        request.operation = AtomicRequest.COMPARE_SWAP;
        encode(request);
        AtomicRequest found = new AtomicRequest();

        buffer.putLong(FpduLayout.ATOMIC_COMPARE_MASK, 0xff);
        assertThat(found.decode(buffer, 0)).isEqualTo(Violation.ATOMIC_MASK);
        buffer.putLong(FpduLayout.ATOMIC_COMPARE_MASK, -1);
        buffer.putLong(FpduLayout.ATOMIC_VALUE_MASK, 1);
        assertThat(found.decode(buffer, 0)).isEqualTo(Violation.ATOMIC_MASK);
        buffer.putInt(FpduLayout.ATOMIC_OPERATION, AtomicRequest.FETCH_ADD);
        assertThat(found.decode(buffer, 0)).isEqualTo(Violation.ATOMIC_MASK);
        // The boundary of a field of 64 bits: what some devices send for a plain addition.
        buffer.putLong(FpduLayout.ATOMIC_VALUE_MASK, Long.MIN_VALUE);
        assertThat(found.decode(buffer, 0)).isEqualTo(Violation.NONE);
        buffer.putLong(FpduLayout.ATOMIC_ADDRESS, 0x1004);
        assertThat(found.decode(buffer, 0)).isEqualTo(Violation.ATOMIC_ALIGNMENT);
        buffer.putInt(FpduLayout.ATOMIC_OPERATION, 1);
        assertThat(found.decode(buffer, 0)).isEqualTo(Violation.ATOMIC_OPERATION);
    }

    @Test
    void atomicResponse() {
        header.setUntagged(Opcode.ATOMIC_RESPONSE, 1);
        header.encode(buffer, 4);
        AtomicResponse.encode(buffer, 4, 7, 0x0102030405060708L);
        assertThat(Frames.hex(buffer, 4, 32))
                .isEqualTo(Frames.plain("001e 414b 00000000 00000003 00000001 00000000 00000007 0102030405060708"));
        assertThat(header.decode(buffer, 4)).isEqualTo(Violation.NONE);
        assertThat(AtomicResponse.identifier(buffer, 4)).isEqualTo(7);
        assertThat(AtomicResponse.original(buffer, 4)).isEqualTo(0x0102030405060708L);
    }

    @Test
    void sendWithImmediateCarriesItInTheHeader() {
        header.setUntagged(Opcode.SEND_IMMEDIATE, 2);
        header.key = 0x11223344;
        header.payloadBytes = 6;
        header.encode(buffer, 0);
        assertThat(Frames.hex(buffer, 0, 20)).isEqualTo(Frames.plain("0018 414c 11223344 00000000 00000002 00000000"));
        assertThat(header.decode(buffer, 0)).isEqualTo(Violation.NONE);
        assertThat(header.key).isEqualTo(0x11223344);
    }

    @Test
    void acknowledgement() {
        Acknowledgement sent = new Acknowledgement();
        sent.count = -3;
        sent.syndrome = Acknowledgement.RECEIVER_NOT_READY;
        sent.rnrTimer = 12;
        header.setUntagged(Opcode.ACKNOWLEDGE, 1);
        header.encode(buffer, 0);
        sent.encode(buffer, 0);
        assertThat(Frames.hex(buffer, 0, 28))
                .isEqualTo(Frames.plain("001a 414e 00000000 00000004 00000001 00000000 fffffffd 01 0c 0000"));
        Acknowledgement found = new Acknowledgement();
        assertThat(header.decode(buffer, 0)).isEqualTo(Violation.NONE);
        assertThat(found.decode(buffer, 0)).isEqualTo(Violation.NONE);
        assertThat(found).usingRecursiveComparison().isEqualTo(sent);

        buffer.put(FpduLayout.RNR_TIMER, (byte) 32);
        assertThat(found.decode(buffer, 0)).isEqualTo(Violation.ACKNOWLEDGEMENT);
        buffer.put(FpduLayout.RNR_TIMER, (byte) 0).put(FpduLayout.SYNDROME, (byte) 6);
        assertThat(found.decode(buffer, 0)).isEqualTo(Violation.ACKNOWLEDGEMENT);
    }

    @Test
    void whatOpcodesMean() {
        assertThat(Opcode.isSolicited(Opcode.SEND_SOLICITED)).isTrue();
        assertThat(Opcode.isSolicited(Opcode.SEND_INVALIDATE)).isFalse();
        assertThat(Opcode.invalidates(Opcode.SEND_SOLICITED_INVALIDATE)).isTrue();
        assertThat(Opcode.invalidates(Opcode.SEND_IMMEDIATE)).isFalse();
        assertThat(Opcode.takesReceive(Opcode.IMMEDIATE)).isTrue();
        assertThat(Opcode.takesReceive(Opcode.WRITE)).isFalse();
        assertThat(Opcode.isRequest(Opcode.READ_REQUEST)).isTrue();
        assertThat(Opcode.isRequest(Opcode.READ_RESPONSE)).isFalse();
        assertThat(Opcode.isRequest(Opcode.TERMINATE)).isFalse();
        assertThat(Opcode.name(Opcode.ATOMIC_REQUEST)).isEqualTo("Atomic Request");
        assertThat(Opcode.name(15)).isEqualTo("opcode 15");
        for (int opcode = 0; opcode < 15; opcode++) {
            assertThat(Opcode.headerBytes(opcode)).isBetween(16, FpduLayout.MAX_HEADER_BYTES);
        }
    }
}
