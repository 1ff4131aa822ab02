package io.rdmacomm.tests.comm;

import io.rdmacomm.tests.fixture.TcpRelay;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/// The TCP connections of one client's queue pairs, of which those of the data channels can be stopped. Both sides
/// take each other for a device of another vendor, because the bit by which software devices recognize each other
/// is cleared (decision 11). So a SEND completes when TCP has taken it, as on every iWARP device (RFC 5040, section
/// 5.5).
final class ForeignLines implements AutoCloseable {
    private static final int REQUEST_HEADER = 20;
    private static final int FLAGS = 16;
    private static final int OWN = 0x04;

    private final TcpRelay relay;
    private volatile CountDownLatch stopped = new CountDownLatch(0);

    /// Relays another port of an address to `port`.
    ForeignLines(String address, int port) throws IOException {
        InetSocketAddress target = new InetSocketAddress(InetAddress.ofLiteral(address), port);
        relay = new TcpRelay(new ServerSocket(0, 10, target.getAddress()), target, this::carry);
    }

    /// The port to connect to.
    int port() {
        return relay.port();
    }

    /// Stops the data channels in both directions.
    void hold() {
        stopped = new CountDownLatch(1);
    }

    /// Delivers what was held back, and everything after it.
    void release() {
        stopped.countDown();
    }

    /// Sends bytes that are not a frame to the clients of the data channels.
    void spoil() throws IOException {
        for (TcpRelay.Line line : dataLines()) {
            line.accepted().getOutputStream().write(new byte[64]);
        }
    }

    /// Breaks the connections of the data channels.
    void cut() {
        dataLines().forEach(TcpRelay.Line::cut);
        release();
    }

    private List<TcpRelay.Line> dataLines() {
        return relay.lines().stream().skip(1).toList();
    }

    /// The control channel connects first, so its line is number 0.
    private void carry(int line, boolean toTarget, Socket from, Socket to) throws IOException, InterruptedException {
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream();
        if (toTarget) {
            byte[] header = new byte[REQUEST_HEADER];
            new DataInputStream(in).readFully(header);
            header[FLAGS] &= ~OWN;
            out.write(header);
        }
        byte[] bytes = new byte[8192];
        for (int count = in.read(bytes); count > 0; count = in.read(bytes)) {
            if (line > 0) {
                stopped.await();
            }
            out.write(bytes, 0, count);
        }
    }

    @Override
    public void close() throws IOException {
        release();
        relay.close();
    }
}
