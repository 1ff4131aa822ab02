package io.rdmacomm.ibverbs.structs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.rdmacomm.ibverbs.ffm.SocketAddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;
import java.util.function.LongToIntFunction;

/// Socket addresses in the layout of C.
public final class SocketAddresses {
    private static final ValueLayout.OfShort NETWORK_SHORT = JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);

    private SocketAddresses() {}

    /// Calls C with the address of a socket address.
    public static int with(InetSocketAddress address, LongToIntFunction function) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct = arena.allocate(SocketAddressLayout.BYTES, 8);
            write(address, struct);
            return function.applyAsInt(struct.address());
        }
    }

    private static void write(InetSocketAddress address, MemorySegment into) {
        byte[] bytes = address.getAddress().getAddress();
        into.set(NETWORK_SHORT, SocketAddressLayout.PORT, (short) address.getPort());
        if (address.getAddress() instanceof Inet6Address ipv6) {
            into.set(JAVA_SHORT, SocketAddressLayout.FAMILY, (short) SocketAddressLayout.FAMILY_IPV6);
            into.set(JAVA_INT, SocketAddressLayout.IPV6_SCOPE, ipv6.getScopeId());
            MemorySegment.copy(bytes, 0, into, JAVA_BYTE, SocketAddressLayout.IPV6_ADDRESS, bytes.length);
        } else {
            into.set(JAVA_SHORT, SocketAddressLayout.FAMILY, (short) SocketAddressLayout.FAMILY_IPV4);
            MemorySegment.copy(bytes, 0, into, JAVA_BYTE, SocketAddressLayout.IPV4_ADDRESS, bytes.length);
        }
    }

    /// Reads a socket address; an address of another family becomes the wildcard address with the same port.
    public static InetSocketAddress read(MemorySegment from) {
        int port = Short.toUnsignedInt(from.get(NETWORK_SHORT, SocketAddressLayout.PORT));
        try {
            return switch (from.get(JAVA_SHORT, SocketAddressLayout.FAMILY)) {
                case SocketAddressLayout.FAMILY_IPV4 ->
                    new InetSocketAddress(
                            InetAddress.getByAddress(bytes(from, SocketAddressLayout.IPV4_ADDRESS, 4)), port);
                case SocketAddressLayout.FAMILY_IPV6 -> {
                    byte[] bytes = bytes(from, SocketAddressLayout.IPV6_ADDRESS, 16);
                    int scope = from.get(JAVA_INT, SocketAddressLayout.IPV6_SCOPE);
                    yield new InetSocketAddress(Inet6Address.getByAddress(null, bytes, scope), port);
                }
                default -> new InetSocketAddress(port);
            };
        } catch (UnknownHostException e) {
            throw new AssertionError("4 or 16 bytes are always an address", e);
        }
    }

    private static byte[] bytes(MemorySegment from, long at, int count) {
        return from.asSlice(at, count).toArray(JAVA_BYTE);
    }
}
