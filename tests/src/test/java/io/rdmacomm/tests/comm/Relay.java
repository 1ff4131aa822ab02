package io.rdmacomm.tests.comm;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/// A TCP line to a program that stays up when the program has ended, so that the caller cannot notice the end.
final class Relay implements AutoCloseable {
    private final ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    private final Socket there;
    private volatile Socket here;

    /// A line to a port of this host, for one call.
    Relay(int port) throws IOException {
        there = new Socket(InetAddress.getLoopbackAddress(), port);
        Thread.ofVirtual().start(this::carry);
    }

    int port() {
        return listener.getLocalPort();
    }

    private void carry() {
        try {
            here = listener.accept();
            Thread.ofVirtual().start(() -> carry(there, here));
            carry(here, there);
        } catch (IOException e) {
            // Closed before a call came.
        }
    }

    private static void carry(Socket from, Socket to) {
        try {
            from.getInputStream().transferTo(to.getOutputStream());
        } catch (IOException e) {
            // One of the two has ended, and the other must not notice.
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        there.close();
        if (here != null) {
            here.close();
        }
    }
}
