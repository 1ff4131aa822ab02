package io.rdmacomm.soft.memory;

import java.nio.ByteOrder;

/// Converts immediate data, which is in network order in requests and completions (ibv_post_send(3)); all else is
/// in host order.
public final class NetworkOrder {
    private static final boolean LITTLE_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    private NetworkOrder() {}

    /// Converts a number in host order, whose first byte on the wire is the highest, to network order, or back.
    public static int convert(int value) {
        return LITTLE_ENDIAN ? Integer.reverseBytes(value) : value;
    }
}
