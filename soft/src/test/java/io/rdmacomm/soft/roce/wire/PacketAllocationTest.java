package io.rdmacomm.soft.roce.wire;

import io.rdmacomm.testing.Allocation;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/// Packets cost no garbage, good ones and bad ones.
class PacketAllocationTest {
    private static final int ROUNDS = 20_000;
    private static final int PAYLOAD = 1021;
    private static final int PORT = 4791;

    private final Packet packet = new Packet();
    private final InvariantCrc crc = new InvariantCrc();
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(PAYLOAD + Packet.MOST_OVERHEAD + 3);

    @Test
    void nothingIsAllocatedPerPacket() {
        Allocation.assertNone("packets", () -> {
            for (int i = 0; i < ROUNDS; i++) {
                onePacket();
            }
        });
    }

    private void onePacket() {
        packet.opcode = PacketOpcode.WRITE_ONLY_IMMEDIATE;
        packet.encode(buffer, 0, PAYLOAD);
        int end = packet.pad(buffer);
        int value = crc.of(buffer, 0, end, 1, PORT, 2, PORT);
        assertThat(packet.decode(buffer, 0, end + Packet.CHECKSUM_BYTES) == PacketFault.NONE);
        assertThat(IdentificationCheck.explains(value, value, end));
        assertThat(packet.decode(buffer, 0, end + 1) == PacketFault.PADDING);
        assertThat(!IdentificationCheck.explains(value ^ 1, value, end));
    }

    private static void assertThat(boolean holds) {
        if (!holds) {
            throw new AssertionError("a good packet was refused, or a bad one accepted");
        }
    }
}
