package io.rdmacomm.compare.peer;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/// A stream of blocks through a plain blocking `SocketChannel`. The server confirms every stream with the number of
/// bytes that it has read, and only then does the time end.
final class SocketStream implements Peer {
    @Override
    public void serve(Task task) throws IOException {
        ByteBuffer block = ByteBuffer.allocateDirect(task.bytes());
        ByteBuffer number = ByteBuffer.allocateDirect(Long.BYTES);
        try (SocketChannel channel = Sockets.accept(task)) {
            while (Sockets.readFully(channel, number.clear())) {
                long count = number.getLong(0);
                for (long left = count; left > 0; ) {
                    int read = channel.read(block.clear().limit((int) Math.min(left, block.capacity())));
                    if (read < 0) {
                        throw new EOFException("the client hung up");
                    }
                    left -= read;
                }
                Sockets.writeFully(channel, number.clear().putLong(count).flip());
            }
        }
    }

    @Override
    public double measure(Task task) throws IOException, InterruptedException {
        ByteBuffer block = ByteBuffer.allocateDirect(task.bytes());
        ByteBuffer number = ByteBuffer.allocateDirect(Long.BYTES);
        try (SocketChannel channel = Sockets.connect(task)) {
            return Streams.rate(task, blocks -> {
                Sockets.writeFully(
                        channel, number.clear().putLong(blocks * task.bytes()).flip());
                for (long i = 0; i < blocks; i++) {
                    Sockets.writeFully(channel, block.clear());
                }
                if (!Sockets.readFully(channel, number.clear())) {
                    throw new EOFException("the server hung up");
                }
            });
        }
    }
}
