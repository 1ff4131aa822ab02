package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.CommandFailure;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// The messages of the C programs. Each describes a buffer in 16 bytes.
enum BufferFormat {
    /// rping(1), big-endian. The server's answers have the same length but no content.
    ///
    /// ```
    ///  0               8       12      16
    /// +---------------+-------+-------+
    /// | address       | rkey  | length|
    /// +---------------+-------+-------+
    /// ```
    RPING("rping", ByteOrder.BIG_ENDIAN, 12, 8),

    /// The string copy. The C example (github.com/animeshtrivedi/rdma-example) sends its packed struct as it is in
    /// memory: little-endian on x86-64 and aarch64. Its tag is the local key, which siw and rxe also use as the
    /// remote key.
    ///
    /// ```
    ///  0               8       12      16
    /// +---------------+-------+-------+
    /// | address       | length| tag   |
    /// +---------------+-------+-------+
    /// ```
    STRING_COPY("copy-string", ByteOrder.LITTLE_ENDIAN, 8, 12);

    static final int BYTES = 16;

    private final String protocol;

    @SuppressWarnings("ImmutableEnumChecker") // layouts are immutable
    private final ValueLayout.OfLong longLayout;

    @SuppressWarnings("ImmutableEnumChecker")
    private final ValueLayout.OfInt intLayout;

    private final int lengthOffset;
    private final int keyOffset;

    BufferFormat(String protocol, ByteOrder order, int lengthOffset, int keyOffset) {
        this.protocol = protocol;
        this.longLayout = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(order);
        this.intLayout = ValueLayout.JAVA_INT_UNALIGNED.withOrder(order);
        this.lengthOffset = lengthOffset;
        this.keyOffset = keyOffset;
    }

    MemorySegment encode(Buffer buffer) {
        MemorySegment bytes = MemorySegment.ofArray(new byte[BYTES]);
        bytes.set(longLayout, 0, buffer.address());
        bytes.set(intLayout, lengthOffset, buffer.length());
        bytes.set(intLayout, keyOffset, buffer.key());
        return bytes;
    }

    /// Reads a message from the peer.
    ///
    /// @throws CommandFailure if it has the wrong length
    Buffer decode(MemorySegment message) {
        checkLength(message);
        return new Buffer(
                message.get(longLayout, 0), message.get(intLayout, lengthOffset), message.get(intLayout, keyOffset));
    }

    /// Checks the length of a message from the peer.
    ///
    /// @throws CommandFailure if it has the wrong length
    void checkLength(MemorySegment message) {
        if (message.byteSize() != BYTES) {
            throw new CommandFailure("the peer sent a message of " + message.byteSize() + " bytes where " + protocol
                    + " sends " + BYTES + ": it speaks a different protocol");
        }
    }

    /// A buffer that one side offers to the other; [BufferFormat] shows its wire format.
    ///
    /// @param address the address of the buffer
    /// @param length its length in bytes
    /// @param key its remote key
    record Buffer(long address, int length, int key) {}
}
