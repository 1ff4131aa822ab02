package io.rdmacomm.verbs;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/// A global identifier: 16 bytes in network order (`union ibv_gid`). IPv4 addresses appear as `::ffff:a.b.c.d`.
///
/// @param high the first 8 bytes
/// @param low the last 8 bytes
public record Gid(long high, long low) {
    /// The identifier with all bytes zero, which means none.
    public static final Gid NONE = new Gid(0, 0);

    private static final int BYTES = 16;
    private static final long MAPPED_PREFIX = 0xffff_0000_0000L;

    /// The identifier of an IP address; an IPv4 address is mapped into IPv6.
    public static Gid of(InetAddress address) {
        byte[] bytes = address.getAddress();
        if (address instanceof Inet4Address) {
            return new Gid(0, MAPPED_PREFIX | bigEndian(bytes, 0, 4));
        }
        return of(bytes, 0);
    }

    /// The identifier with these bytes, the inverse of [#bytes()].
    ///
    /// @param bytes 16 bytes in network order
    /// @throws IllegalArgumentException if there are not 16
    public static Gid ofBytes(byte[] bytes) {
        Checks.range("bytes of a GID", bytes.length, BYTES, BYTES);
        return of(bytes, 0);
    }

    /// The identifier in 16 bytes of an array.
    static Gid of(byte[] bytes, int from) {
        return new Gid(bigEndian(bytes, from, 8), bigEndian(bytes, from + 8, 8));
    }

    /// The identifier of an IPv4 address, mapped into IPv6.
    ///
    /// @param address its 4 bytes, the first one highest
    public static Gid ofIpv4(int address) {
        return new Gid(0, MAPPED_PREFIX | Integer.toUnsignedLong(address));
    }

    /// Whether it identifies a multicast group: IPv6 `ff00::/8` or a mapped IPv4 address in 224.0.0.0/4.
    public boolean isMulticast() {
        return high >>> 56 == 0xff || (isIpv4() && (low >>> 28 & 0xf) == 0xe);
    }

    /// Whether it is an IPv4 address, mapped into IPv6.
    boolean isIpv4() {
        return high == 0 && low >>> 32 == 0xffff;
    }

    /// The IP address with these 16 bytes.
    public InetAddress address() {
        byte[] bytes = bytes();
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new AssertionError("16 bytes are always an address", e);
        }
    }

    /// The 16 bytes in network order.
    public byte[] bytes() {
        byte[] bytes = new byte[BYTES];
        for (int i = 0; i < 8; i++) {
            bytes[i] = (byte) (high >>> (56 - 8 * i));
            bytes[8 + i] = (byte) (low >>> (56 - 8 * i));
        }
        return bytes;
    }

    /// The colon-separated form that ibv_devinfo prints, or the dotted form for a mapped IPv4 address.
    @Override
    public String toString() {
        if (isIpv4()) {
            return "::ffff:" + (low >>> 24 & 0xff) + "." + (low >>> 16 & 0xff) + "." + (low >>> 8 & 0xff) + "."
                    + (low & 0xff);
        }
        String hex = HexFormat.of().formatHex(bytes());
        StringBuilder text = new StringBuilder(39);
        for (int i = 0; i < 32; i += 4) {
            text.append(i == 0 ? "" : ":").append(hex, i, i + 4);
        }
        return text.toString();
    }

    // Written out for a faster start, like the lambdas (docs/decisions/0092-lambdas-become-classes.md).
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Gid gid && high == gid.high && low == gid.low;
    }

    @Override
    public int hashCode() {
        return 31 * Long.hashCode(high) + Long.hashCode(low);
    }

    private static long bigEndian(byte[] bytes, int from, int count) {
        long value = 0;
        for (int i = from; i < from + count; i++) {
            value = (value << 8) | (bytes[i] & 0xff);
        }
        return value;
    }
}
