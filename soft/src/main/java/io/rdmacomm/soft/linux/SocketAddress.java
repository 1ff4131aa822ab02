package io.rdmacomm.soft.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// `struct sockaddr_in` (ip(7)).
final class SocketAddress {
    private static final int BYTES = 16;
    private static final ValueLayout.OfShort NETWORK_SHORT = JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt NETWORK_INT = JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);

    private SocketAddress() {}

    /// @param host the IPv4 address, its first byte the highest
    static MemorySegment allocate(int host, int port) {
        MemorySegment made = SocketCalls.allocate(BYTES);
        made.set(JAVA_SHORT, 0, (short) SocketCalls.AF_INET);
        made.set(NETWORK_SHORT, 2, (short) port);
        host(made, host);
        return made;
    }

    /// An IPv4 address as a number.
    static int bits(InetAddress address) {
        return ByteBuffer.wrap(address.getAddress()).getInt();
    }

    static int host(MemorySegment address) {
        return address.get(NETWORK_INT, 4);
    }

    /// Sets the IPv4 address.
    static void host(MemorySegment address, int host) {
        address.set(NETWORK_INT, 4, host);
    }

    static int port(MemorySegment address) {
        return Short.toUnsignedInt(address.get(NETWORK_SHORT, 2));
    }
}
