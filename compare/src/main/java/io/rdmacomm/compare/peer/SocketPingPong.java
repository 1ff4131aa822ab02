package io.rdmacomm.compare.peer;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/// Messages back and forth through a plain `SocketChannel`: with polling ends half of the round trip, with blocking
/// ends the whole.
final class SocketPingPong implements Peer, NewJvm.Kind {
    private final boolean blocking;

    SocketPingPong(boolean blocking) {
        this.blocking = blocking;
    }

    @Override
    public void serve(Task task) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(task.bytes());
        try (SocketChannel channel = Sockets.accept(task)) {
            channel.configureBlocking(blocking);
            while (Sockets.readFully(channel, buffer.clear())) {
                Sockets.writeFully(channel, buffer.flip());
            }
        }
    }

    @Override
    public double measure(Task task) throws IOException, InterruptedException {
        try (NewJvm.Connection connection = connect(task)) {
            double micros = task.micros(connection::request);
            return blocking ? micros : micros / 2;
        }
    }

    @Override
    public NewJvm.Connection connect(Task task) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(task.bytes());
        SocketChannel channel = Sockets.connect(task);
        channel.configureBlocking(blocking);
        return new NewJvm.Connection() {
            @Override
            public void request() throws IOException {
                Sockets.writeFully(channel, buffer.clear());
                if (!Sockets.readFully(channel, buffer.clear())) {
                    throw new EOFException("the server hung up");
                }
            }

            @Override
            public void close() throws IOException {
                channel.close();
            }
        };
    }
}
