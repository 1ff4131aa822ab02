package io.rdmacomm.soft.roce.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Map;
import java.util.Random;
import java.util.Scanner;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/// `-Drdma.fuzz.seed=N` runs with the same values again.
class PacketTest {
    private static final long SEED = Long.getLong("rdma.fuzz.seed", System.nanoTime());
    private static final int AT = 5;
    private static final int MOST_PAYLOAD = 64;
    /// All opcodes, and the length of the headers behind the base header.
    private static final Map<Integer, Integer> EXTENDED = extended("""
            00 0  01 0  02 0  03 4  04 0  05 4
            06 16 07 0  08 0  09 4  0a 16 0b 20
            0c 16 0d 4  0e 0  0f 4  10 4
            11 4  12 12 13 28 14 28 16 4  17 4
            20 0  21 0  22 0  23 4  24 0  25 4
            26 16 27 0  28 0  29 4  2a 16 2b 20
            64 8  65 12 81 16
            """);
    private static final Set<Integer> WITHOUT_PAYLOAD = Set.of(0x0c, 0x11, 0x12, 0x13, 0x14, 0x81);

    private final Random random = new Random(SEED);
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(AT + MOST_PAYLOAD + Packet.MOST_OVERHEAD + 16);
    private final Packet packet = new Packet();

    private static Map<Integer, Integer> extended(String table) {
        Map<Integer, Integer> lengths = new TreeMap<>();
        try (Scanner numbers = new Scanner(table)) {
            while (numbers.hasNext()) {
                lengths.put(numbers.nextInt(16), numbers.nextInt());
            }
        }
        return lengths;
    }

    @Test
    void opcodesAreKnownOrNot() {
        for (int opcode = 0; opcode < 256; opcode++) {
            int length = encode(0x04, 64);
            buffer.put(AT, (byte) opcode);
            boolean known = EXTENDED.containsKey(opcode);
            assertThat(PacketOpcode.isKnown(opcode)).as("%02x", opcode).isEqualTo(known);
            assertThat(packet.decode(buffer, AT, length) == PacketFault.OPCODE)
                    .as("%02x", opcode)
                    .isEqualTo(!known);
        }
    }

    @Test
    void opcodesSayWhatTheyAre() {
        for (int opcode : EXTENDED.keySet()) {
            int operation = opcode & 0x1f;
            boolean send = opcode != 0x81 && (operation <= 0x05 || operation >= 0x16);
            boolean write = operation >= 0x06 && operation <= 0x0b;
            boolean readResponse = operation >= 0x0d && operation <= 0x10;
            boolean acknowledgement = operation == 0x11 || operation == 0x12;
            assertThat(PacketOpcode.isSend(opcode)).as("%02x", opcode).isEqualTo(send);
            assertThat(PacketOpcode.isWrite(opcode)).as("%02x", opcode).isEqualTo(write);
            assertThat(PacketOpcode.isReadResponse(opcode)).as("%02x", opcode).isEqualTo(readResponse);
            assertThat(PacketOpcode.isResponse(opcode)).as("%02x", opcode).isEqualTo(readResponse || acknowledgement);
            assertThat(PacketOpcode.hasPayload(opcode)).as("%02x", opcode).isEqualTo(send || write || readResponse);
        }
    }

    @Test
    void messagesBeginAndEnd() {
        Set<Integer> notFirst = Set.of(0x01, 0x02, 0x03, 0x07, 0x08, 0x09, 0x0e, 0x0f, 0x16);
        Set<Integer> notLast = Set.of(0x00, 0x01, 0x06, 0x07, 0x0d, 0x0e);
        for (int opcode : EXTENDED.keySet()) {
            if (opcode != PacketOpcode.CONGESTION) {
                int operation = PacketOpcode.operation(opcode);
                assertThat(PacketOpcode.isFirst(opcode)).as("%02x", opcode).isEqualTo(!notFirst.contains(operation));
                assertThat(PacketOpcode.isLast(opcode)).as("%02x", opcode).isEqualTo(!notLast.contains(operation));
            }
        }
    }

