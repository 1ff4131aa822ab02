package io.rdmacomm.nio;

import io.rdmacomm.nio.channel.RdmaSocketChannel;
import io.rdmacomm.nio.rsocket.Mapping;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/// Memory of this process that the peer of one rsocket can write directly, in addition to the stream: riomap,
/// riounmap and riowrite of rsocket(7). The peer may be a C program. Thread-safe.
///
/// An end that wants to write to its peer sets [RdmaSocketOptions#MAPPINGS] before the connection exists. Then its
/// peer can map memory at an offset that both have agreed on:
///
/// ```java
/// try (MappedMemory memory = MappedMemory.map(channel, 0, 1 << 20)) {
///     channel.write(ready);        // the peer learns of the mapping before it can read this
///     ...                          // read what the peer writes to the stream when it has written the memory
/// }
/// // the peer, when it has read that
/// MappedMemory.write(channel, source, 0);
/// channel.write(written);          // what it wrote is there before this can be read
/// ```
///
/// Only the peer of this channel can write to it, and only to this memory. The mapping ends with [#close()] or with
/// the channel. The peer is not notified: if it writes there again, its connection ends.
public final class MappedMemory implements AutoCloseable {
    private final Mapping mapping;

    private MappedMemory(Mapping mapping) {
        this.mapping = mapping;
    }

    /// Allocates memory, and maps it for the peer.
    ///
    /// @param channel a connected channel
    /// @param offset the offset at which the peer writes to the memory, not negative
    /// @param bytes its length, 1 to 4,294,967,295
    /// @throws IOException if the peer has no room for another mapping, the device none for the memory, or the
    ///         connection has ended
    /// @throws UnsupportedOperationException if the channel is not an rsocket
    public static MappedMemory map(SocketChannel channel, long offset, long bytes) throws IOException {
        return new MappedMemory(rsocket(channel).map(offset, bytes));
    }

    /// Writes to memory that the peer has mapped. A blocking channel writes all of the buffer, a non-blocking one
    /// as much as fits.
    ///
    /// @param channel a connected channel
    /// @param offset the offset of the first byte
    /// @return the number of bytes written
    /// @throws IOException if the peer has not mapped all of that memory, or the connection has ended
    /// @throws UnsupportedOperationException if the channel is not an rsocket
    public static int write(SocketChannel channel, ByteBuffer source, long offset) throws IOException {
        return rsocket(channel).write(source, offset);
    }

    private static RdmaSocketChannel rsocket(SocketChannel channel) {
        if (channel instanceof RdmaSocketChannel rsocket) {
            return rsocket;
        }
        throw new UnsupportedOperationException(
                channel + " cannot map memory; open channels with RdmaSockets or RdmaSelectorProvider");
    }

    /// The memory, until this or the channel is closed.
    public MemorySegment segment() {
        return mapping.segment();
    }

    /// Ends the mapping, and frees the memory.
    @Override
    public void close() {
        mapping.close();
    }

    @Override
    public String toString() {
        return "memory mapped at offset " + mapping.offset();
    }
}
