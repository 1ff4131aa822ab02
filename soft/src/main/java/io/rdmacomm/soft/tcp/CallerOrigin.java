package io.rdmacomm.soft.tcp;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;

/// Groups callers by host: the IPv4 address, or the /64 prefix of an IPv6 address, as one host has all addresses of
/// its prefix (RFC 7421).
///
/// @param wide whether it is an IPv6 network
record CallerOrigin(boolean wide, long network) {
    static CallerOrigin of(InetAddress address) {
        ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
        boolean wide = address instanceof Inet6Address;
        return new CallerOrigin(wide, wide ? bytes.getLong() : bytes.getInt());
    }
}
