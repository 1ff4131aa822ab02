package io.rdmacomm.soft.roce.mad;

import io.rdmacomm.verbs.Gid;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// The addresses of the two programs, at the beginning of the private data of a request (IBTA A11).
///
/// @param port of the requesting program
/// @param source the address of the requesting program
/// @param destination the requested address
public record ProgramAddress(int port, Gid source, Gid destination) {
    static final int BYTES = 36;

    private static final int IPV4 = 4;
    private static final int VERSION_SHIFT = 4;
    private static final int PORT_AT = 2;
    private static final int SOURCE_AT = 4;
    private static final int DESTINATION_AT = 20;
    /// An IPv4 address is the last four of 16 bytes, and the others are 0.
    private static final int IPV4_AT = 12;

    void encode(ByteBuffer to, int at) {
        to.put(at + 1, (byte) (IPV4 << VERSION_SHIFT));
        to.putShort(at + PORT_AT, (short) port);
        to.putInt(at + SOURCE_AT + IPV4_AT, (int) source.low());
        to.putInt(at + DESTINATION_AT + IPV4_AT, (int) destination.low());
    }

    /// Reads them from a request.
    ///
    /// @return null if they are not IPv4 addresses
    static @Nullable ProgramAddress decode(ByteBuffer from, int at) {
        if (from.get(at) != 0 || Fields.unsigned(from, at + 1) >>> VERSION_SHIFT != IPV4) {
            return null;
        }
        return new ProgramAddress(
                Short.toUnsignedInt(from.getShort(at + PORT_AT)),
                Gid.ofIpv4(from.getInt(at + SOURCE_AT + IPV4_AT)),
                Gid.ofIpv4(from.getInt(at + DESTINATION_AT + IPV4_AT)));
    }
}
