package io.rdmacomm.soft.iwarp;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class FpduTest {
    private final FpduChecksum checksum = new FpduChecksum();

    @Test
    void framesAreMultiplesOfFour() {
        for (int segment = 14; segment < 100; segment++) {
            assertThat(Fpdu.bytes(segment) % 4).isZero();
            assertThat(Fpdu.padding(segment)).isBetween(0, 3);
            assertThat(Fpdu.bytes(segment)).isEqualTo(2 + segment + Fpdu.trailerBytes(segment));
        }
        assertThat(Fpdu.padding(23)).isEqualTo(3);
        assertThat(Fpdu.padding(18)).isZero();
        assertThat(Fpdu.trailerBytes(23)).isEqualTo(Fpdu.MAX_TRAILER_BYTES);
    }

    @Test
    void frameFitsIntoATcpSegment() {
        // 1500 bytes of Ethernet with time stamps, 9000, and a size that is not a multiple of 4.
        assertThat(Fpdu.segmentLimit(1448)).isEqualTo(1442);
        assertThat(Fpdu.segmentLimit(8948)).isEqualTo(8942);
        assertThat(Fpdu.segmentLimit(1443)).isEqualTo(1434);
        for (int size = 200; size < 3000; size++) {
            assertThat(Fpdu.bytes(Fpdu.segmentLimit(size))).isLessThanOrEqualTo(size);
        }
        assertThat(Fpdu.segmentLimit(40)).isEqualTo(Fpdu.MIN_SEGMENT_LIMIT);
        assertThat(Fpdu.segmentLimit(1 << 20)).isEqualTo(Fpdu.MAX_SEGMENT_BYTES);
    }

    @Test
    void checksumVectors() {
        assertChecksum("00".repeat(32), "aa36918a");
        assertChecksum("ff".repeat(32), "43aba862");
        assertChecksum("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "4e79dd46");
        assertChecksum("313233343536373839", "839206e3");
    }

    private void assertChecksum(String input, String onTheWire) {
        ByteBuffer buffer = Frames.direct(input);
        checksum.reset();
        checksum.update(buffer, 0, buffer.capacity());
        assertThat(buffer.position()).isZero();
        assertThat(buffer.limit()).isEqualTo(buffer.capacity());
        ByteBuffer out = ByteBuffer.allocate(4).putInt(0, checksum.value());
        assertThat(Frames.hex(out, 0, 4)).isEqualTo(onTheWire);

        checksum.reset();
        checksum.update(buffer);
        assertThat(buffer.hasRemaining()).isFalse();
        assertThat(checksum.value()).isEqualTo(out.getInt(0));
    }
}
