package io.rdmacomm.compare.service;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/// Reads and writes the values of a [SocketBlockServer]. For one thread.
final class SocketBlockClient implements AutoCloseable {
    private final SocketChannel channel;
    private final ByteBuffer question = ByteBuffer.allocateDirect(SocketBlockServer.LONGEST_QUESTION);
    private final ByteBuffer[] answer = {ByteBuffer.allocateDirect(Integer.BYTES), question};

    SocketBlockClient(int port) throws IOException {
        channel = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    }

    /// Reads a value to the beginning of `into`, which is a direct buffer.
    ///
    /// @return its length; 0 if there is none
    int get(String key, ByteBuffer into) throws IOException {
        ask(key, ByteBuffer.allocate(0));
        answer[0].clear();
        answer[1] = into.clear();
        while (answer[0].hasRemaining() || into.position() < answer[0].getInt(0)) {
            if (channel.read(answer) < 0) {
                throw new EOFException("the server has ended");
            }
        }
        return into.position();
    }

    void put(String key, ByteBuffer value) throws IOException {
        ask(key, value);
        SocketBlockServer.read(channel, answer[0].clear());
    }

    private void ask(String key, ByteBuffer value) throws IOException {
        byte[] name = key.getBytes(UTF_8);
        question.clear();
        question.putInt(name.length + value.remaining())
                .putInt(name.length)
                .put(name)
                .put(value)
                .flip();
        while (question.hasRemaining()) {
            channel.write(question);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