    @Test
    void headersAreInTheirOrder() {
        packet.destination = 0x112233;
        packet.psn = 0x445566;
        packet.address = 0x0102030405060708L;
        packet.key = 0x090a0b0c;
        packet.length = 0x0d0e0f10;
        packet.operand = 0x2122232425262728L;
        packet.compare = 0x3132333435363738L;
        packet.original = 0x4142434445464748L;
        packet.immediate = 0x51525354;
        packet.queueKey = 0x61626364;
        packet.source = 0x717273;
        packet.syndrome = 0x62;
        packet.messages = 0x818283;
        assertWritten(0x0b, "0102030405060708 090a0b0c 0d0e0f10 51525354");
        assertWritten(0x12, "62818283 4142434445464748");
        assertWritten(0x13, "0102030405060708 090a0b0c 2122232425262728 3132333435363738");
        assertWritten(0x17, "51525354");
        assertWritten(0x65, "61626364 00717273 51525354");
        assertWritten(0x81, "0000000000000000 0000000000000000");
        packet.solicited = true;
        packet.migrated = false;
        packet.backward = true;
        packet.wantsAnswer = true;
        packet.encode(buffer, AT, 3);
        assertThat(GoldenPackets.hex(buffer, AT, 12)).isEqualTo("8190ffff4011223380445566");
    }

    private void assertWritten(int opcode, String headers) {
        packet.opcode = opcode;
        int end = packet.encode(buffer, AT, 0);
        assertThat(GoldenPackets.hex(buffer, AT, end - AT))
                .isEqualTo(HexFormat.of().toHexDigits((byte) opcode)
                        + "40ffff0011223300445566"
                        + headers.replace(" ", ""));
    }

    @Test
    void packetsComeBack() {
        EXTENDED.forEach((opcode, headers) -> {
            int most = WITHOUT_PAYLOAD.contains(opcode) ? 0 : MOST_PAYLOAD;
            for (int bytes = 0; bytes <= most; bytes++) {
                String what = "seed %d, opcode %02x, payload of %d".formatted(SEED, opcode, bytes);
                int length = encode(opcode, bytes);
                assertThat(length).as(what).isEqualTo(12 + headers + (bytes + 3) / 4 * 4 + 4);

                Packet found = new Packet();
                assertThat(found.decode(buffer, AT, length)).as(what).isEqualTo(PacketFault.NONE);
                assertThat(found.payloadAt).as(what).isEqualTo(AT + 12 + headers);
                assertThat(found.payloadBytes).as(what).isEqualTo(bytes);

                ByteBuffer again = ByteBuffer.allocateDirect(AT + length);
                found.encode(again, AT, bytes);
                again.put(found.payloadAt, buffer, found.payloadAt, bytes);
                int end = found.pad(again);
                assertThat(end).as(what).isEqualTo(AT + length - 4);
                assertThat(GoldenPackets.hex(again, AT, end - AT))
                        .as(what)
                        .isEqualTo(GoldenPackets.hex(buffer, AT, end - AT));
            }
        });
    }

    @Test
    void packetsAreLongerThanTheirPayloadByNoMoreThanIsSaid() {
        int most = 0;
        for (int opcode : EXTENDED.keySet()) {
            most = Math.max(most, encode(opcode, WITHOUT_PAYLOAD.contains(opcode) ? 0 : 64) - 64);
        }
        assertThat(Packet.MOST_OVERHEAD).isEqualTo(most);
    }

    @Test
    void cutPacketsAreRefusedOrHaveLessPayload() {
        for (int opcode : EXTENDED.keySet()) {
            int whole = encode(opcode, WITHOUT_PAYLOAD.contains(opcode) ? 0 : MOST_PAYLOAD);
            for (int length = 0; length < whole; length++) {
                // A read behind the end throws.
                PacketFault fault = packet.decode(buffer.slice(0, AT + length), AT, length);
                if (fault == PacketFault.NONE) {
                    assertThat(packet.payloadAt).as("%02x", opcode).isEqualTo(AT + 12 + EXTENDED.get(opcode));
                    assertThat(packet.payloadBytes).as("%02x", opcode).isBetween(0, AT + length - 4 - packet.payloadAt);
                } else {
                    assertThat(fault)
                            .as("%02x with %d bytes", opcode, length)
                            .isIn(PacketFault.TOO_SHORT, PacketFault.PADDING);
                }
            }
        }
    }

