package io.rdmacomm.mesh.join;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.SetupFailedException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.UUID;

/// The first message on the mesh's own channel, in both directions: it proves that the sender is a node of this
/// mesh, and names its rank. In network order:
///
/// ```
///  0               8                              24      28      32
/// +---------------+------------------------------+-------+-------+-----------+
/// | "RDMAMESH"    | token of the mesh            | from  | to    |ignored ...|
/// +---------------+------------------------------+-------+-------+-----------+
/// ```
///
/// It has no version: the table of the rendezvous contains the common version of all nodes.
record Introduction(UUID token, int from, int to) {
    static final int BYTES = 32;

    private static final long MAGIC = 0x52444d414d455348L;

    Introduction answer() {
        return new Introduction(token, to, from);
    }

    /// Sends it. Blocks.
    ///
    /// @param memory room for [#BYTES] bytes
    void send(RdmaChannel channel, BufferSlice memory, Duration timeout) {
        ByteBuffer to = ByteBuffer.allocate(BYTES).putLong(MAGIC);
        to.putLong(token.getMostSignificantBits()).putLong(token.getLeastSignificantBits());
        to.putInt(from).putInt(this.to).flip();
        MemorySegment.copy(MemorySegment.ofBuffer(to), 0, memory.buffer().segment(), memory.offset(), BYTES);
        channel.blocking(timeout).send(memory);
    }

    /// Waits for the peer's. Blocks.
    ///
    /// @throws SetupFailedException if another message arrives
    static Introduction receive(RdmaChannel channel, Duration timeout) {
        try (Message message = channel.blocking(timeout).receive()) {
            ByteBuffer from = message.segment().asByteBuffer();
            if (from.remaining() < BYTES || from.getLong() != MAGIC) {
                throw new SetupFailedException(
                        SetupFailedException.Reason.PROTOCOL_VIOLATED,
                        channel + ": the peer is not a node of a mesh",
                        null);
            }
            return new Introduction(new UUID(from.getLong(), from.getLong()), from.getInt(), from.getInt());
        }
    }
}
