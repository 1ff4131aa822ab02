package io.rdmacomm.tests.cli;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// A peer in place of a server of perftest, which answers each message of its client with what a case
/// wants, and then closes the connection.
final class PerftestServer implements AutoCloseable {
    /// What an honest server answers before its key.
    static final byte[][] HONEST = {text("6.06", 16), {0, 0, 16, 0}, {0, 0, 0, 64}, {'3', 0}};

    private final ServerSocket listener = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
    private final byte[][] answers;
    private final Thread thread;

    PerftestServer(byte[]... answers) throws IOException {
        this.answers = answers;
        this.thread = Thread.ofPlatform().daemon().name("perftest").start(this::serve);
    }

    /// Honest answers, followed by others.
    static byte[][] honest(int count, byte[]... then) {
        byte[][] all = new byte[count + then.length][];
        System.arraycopy(HONEST, 0, all, 0, count);
        System.arraycopy(then, 0, all, count, then.length);
        return all;
    }

    /// A text with as many NULs as it takes.
    static byte[] text(String text, int length) {
        return Arrays.copyOf(text.getBytes(StandardCharsets.US_ASCII), length);
    }

    /// A key with a GID of this host.
    static byte[] key(int queuePair, String address) {
        StringBuilder gid = new StringBuilder("00:00:00:00:00:00:00:00:00:00:ff:ff:");
        for (byte octet : InetAddress.ofLiteral(address).getAddress()) {
            gid.append(String.format("%02x:", octet));
        }
        return text(String.format("4e20:0001:%06x:000001:00001234:00007f0012345000:%s00000000:", queuePair, gid), 108);
    }

    private void serve() {
        try (Socket client = listener.accept()) {
            byte[] message = new byte[256];
            for (byte[] answer : answers) {
                if (client.getInputStream().read(message) < 0) {
                    return;
                }
                client.getOutputStream().write(answer);
            }
        } catch (IOException _) {
            // The client has given up, or the case has ended.
        }
    }

    String address() {
        return "localhost:" + listener.getLocalPort();
    }

    @Override
    public void close() throws IOException {
        listener.close();
        thread.interrupt();
    }
}
