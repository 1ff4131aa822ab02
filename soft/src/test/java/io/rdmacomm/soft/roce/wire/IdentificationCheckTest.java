package io.rdmacomm.soft.roce.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Random;
import java.util.Set;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The CRC is computed here a second time, over a datagram with any identification.
class IdentificationCheckTest {
    private static final int SOURCE = 0x0a09_0001;
    private static final int SOURCE_PORT = 0xc7ad;
    private static final int TARGET = 0x0a09_0002;
    private static final int TARGET_PORT = 4791;
    private static final int PACKET = 36;
    private static final int LONGEST = 4140;
    private static final int MASKED_BYTE = 4;
    /// Flips of these bits look like another identification, whatever the packet: one bit out of 2^15 must.
    private static final Set<Integer> HIDDEN_BITS = Set.of(1387, 14_678);

    private final Random random = new Random(42);
    private final InvariantCrc crc = new InvariantCrc();

    @ParameterizedTest
    @ValueSource(ints = {12, 16, 97, 1052, LONGEST})
    void anyIdentificationIsAccepted(int bytes) {
        ByteBuffer packet = packet(bytes);
        int expected = expected(packet);
        assertThat(found(packet, 0, true)).isEqualTo(expected);
        for (int identification = 0; identification <= 0xffff; identification++) {
            for (boolean dontFragment : new boolean[] {false, true}) {
                int found = found(packet, identification, dontFragment);
                if (!IdentificationCheck.explains(found, expected, bytes)) {
                    throw new AssertionError("refused: " + identification + ", " + dontFragment);
                }
            }
        }
    }

    @Test
    void oneWrongCrcOutOf32768IsAccepted() {
        int accepted = 0;
        for (int i = 0; i < 1 << 20; i++) {
            accepted += IdentificationCheck.explains(random.nextInt(), random.nextInt(), 12 + random.nextInt(LONGEST))
                    ? 1
                    : 0;
        }
        assertThat(accepted).as("of 2^20, where 32 are expected").isBetween(16, 64);
    }

    @ParameterizedTest
    @ValueSource(ints = {12, 16, 97, 1052, LONGEST})
    void flippedBitsAreFound(int bytes) {
        ByteBuffer packet = packet(bytes);
        int found = found(packet, random.nextInt(0x1_0000), random.nextBoolean());
        for (int bit = 0; bit < Integer.SIZE; bit++) {
            assertThat(IdentificationCheck.explains(found ^ (1 << bit), expected(packet), bytes))
                    .as("bit %d of the CRC", bit)
                    .isFalse();
        }
        for (int bit = 0; bit < Byte.SIZE * bytes; bit++) {
            int at = bit / Byte.SIZE;
            byte before = packet.get(at);
            packet.put(at, (byte) (before ^ (1 << (bit % Byte.SIZE))));
            boolean hidden = at == MASKED_BYTE || HIDDEN_BITS.contains(bit);
            if (IdentificationCheck.explains(found, expected(packet), bytes) != hidden) {
                throw new AssertionError("bit " + bit + " of byte " + at);
            }
            packet.put(at, before);
        }
    }

    private int expected(ByteBuffer packet) {
        return crc.of(packet, 0, packet.capacity(), SOURCE, SOURCE_PORT, TARGET, TARGET_PORT);
    }

    /// What the sender writes behind the packet, as read from a big-endian buffer.
    private static int found(ByteBuffer packet, int identification, boolean dontFragment) {
        ByteBuffer all = ByteBuffer.allocate(PACKET + packet.capacity());
        int datagram = 8 + packet.capacity() + 4;
        all.putLong(-1L);
        all.put((byte) 0x45).put((byte) 0xff).putShort((short) (20 + datagram));
        all.putShort((short) identification).putShort((short) (dontFragment ? 0x4000 : 0));
        all.put((byte) 0xff)
                .put((byte) 17)
                .putShort((short) 0xffff)
                .putInt(SOURCE)
                .putInt(TARGET);
        all.putShort((short) SOURCE_PORT).putShort((short) TARGET_PORT).putShort((short) datagram);
        all.putShort((short) 0xffff);
        all.put(packet.duplicate()).put(PACKET + 4, (byte) 0xff);
        CRC32 crc = new CRC32();
        crc.update(all.array());
        return Integer.reverseBytes((int) crc.getValue());
    }

    private ByteBuffer packet(int bytes) {
        byte[] content = new byte[bytes];
        random.nextBytes(content);
        return ByteBuffer.allocateDirect(bytes).put(content).clear();
    }
}
