package io.rdmacomm.ibverbs.ffm;

/// Byte offsets in network addresses, `struct sockaddr_in` (ip(7)) and `struct sockaddr_in6` (ipv6(7)).
public final class SocketAddressLayout {
    /// Room for either: size of a `struct sockaddr_storage`.
    public static final int BYTES = 128;
    /// Address family, 2 bytes.
    public static final int FAMILY = 0;
    /// Port in network order, 2 bytes.
    public static final int PORT = 2;
    /// IPv4: the address, 4 bytes.
    public static final int IPV4_ADDRESS = 4;
    /// IPv6: the address, 16 bytes.
    public static final int IPV6_ADDRESS = 8;
    /// IPv6: the interface of a link-local address.
    public static final int IPV6_SCOPE = 24;
    /// The family of IPv4.
    public static final int FAMILY_IPV4 = 2;
    /// The family of IPv6.
    public static final int FAMILY_IPV6 = 10;

    private SocketAddressLayout() {}
}
