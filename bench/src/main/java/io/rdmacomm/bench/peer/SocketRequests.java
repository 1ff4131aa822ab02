package io.rdmacomm.bench.peer;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/// Requests through a plain `SocketChannel` whose ends poll.
final class SocketRequests implements NewJvm.Kind {
    @Override
    public void serve(Task task) throws IOException {
        new SocketPingPong(false).serve(task);
    }

    @Override
    public NewJvm.Connection connect(Task task) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(task.bytes());
        SocketChannel channel = Sockets.connect(task);
        channel.configureBlocking(false);
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
