package io.rdmacomm.comm.setup;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;

/// The bytes of a connection, in both directions. One thread at a time reads.
interface ByteLine {
    /// A deadline that never passes.
    long NEVER = Long.MAX_VALUE;

    /// Reads at least one byte. Blocks.
    ///
    /// @param deadline the last moment, of [System#nanoTime()], or [#NEVER]
    /// @return the number of bytes; -1 if the peer has ended the connection
    /// @throws SocketTimeoutException if nothing arrived in time
    int read(byte[] into, int offset, int length, long deadline) throws IOException;

    /// Sends all bytes.
    void write(ByteBuffer bytes) throws IOException;
}
