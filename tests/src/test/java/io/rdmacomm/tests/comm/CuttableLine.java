package io.rdmacomm.tests.comm;

import io.rdmacomm.tests.fixture.TcpRelay;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;

/// The TCP connections of clients to a server in this process. Cutting them fails both ends, as the death of the other
/// process does.
final class CuttableLine implements AutoCloseable {
    private final TcpRelay relay;

    /// Relays another port to the server's.
    CuttableLine(int port) throws IOException {
        InetAddress host = InetAddress.ofLiteral("127.0.0.1");
        relay = new TcpRelay(
                new ServerSocket(0, 50, host),
                new InetSocketAddress(host, port),
                (line, toTarget, from, to) -> from.getInputStream().transferTo(to.getOutputStream()));
    }

    /// The port to connect to.
    int port() {
        return relay.port();
    }

    /// How often clients have connected.
    int connections() {
        return relay.lines().size();
    }

    void cut() {
        relay.lines().forEach(TcpRelay.Line::cut);
    }

    @Override
    public void close() throws IOException {
        relay.close();
    }
}
