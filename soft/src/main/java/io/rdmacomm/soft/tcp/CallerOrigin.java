package io.rdmacomm.soft.tcp;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;

/// The origin to which a caller counts: its IPv4 address, or the first half of its IPv6 address, because one
/// host has all addresses of such a network (RFC 7421).
///
/// @param wide whether it is an IPv6 network
record CallerOrigin(boolean wide, long network) {
    static CallerOrigin of(InetAddress address) {
        ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
        boolean wide = address instanceof Inet6Address;
        return new CallerOrigin(wide, wide ? bytes.getLong() : bytes.getInt());
    }
}
