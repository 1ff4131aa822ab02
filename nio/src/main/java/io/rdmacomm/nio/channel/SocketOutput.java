package io.rdmacomm.nio.channel;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.util.Objects;

/// The output of a socket.
final class SocketOutput extends OutputStream {
    private final RdmaSocketChannel channel;

    SocketOutput(RdmaSocketChannel channel) {
        this.channel = channel;
    }

    RdmaSocketChannel channel() {
        return channel;
    }

    @Override
    public void write(int value) throws IOException {
        write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, bytes.length);
        ByteBuffer source = ByteBuffer.wrap(bytes, offset, length);
        if (source.hasRemaining() && channel.isOpen() && !channel.isBlocking()) {
            throw new IllegalBlockingModeException();
        }
        if (source.hasRemaining() && channel.isOutputClosed()) {
            throw new ClosedChannelException();
        }
        while (source.hasRemaining()) {
            var _ = channel.write(source);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
