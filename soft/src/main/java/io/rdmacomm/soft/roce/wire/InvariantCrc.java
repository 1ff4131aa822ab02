package io.rdmacomm.soft.roce.wire;

import java.nio.ByteBuffer;
import java.util.zip.CRC32;

/// The invariant CRC of a packet over IPv4 (IBTA 7.8.1 and A17.4.4): a CRC-32 over 8 bytes of ones in place of the
/// local route header, the IP and UDP headers, and the packet without the CRC itself. Fields that routers change
/// count as ones. Not thread-safe; allocates nothing. Packet buffers are direct and big-endian.
///
/// The CRC covers the identification of the IP header, which programs cannot see. Linux sends 0 from a socket that
/// is not connected and does not fragment, like ours. Other senders count up: see [IdentificationCheck].
public final class InvariantCrc {
    private static final int PSEUDO_BYTES = 48;
    private static final int IP_HEADER = 8;
    private static final int UDP_HEADER = 28;
    private static final int BASE_HEADER = 36;
    private static final int IP_BYTES = 20;
    private static final int UDP_BYTES = 8;
    private static final int UDP_PROTOCOL = 17;
    private static final int DONT_FRAGMENT = 0x4000;

    private final CRC32 crc = new CRC32();
    private final ByteBuffer pseudo = ByteBuffer.allocateDirect(PSEUDO_BYTES);

    /// For one direction.
    public InvariantCrc() {
        pseudo.putLong(0, -1L);
        pseudo.putShort(IP_HEADER, (short) 0x45ff);
        pseudo.putShort(IP_HEADER + 6, (short) DONT_FRAGMENT);
        pseudo.putShort(IP_HEADER + 8, (short) (0xff00 | UDP_PROTOCOL));
        pseudo.putShort(IP_HEADER + 10, (short) -1);
        pseudo.putShort(UDP_HEADER + 6, (short) -1);
    }

    /// The value to write into a big-endian buffer: unlike all other fields, the CRC is little-endian.
    ///
    /// @param bytes of the packet without the CRC
    /// @param source IPv4 address
    /// @param target IPv4 address
    public int of(ByteBuffer packet, int at, int bytes, int source, int sourcePort, int target, int targetPort) {
        return of(packet, at, bytes, /* identification= */ 0, source, sourcePort, target, targetPort);
    }

    /// The same for a packet whose IP header has this identification.
    public int of(
            ByteBuffer packet,
            int at,
            int bytes,
            int identification,
            int source,
            int sourcePort,
            int target,
            int targetPort) {
        int datagram = UDP_BYTES + bytes + Packet.CHECKSUM_BYTES;
        pseudo.putShort(IP_HEADER + 2, (short) (IP_BYTES + datagram));
        pseudo.putShort(IP_HEADER + 4, (short) identification);
        pseudo.putInt(IP_HEADER + 12, source);
        pseudo.putInt(IP_HEADER + 16, target);
        pseudo.putShort(UDP_HEADER, (short) sourcePort);
        pseudo.putShort(UDP_HEADER + 2, (short) targetPort);
        pseudo.putShort(UDP_HEADER + 4, (short) datagram);
        pseudo.putInt(BASE_HEADER, packet.getInt(at));
        pseudo.putInt(BASE_HEADER + 4, packet.getInt(at + 4) | 0xff00_0000);
        pseudo.putInt(BASE_HEADER + 8, packet.getInt(at + 8));
        crc.reset();
        pseudo.clear();
        crc.update(pseudo);
        int position = packet.position();
        int limit = packet.limit();
        packet.limit(at + bytes).position(at + Packet.BASE_BYTES);
        crc.update(packet);
        packet.limit(limit).position(position);
        return Integer.reverseBytes((int) crc.getValue());
    }
}