    @Test
    void headersOfAnotherVersionAreRefused() {
        for (int version = 0; version < 16; version++) {
            int length = encode(0x04, 8);
            buffer.put(AT + 1, (byte) (buffer.get(AT + 1) | version));
            assertThat(packet.decode(buffer, AT, length))
                    .isEqualTo(version == 0 ? PacketFault.NONE : PacketFault.VERSION);
        }
    }

    @Test
    void reservedBitsAreIgnored() {
        int length = encode(0x64, 8);
        Packet expected = new Packet();
        assertThat(expected.decode(buffer, AT, length)).isEqualTo(PacketFault.NONE);
        buffer.put(AT + 4, (byte) (buffer.get(AT + 4) | 0xbf));
        buffer.put(AT + 8, (byte) (buffer.get(AT + 8) | 0x7f));
        buffer.put(AT + 16, (byte) 0xff);
        Packet found = new Packet();
        assertThat(found.decode(buffer, AT, length)).isEqualTo(PacketFault.NONE);
        assertThat(found).usingRecursiveComparison().isEqualTo(expected);
    }

    @Test
    void onlyTheDefaultPartitionIsAccepted() {
        int length = encode(0x04, 8);
        for (int key = 0; key <= 0xffff; key++) {
            buffer.putShort(AT + 2, (short) key);
            boolean isDefault = key == 0xffff || key == 0x7fff;
            assertThat(packet.decode(buffer, AT, length) == PacketFault.NONE)
                    .as("%04x", key)
                    .isEqualTo(isDefault);
        }
        buffer.putShort(AT + 2, (short) 0xfffe);
        assertThat(packet.decode(buffer, AT, length)).isEqualTo(PacketFault.PARTITION_KEY);
    }

    @Test
    void payloadWhereNoneBelongsIsRefused() {
        for (int opcode : WITHOUT_PAYLOAD) {
            for (int bytes = 1; bytes <= 8; bytes++) {
                assertThat(packet.decode(buffer, AT, encode(opcode, bytes)))
                        .as("%02x with %d bytes", opcode, bytes)
                        .isEqualTo(PacketFault.PAYLOAD);
            }
        }
    }

    @Test
    void aPadIsPartOfWhatFollowsTheHeaders() {
        for (int opcode : EXTENDED.keySet()) {
            for (int pad = 1; pad <= 3; pad++) {
                int length = encode(opcode, 0);
                buffer.put(AT + 1, (byte) (pad << 4));
                assertThat(packet.decode(buffer, AT, length))
                        .as("%02x with a pad of %d", opcode, pad)
                        .isEqualTo(PacketFault.TOO_SHORT);
            }
        }
    }

    @Test
    void packetsThatAreNotPaddedAreRefused() {
        int length = encode(0x04, 8);
        for (int less = 0; less <= 8; less++) {
            assertThat(packet.decode(buffer, AT, length - less))
                    .isEqualTo(less % 4 == 0 ? PacketFault.NONE : PacketFault.PADDING);
        }
    }

    /// Writes a packet whose fields are random.
    ///
    /// @return its length with the CRC
    private int encode(int opcode, int bytes) {
        packet.opcode = opcode;
        packet.solicited = random.nextBoolean();
        packet.migrated = random.nextBoolean();
        packet.backward = random.nextBoolean();
        packet.destination = random.nextInt(Psn.MASK + 1);
        packet.wantsAnswer = random.nextBoolean();
        packet.psn = random.nextInt(Psn.MASK + 1);
        packet.address = random.nextLong();
        packet.key = random.nextInt();
        packet.length = random.nextInt();
        packet.syndrome = random.nextInt(256);
        packet.messages = random.nextInt(Psn.MASK + 1);
        packet.operand = random.nextLong();
        packet.compare = random.nextLong();
        packet.original = random.nextLong();
        packet.immediate = random.nextInt();
        packet.queueKey = random.nextInt();
        packet.source = random.nextInt(Psn.MASK + 1);
        for (int at = 0; at < buffer.capacity(); at++) {
            buffer.put(at, (byte) random.nextInt(256));
        }
        packet.encode(buffer, AT, bytes);
        return packet.pad(buffer) + Packet.CHECKSUM_BYTES - AT;
    }
}
