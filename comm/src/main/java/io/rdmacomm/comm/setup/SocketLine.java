package io.rdmacomm.comm.setup;

import java.io.EOFException;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;

/// The plain bytes of a TCP connection.
final class SocketLine implements ByteLine {
    private static final int NONE = -1;

    private final SocketChannel channel;
    /// A byte that was peeked at and not consumed.
    private int seen = NONE;

    SocketLine(SocketChannel channel) {
        this.channel = channel;
    }

    /// The next byte, which is not consumed. Blocks.
    ///
    /// @throws SocketTimeoutException if nothing arrived in time
    /// @throws EOFException if the peer has ended the connection
    byte peek(long deadline) throws IOException {
        byte[] next = new byte[1];
        if (read(next, 0, 1, deadline) < 0) {
            throw new EOFException("end of the connection");
        }
        seen = next[0] & 0xff;
        return next[0];
    }

    @Override
    public int read(byte[] into, int offset, int length, long deadline) throws IOException {
        if (seen != NONE) {
            into[offset] = (byte) seen;
            seen = NONE;
            return 1;
        }
        channel.socket().setSoTimeout(deadline == NEVER ? 0 : millisUntil(deadline));
        return channel.socket().getInputStream().read(into, offset, length);
    }

    /// At least 1.
    static int millisUntil(long deadline) throws SocketTimeoutException {
        long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime() + 999_999);
        if (left <= 0) {
            throw new SocketTimeoutException("deadline");
        }
        return (int) Math.min(left, Integer.MAX_VALUE);
    }

    @Override
    public void write(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            if (channel.write(bytes) < 0) {
                throw new IOException("end of the connection");
            }
        }
    }
}
