package io.rdmacomm.nio.channel;

import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.IllegalBlockingModeException;
import java.util.Objects;
import java.util.function.LongSupplier;

/// The input of a socket. The stream of [java.nio.channels.Channels] would block concurrent writers.
final class SocketInput extends InputStream {
    private final RdmaSocketChannel channel;
    private final LongSupplier nanos;

    /// @param nanos the longest wait
    SocketInput(RdmaSocketChannel channel, LongSupplier nanos) {
        this.channel = channel;
        this.nanos = nanos;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        int bytes = read(one, 0, 1);
        return bytes > 0 ? one[0] & 0xff : -1;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, bytes.length);
        if (length == 0) {
            return 0;
        }
        if (channel.isOpen() && !channel.isBlocking()) {
            throw new IllegalBlockingModeException();
        }
        int read = channel.stream().readWithin(ByteBuffer.wrap(bytes, offset, length), nanos.getAsLong());
        if (read == 0) {
            throw new SocketTimeoutException("Read timed out");
        }
        return read;
    }

    @Override
    public int available() throws IOException {
        return channel.available();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
