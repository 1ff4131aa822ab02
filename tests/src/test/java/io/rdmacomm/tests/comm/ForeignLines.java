package io.rdmacomm.tests.comm;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/// The TCP connections of the queue pairs of one client, with a stop-cock in those of its data channels. Both ends
/// take each other for a device of another make, because the bit by which software devices find each other is
/// taken away (decision 11): so a SEND completes when TCP has it, as on every iWARP device (RFC 5040, section
/// 5.5).
final class ForeignLines implements AutoCloseable {
    private static final int REQUEST_HEADER = 20;
    private static final int FLAGS = 16;
    private static final int OWN = 0x04;

    private final InetSocketAddress target;
    private final ServerSocket listener;
    private final Set<Socket> data = ConcurrentHashMap.newKeySet();
    private final Set<Socket> control = ConcurrentHashMap.newKeySet();
    private volatile CountDownLatch cock = new CountDownLatch(0);

    /// Lines to a port of an address, on another port of that address.
    ForeignLines(String address, int port) throws IOException {
        target = new InetSocketAddress(InetAddress.ofLiteral(address), port);
        listener = new ServerSocket(0, 10, target.getAddress());
        Thread.ofVirtual().name("lines-" + port()).start(this::connect);
    }

    /// The port to call.
    int port() {
        return listener.getLocalPort();
    }

    /// Nothing comes through the data channels from now on, in either direction.
    void hold() {
        cock = new CountDownLatch(1);
    }

    /// Lets everything through that was held back, and what comes after it.
    void release() {
        cock.countDown();
    }

    /// Puts something on the data channels that is no frame, towards those who have called.
    void spoil() throws IOException {
        for (Socket socket : data) {
            if (socket.getLocalPort() == port()) {
                socket.getOutputStream().write(new byte[64]);
            }
        }
    }

    /// Breaks the connections of the data channels.
    void cut() {
        data.forEach(ForeignLines::end);
        release();
    }

    /// The control channel calls first.
    private void connect() {
        boolean held = false;
        try {
            while (true) {
                Socket here = listener.accept();
                Socket there = new Socket(target.getAddress(), target.getPort());
                Set<Socket> line = held ? data : control;
                line.add(here);
                line.add(there);
                here.setTcpNoDelay(true);
                there.setTcpNoDelay(true);
                boolean stops = held;
                Thread.ofVirtual().start(() -> carry(there, here, stops, false));
                Thread.ofVirtual().start(() -> carry(here, there, stops, true));
                held = true;
            }
        } catch (IOException e) {
            // Closed.
        }
    }

    private void carry(Socket from, Socket to, boolean stops, boolean request) {
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            if (request) {
                byte[] header = new byte[REQUEST_HEADER];
                new DataInputStream(in).readFully(header);
                header[FLAGS] &= ~OWN;
                out.write(header);
            }
            byte[] bytes = new byte[8192];
            for (int count = in.read(bytes); count > 0; count = in.read(bytes)) {
                if (stops) {
                    cock.await();
                }
                out.write(bytes, 0, count);
            }
            to.shutdownOutput();
        } catch (IOException | InterruptedException e) {
            end(from);
            end(to);
        }
    }

    private static void end(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        cut();
        control.forEach(ForeignLines::end);
    }
}
