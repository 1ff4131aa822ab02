package io.rdmacomm.tests.comm;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;

/// A port of this host to which nobody may connect.
final class Trap implements AutoCloseable {
    private final ServerSocket listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());

    Trap() throws IOException {}

    int port() {
        return listener.getLocalPort();
    }

    /// Whether somebody has connected so far.
    boolean hasCaught() throws IOException {
        listener.setSoTimeout(1);
        try {
            listener.accept().close();
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }
}
