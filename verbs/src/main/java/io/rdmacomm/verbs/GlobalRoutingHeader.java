package io.rdmacomm.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// Where a datagram came from: the 40 bytes in front of its payload, if [Completions#hasGlobalRoute(int)]
/// (`struct ibv_grh`). A receive for datagrams therefore needs [#BYTES] more than the longest payload, and
/// [Completions#byteLength(int)] counts them.
///
/// ```
/// InfiniBand, RoCE version 1, and version 2 over IPv6:  | the 40 bytes of an IPv6 header |
/// RoCE version 2 over IPv4:                             | 20 bytes of anything | the 20 bytes of an IPv4 header |
/// ```
///
/// Anyone may have written it, so do not trust any field.
///
/// @param version 4 or 6, the version of IP
/// @param source the GID of the sender; an IPv4 address is mapped into IPv6
/// @param destination the GID that the datagram was sent to, for example a multicast group
/// @param trafficClass IPv6 traffic class or IPv4 type of service, 0 to 255
/// @param flowLabel IPv6 flow label, 20 bits; 0 over IPv4
/// @param nextHeader the protocol inside, [#INFINIBAND] except for RoCE version 2
/// @param hopLimit the number of routers that it could still cross, 0 to 255
public record GlobalRoutingHeader(
        int version, Gid source, Gid destination, int trafficClass, int flowLabel, int nextHeader, int hopLimit) {
    /// The length of the header, and of the room for it in front of every received datagram.
    public static final int BYTES = 40;

    /// The [#nextHeader()] of InfiniBand and RoCE version 1 (`IBV_GRH_NEXT_HDR`).
    public static final int INFINIBAND = 0x1b;

    private static final int IPV4_AT = 20;
    private static final int IPV4_SOURCE = IPV4_AT + 12;
    private static final int IPV4_DESTINATION = IPV4_AT + 16;
    /// Version 4, and a header of five words: RoCE allows no options.
    private static final int IPV4_START = 0x45;

    private static final int IPV4_BYTES = 20;
    private static final int DO_NOT_FRAGMENT = 0x4000;
    private static final int USUAL_HOPS = 64;
    private static final int UDP = 17;

    private static final int PAYLOAD_LENGTH = 4;
    private static final int NEXT_HEADER = 6;
    private static final int HOP_LIMIT = 7;
    private static final int SOURCE = 8;
    private static final int DESTINATION = 24;

    private static final ValueLayout.OfShort SHORT = JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /// Checks the ranges.
    public GlobalRoutingHeader {
        if (version != 4 && version != 6) {
            throw new IllegalArgumentException("version is " + version + ", must be 4 or 6");
        }
        Checks.range("traffic class", trafficClass, 0, 255);
        Checks.range("flow label", flowLabel, 0, 0xfffff);
        Checks.range("next header", nextHeader, 0, 255);
        Checks.range("hop limit", hopLimit, 0, 255);
    }

    /// Reads the header that begins at `offset`: the beginning of the buffer of a received datagram.
    ///
    /// @throws VerbException EINVAL if it is neither an IPv6 nor an IPv4 header
    /// @throws IndexOutOfBoundsException if the segment ends before the header
    public static GlobalRoutingHeader read(MemorySegment segment, long offset) {
        MemorySegment header = segment.asSlice(offset, BYTES);
        boolean six = unsigned(header, 0) >>> 4 == 6;
        boolean four = unsigned(header, IPV4_AT) == IPV4_START;
        // The bytes in front of an IPv4 header may look like the start of an IPv6 header: the checksum decides.
        if (four && (!six || ipv4Checksum(header) == 0)) {
            return readIpv4(header);
        }
        if (six) {
            return readIpv6(header);
        }
        throw new VerbException(
                "read global routing header",
                Errno.EINVAL,
                "the 40 bytes are neither an IPv6 nor an IPv4 header: is this the beginning of the buffer of a datagram"
                        + " whose completion has a global route?");
    }

    private static GlobalRoutingHeader readIpv6(MemorySegment header) {
        int start = header.get(INT, 0);
        return new GlobalRoutingHeader(
                6,
                new Gid(header.get(LONG, SOURCE), header.get(LONG, SOURCE + Long.BYTES)),
                new Gid(header.get(LONG, DESTINATION), header.get(LONG, DESTINATION + Long.BYTES)),
                start >>> 20 & 0xff,
                start & 0xfffff,
                unsigned(header, NEXT_HEADER),
                unsigned(header, HOP_LIMIT));
    }

    private static GlobalRoutingHeader readIpv4(MemorySegment header) {
        return new GlobalRoutingHeader(
                4,
                Gid.ofIpv4(header.get(INT, IPV4_SOURCE)),
                Gid.ofIpv4(header.get(INT, IPV4_DESTINATION)),
                unsigned(header, IPV4_AT + 1),
                0,
                unsigned(header, IPV4_AT + 9),
                unsigned(header, IPV4_AT + 8));
    }

    /// The sum over the whole header, which is 0 if its checksum is correct (RFC 1071).
    private static int ipv4Checksum(MemorySegment header) {
        int sum = 0;
        for (int at = IPV4_AT; at < BYTES; at += Short.BYTES) {
            sum += Short.toUnsignedInt(header.get(SHORT, at));
        }
        sum = (sum & 0xffff) + (sum >>> 16);
        return ~(sum + (sum >>> 16)) & 0xffff;
    }

    private static int unsigned(MemorySegment header, long at) {
        return Byte.toUnsignedInt(header.get(JAVA_BYTE, at));
    }

    /// Writes a header of RoCE version 2 over IPv4, for providers: the addresses are the ones given, the rest is what a
    /// host sends that sets nothing. Allocates nothing.
    ///
    /// @param into the 40 bytes
    /// @param source the address of the sender, its first byte the highest
    /// @param destination the address of the receiver
    /// @param payloadBytes the length of what follows the IP header
    public static void writeIpv4(MemorySegment into, int source, int destination, int payloadBytes) {
        for (int at = 0; at < IPV4_AT; at += Integer.BYTES) {
            into.set(INT, at, 0);
        }
        into.set(INT, IPV4_AT, IPV4_START << 24 | (IPV4_BYTES + payloadBytes));
        into.set(INT, IPV4_AT + 4, DO_NOT_FRAGMENT);
        into.set(INT, IPV4_AT + 8, USUAL_HOPS << 24 | UDP << 16);
        into.set(INT, IPV4_SOURCE, source);
        into.set(INT, IPV4_DESTINATION, destination);
        into.set(SHORT, IPV4_AT + 10, (short) ipv4Checksum(into));
    }

    /// Writes a header of InfiniBand, for providers. Allocates nothing.
    ///
    /// @param into the 40 bytes
    /// @param payloadBytes the length of the payload
    public static void write(
            MemorySegment into,
            Gid source,
            Gid destination,
            int trafficClass,
            int flowLabel,
            int hopLimit,
            int payloadBytes) {
        into.set(INT, 0, 6 << 28 | trafficClass << 20 | flowLabel);
        into.set(SHORT, PAYLOAD_LENGTH, (short) payloadBytes);
        into.set(JAVA_BYTE, NEXT_HEADER, (byte) INFINIBAND);
        into.set(JAVA_BYTE, HOP_LIMIT, (byte) hopLimit);
        into.set(LONG, SOURCE, source.high());
        into.set(LONG, SOURCE + Long.BYTES, source.low());
        into.set(LONG, DESTINATION, destination.high());
        into.set(LONG, DESTINATION + Long.BYTES, destination.low());
    }
}
