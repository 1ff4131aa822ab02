package io.rdmacomm.tests.fuzz;

import io.rdmacomm.soft.roce.wire.IdentificationCheck;
import io.rdmacomm.soft.roce.wire.InvariantCrc;
import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.roce.wire.PacketFault;
import io.rdmacomm.soft.roce.wire.PacketOpcode;
import java.nio.ByteBuffer;

/// A packet of RoCE v2, from the base transport header to the CRC.
public final class PacketTarget {
    private static final int PORT = 4791;
    /// What decoding ignores: reserved bits, and whether the partition key is that of a full member.
    private static final int FLAGS = 4;
    private static final int RESERVED_FLAGS = 0xbf;
    private static final int PARTITION = 2;
    private static final int LIMITED_MEMBER = 0x80;
    private static final int ANSWER = 8;
    private static final int RESERVED_ANSWER = 0x7f;
    private static final int SOURCE = 16;

    private PacketTarget() {}

    /// One packet.
    public static void fuzzerTestOneInput(byte[] input) {
        // A read or write outside of the packet throws.
        ByteBuffer bytes = ByteBuffer.allocateDirect(input.length).put(input).clear();
        Packet packet = new Packet();
        if (packet.decode(bytes, 0, input.length) != PacketFault.NONE) {
            return;
        }
        int end = input.length - Packet.CHECKSUM_BYTES;
        Checks.that(packet.payloadBytes >= 0, "negative payload");
        Checks.that(packet.payloadAt >= Packet.BASE_BYTES, "payload before the end of the headers");
        Checks.that(packet.payloadAt + packet.payloadBytes <= end, "payload behind the end");
        Checks.that(PacketOpcode.hasPayload(packet.opcode) || packet.payloadBytes == 0, "payload where none belongs");
        checksum(bytes, end);
        comesBack(packet, bytes, end);
    }

    private static void comesBack(Packet packet, ByteBuffer bytes, int end) {
        ByteBuffer again = ByteBuffer.allocateDirect(end);
        int headers = packet.payloadAt;
        Checks.that(packet.encode(again, 0, packet.payloadBytes) == headers, "other headers");
        Checks.that(packet.pad(again) == end, "another length");
        ignore(bytes, PARTITION, LIMITED_MEMBER);
        again.put(PARTITION, (byte) (again.get(PARTITION) & ~LIMITED_MEMBER));
        ignore(bytes, FLAGS, RESERVED_FLAGS);
        ignore(bytes, ANSWER, RESERVED_ANSWER);
        if (PacketOpcode.transport(packet.opcode) == PacketOpcode.DATAGRAM) {
            ignore(bytes, SOURCE, 0xff);
        }
        // A congestion notification has nothing but reserved bytes there.
        int compared = packet.opcode == PacketOpcode.CONGESTION ? Packet.BASE_BYTES : headers;
        Checks.that(bytes.slice(0, compared).equals(again.slice(0, compared)), "it does not come back");
    }

    private static void ignore(ByteBuffer bytes, int at, int bits) {
        bytes.put(at, (byte) (bytes.get(at) & ~bits));
    }

    private static void checksum(ByteBuffer bytes, int end) {
        int value = new InvariantCrc().of(bytes, 0, end, 1, PORT, 2, PORT);
        Checks.that(bytes.position() == 0 && bytes.remaining() == bytes.capacity(), "the buffer was left different");
        var _ = IdentificationCheck.explains(bytes.getInt(end), value, end);
    }
}
