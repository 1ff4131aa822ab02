package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.CommandFailure;
import java.nio.ByteBuffer;

/// The pattern of `rstream -T v` in one direction: each byte is one more than the byte before it, across
/// transfers and connections.
final class RunningBytes {
    private static final int BYTE = 0xff;

    private long count;

    RunningBytes() {}

    /// Fills the buffer with the next bytes.
    void fill(ByteBuffer buffer) {
        for (int i = buffer.position(); i < buffer.limit(); i++) {
            buffer.put(i, (byte) count++);
        }
    }

    /// Compares the buffer with the next bytes.
    ///
    /// @throws CommandFailure if one differs
    void check(ByteBuffer buffer) {
        for (int i = buffer.position(); i < buffer.limit(); i++) {
            byte actual = buffer.get(i);
            if (actual != (byte) count) {
                throw new CommandFailure("byte " + count + " from the peer is " + (actual & BYTE) + ", not "
                        + (count & BYTE) + ": give -T v at both ends; if both have it, the data was damaged");
            }
            count++;
        }
    }

    /// The number of bytes that it has filled or checked.
    long count() {
        return count;
    }
}
