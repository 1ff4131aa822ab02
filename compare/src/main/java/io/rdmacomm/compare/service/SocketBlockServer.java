package io.rdmacomm.compare.service;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.rdmacomm.examples.BlockServer;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.LinkedHashMap;

/// What [BlockServer] does, over plain sockets: a thread for each client, which writes values from the direct buffers
/// where they are.
///
/// A question is its length and that of the key in four bytes each, the key, and to store a value the value. An answer
/// is a length in four bytes and the value.
final class SocketBlockServer {
    static final int HEADER = 8;
    static final int LONGEST_QUESTION = 1024 + BlockServer.LONGEST;

    private static final ByteBuffer ABSENT = ByteBuffer.allocateDirect(0);

    private final int most;
    // In the order of the last questions.
    private final LinkedHashMap<String, ByteBuffer> values = new LinkedHashMap<>(1024, 0.75f, true);

    private SocketBlockServer(long limit) {
        most = (int) (limit / BlockServer.LONGEST);
    }

    /// Arguments: the limit of the memory for values in MiB. Prints its port.
    public static void main(String[] arguments) throws IOException {
        SocketBlockServer server = new SocketBlockServer(Long.parseLong(arguments[0]) << 20);
        try (ServerSocketChannel listener =
                ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            System.out.println("listening on port " + listener.socket().getLocalPort());
            while (true) {
                SocketChannel client = listener.accept();
                client.setOption(StandardSocketOptions.TCP_NODELAY, true);
                Thread.ofPlatform().daemon().start(() -> server.serve(client));
            }
        }
    }

    private void serve(SocketChannel client) {
        ByteBuffer question = ByteBuffer.allocateDirect(LONGEST_QUESTION);
        ByteBuffer[] answer = {ByteBuffer.allocateDirect(Integer.BYTES), ABSENT};
        try (client) {
            while (true) {
                question.clear().limit(HEADER);
                read(client, question);
                int length = question.getInt(0);
                question.limit(HEADER + length);
                read(client, question);
                byte[] name = new byte[question.getInt(4)];
                question.position(HEADER).get(name);
                String key = new String(name, UTF_8);
                answer[1] = question.hasRemaining() ? put(key, question) : get(key);
                answer[0].clear().putInt(0, answer[1].remaining());
                while (answer[0].hasRemaining() || answer[1].hasRemaining()) {
                    client.write(answer);
                }
            }
        } catch (IOException _) {
            // The client is done, or gone.
        }
    }

    static void read(SocketChannel from, ByteBuffer into) throws IOException {
        while (into.hasRemaining()) {
            if (from.read(into) < 0) {
                throw new EOFException("the peer has ended");
            }
        }
    }

    private synchronized ByteBuffer get(String key) {
        ByteBuffer value = values.get(key);
        return value == null ? ABSENT.duplicate() : value.duplicate();
    }

    /// Others may still write the old value to their clients, so each has memory of its own.
    private ByteBuffer put(String key, ByteBuffer content) {
        ByteBuffer value =
                ByteBuffer.allocateDirect(content.remaining()).put(content).flip();
        insert(key, value);
        return ABSENT.duplicate();
    }

    private synchronized void insert(String key, ByteBuffer value) {
        values.put(key, value);
        if (values.size() > most) {
            values.pollFirstEntry();
        }
    }
}
