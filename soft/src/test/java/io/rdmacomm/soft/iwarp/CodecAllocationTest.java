package io.rdmacomm.soft.iwarp;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/// Frames cost no garbage, good ones and bad ones.
class CodecAllocationTest {
    private static final int ROUNDS = 50_000;

    private final com.sun.management.ThreadMXBean threads =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final SegmentHeader header = new SegmentHeader();
    private final ReadRequest request = new ReadRequest();
    private final TerminateMessage terminate = new TerminateMessage();
    private final FpduChecksum checksum = new FpduChecksum();
    private final MessageNumbers numbers = new MessageNumbers();
    private final ByteBuffer wire = ByteBuffer.allocateDirect(256);
    private final ByteBuffer answer = ByteBuffer.allocateDirect(256);
    private ReceiveSequence sequence = new ReceiveSequence();
    private int violations;

    @Test
    void nothingIsAllocatedPerFrame() {
        rounds();
        int runs = 1;
        long least = Long.MAX_VALUE;
        // The JVM itself allocates a little while it still compiles: one of a few runs must be clean.
        for (int attempt = 0; attempt < 5 && least > 0; attempt++) {
            sequence = new ReceiveSequence();
            for (int opcode : new int[] {Opcode.SEND, Opcode.READ_REQUEST}) {
                numbers.rewind(opcode, 1);
            }
            long before = threads.getCurrentThreadAllocatedBytes();
            rounds();
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            runs++;
        }
        assertThat(least / (double) ROUNDS).as("bytes for each round").isLessThan(0.1);
        assertThat(violations).isEqualTo(runs * ROUNDS);
    }

    private void rounds() {
        for (int i = 0; i < ROUNDS; i++) {
            header.setUntagged(Opcode.SEND, numbers.take(Opcode.SEND));
            header.payloadBytes = 60;
            header.encode(wire, 0);
            transfer();
            header.setTagged(Opcode.WRITE, true, 1, i, 100);
            header.encode(wire, 0);
            transfer();
            header.setUntagged(Opcode.READ_REQUEST, numbers.take(Opcode.READ_REQUEST));
            request.bytes = 100;
            header.encode(wire, 0);
            request.encode(wire, 0);
            transfer();
            request.decode(wire, 0);
            int bytes = TerminateMessage.encode(answer, 0, header, TerminateCode.INVALID_KEY, wire, 0);
            terminate.decode(answer, 0, bytes - FpduLayout.TERMINATE_BYTES);
            wire.put(FpduLayout.RDMAP_CONTROL, (byte) 0x4f);
            violations += header.decode(wire, 0) == Violation.NONE ? 0 : 1;
        }
    }

    private void transfer() {
        int segment = header.segmentBytes();
        int end = FpduLayout.DDP_CONTROL + segment;
        checksum.reset();
        checksum.update(wire, 0, end);
        Fpdu.writeTrailer(wire, end, segment, checksum);
        SegmentHeader.missing(wire, 0, end);
        checksum.reset();
        checksum.update(wire, 0, end);
        boolean good = header.decode(wire, 0) == Violation.NONE
                && sequence.accept(header) == Violation.NONE
                && Fpdu.checkTrailer(wire, end, segment, checksum) == Violation.NONE;
        assertGood(good);
    }

    private static void assertGood(boolean good) {
        if (!good) {
            throw new AssertionError("a good frame was refused");
        }
    }
}
