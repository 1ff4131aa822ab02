package io.rdmacomm.soft.roce.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.roce.wire.GoldenPackets.Golden;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/// The packets of others are understood, and ours equal them, byte for byte.
class GoldenPacketsTest {
    private static final int PORT = 4791;
    private static final int UDP = 20;
    private static final int PACKET = 28;
    private static final int DONT_FRAGMENT = 0x4000;

    @SuppressWarnings("unused") // Named by @FieldSource.
    static final List<Golden> ALL = GoldenPackets.ALL;

    private final Packet packet = new Packet();
    private final InvariantCrc crc = new InvariantCrc();

    @ParameterizedTest
    @FieldSource("ALL")
    void theInvariantCrcIsRight(Golden golden) {
        ByteBuffer datagram = golden.datagram();
        int length = datagram.capacity();
        assertThat(datagram.get(0)).as("IPv4, no options").isEqualTo((byte) 0x45);
        assertThat(datagram.getShort(2)).as("total length").isEqualTo((short) length);
        assertThat(datagram.getShort(6)).as("flags").isEqualTo((short) DONT_FRAGMENT);
        assertThat(datagram.get(9)).as("protocol").isEqualTo((byte) 17);
        assertThat(datagram.getShort(UDP + 2)).as("port").isEqualTo((short) PORT);
        assertThat(datagram.getShort(UDP + 4)).as("length of UDP").isEqualTo((short) (length - UDP));

        int bytes = length - PACKET - Packet.CHECKSUM_BYTES;
        int found = datagram.getInt(PACKET + bytes);
        int expected = expected(datagram, bytes);
        if (datagram.getShort(4) == 0) {
            assertThat(found).isEqualTo(expected);
        } else {
            assertThat(found).isNotEqualTo(expected);
        }
        assertThat(IdentificationCheck.explains(found, expected, bytes)).isTrue();
        assertThat(IdentificationCheck.explains(found ^ 1, expected, bytes)).isFalse();
    }

    private int expected(ByteBuffer datagram, int bytes) {
        int sourcePort = Short.toUnsignedInt(datagram.getShort(UDP));
        return crc.of(datagram, PACKET, bytes, datagram.getInt(12), sourcePort, datagram.getInt(16), PORT);
    }

    @ParameterizedTest
    @FieldSource("ALL")
    void theHeadersAreWrittenAgain(Golden golden) {
        ByteBuffer bytes = decode(golden);
        ByteBuffer again = ByteBuffer.allocateDirect(bytes.capacity());
        int payloadAt = packet.encode(again, 0, packet.payloadBytes);
        again.put(payloadAt, bytes, packet.payloadAt, packet.payloadBytes);
        int end = packet.pad(again);
        assertThat(end).isEqualTo(bytes.capacity() - Packet.CHECKSUM_BYTES);
        assertThat(GoldenPackets.hex(again, 0, end)).isEqualTo(GoldenPackets.hex(bytes, 0, end));
    }

    @Test
    void congestionNotification() {
        decode(GoldenPackets.CONGESTION);
        assertBase(PacketOpcode.CONGESTION, 0x118, 0);
        assertThat(packet.backward).isTrue();
        assertThat(packet.migrated).isFalse();
        assertThat(packet.wantsAnswer).isFalse();
        assertThat(packet.payloadBytes).isZero();
    }

    @Test
    void acknowledgement() {
        decode(GoldenPackets.ACKNOWLEDGE);
        assertBase(PacketOpcode.ACKNOWLEDGE, 0x1234, 0xdd8cc9);
        assertThat(packet.migrated).isFalse();
        assertThat(packet.wantsAnswer).isFalse();
        assertThat(packet.syndrome).isEqualTo(Syndrome.DONE);
        assertThat(packet.messages).isEqualTo(1);
        assertThat(packet.payloadBytes).isZero();
    }

    @Test
    void readRequest() {
        decode(GoldenPackets.READ_REQUEST);
        assertBase(PacketOpcode.READ_REQUEST, 0x2345, 0x86d4c7);
        assertThat(packet.migrated).isFalse();
        assertThat(packet.wantsAnswer).isTrue();
        assertThat(packet.address).isEqualTo(0x1000_0000);
        assertThat(packet.key).isEqualTo(0x777);
        assertThat(packet.length).isEqualTo(10_000);
        assertThat(packet.payloadBytes).isZero();
    }

    @Test
    void send() {
        decode(GoldenPackets.SEND);
        assertBase(PacketOpcode.SEND_ONLY, 0x12, 0x6e2c5a);
        assertThat(packet.migrated).isTrue();
        assertThat(packet.wantsAnswer).isTrue();
        assertThat(packet.payloadAt).isEqualTo(12);
        assertThat(packet.payloadBytes).isEqualTo(16);
    }

    @Test
    void connectionManagement() {
        decode(GoldenPackets.CONNECT_REQUEST);
        assertManagement(0);
        assertThat(packet.migrated).isTrue();
        assertThat(packet.wantsAnswer).isFalse();
        decode(GoldenPackets.CONNECT_REPLY);
        assertManagement(3);
        assertThat(packet.migrated).isFalse();
        assertThat(packet.wantsAnswer).isTrue();
        decode(GoldenPackets.DISCONNECT_REPLY);
        assertManagement(4);
    }

    private void assertManagement(int psn) {
        assertBase(PacketOpcode.DATAGRAM | PacketOpcode.SEND_ONLY, 1, psn);
        assertThat(packet.queueKey).isEqualTo(0x8001_0000);
        assertThat(packet.source).isEqualTo(1);
        assertThat(packet.payloadAt).isEqualTo(20);
        assertThat(packet.payloadBytes).isEqualTo(256);
    }

    private void assertBase(int opcode, int destination, int psn) {
        assertThat(packet.opcode).isEqualTo(opcode);
        assertThat(packet.destination).isEqualTo(destination);
        assertThat(packet.psn).isEqualTo(psn);
        assertThat(packet.solicited).isFalse();
        assertThat(packet.backward).isEqualTo(opcode == PacketOpcode.CONGESTION);
    }

    private ByteBuffer decode(Golden golden) {
        ByteBuffer bytes = golden.packet();
        assertThat(packet.decode(bytes, 0, bytes.capacity())).isEqualTo(PacketFault.NONE);
        return bytes;
    }
}
