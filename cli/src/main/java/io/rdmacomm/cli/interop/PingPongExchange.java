package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.CommandFailure;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.Arrays;

/// The TCP connection over which the two sides of ibv_rc_pingpong(1) exchange the addresses of their queue pairs.
/// It is closed before the test starts.
///
/// ```
/// client                      server
///   | address, 52 bytes         |
///   |-------------------------->|  connects its queue pair
///   |        address, 52 bytes  |
///   |<--------------------------|
///   | "done\0"                  |
///   |-------------------------->|
/// connects its queue pair
/// ```
final class PingPongExchange implements AutoCloseable {
    private static final byte[] DONE = {'d', 'o', 'n', 'e', 0};

    private final ControlSocket socket;

    private PingPongExchange(ControlSocket socket) {
        this.socket = socket;
    }

    /// An exchange over an accepted socket, limited by the timeout of the settings.
    static PingPongExchange accept(Socket socket, PingPongSettings settings) throws IOException {
        return new PingPongExchange(new ControlSocket(socket, settings.program(), settings.timeout()));
    }

    /// Connects to a server. Tries all addresses of the host in turn.
    static PingPongExchange connect(String host, int port, PingPongSettings settings) throws IOException {
        String program = settings.program();
        String command = "rdmacomm ping --interop " + program.substring("ibv_".length()) + " --server";
        return new PingPongExchange(ControlSocket.connect(host, port, program, command, settings.timeout()));
    }

    /// Where the peer is.
    InetAddress remoteAddress() {
        return socket.remoteAddress();
    }

    /// Receives the address of the peer.
    PingPongAddress receive() throws IOException {
        return PingPongAddress.decode(socket.read(PingPongAddress.BYTES, "address"), socket.peer(), socket.program());
    }

    /// Sends the address of this side.
    void send(PingPongAddress own) throws IOException {
        socket.write(own.encode());
    }

    /// Confirms that the server's address has arrived.
    void sendDone() throws IOException {
        socket.write(DONE);
    }

    /// Waits until the client confirms that it has the server's address.
    void awaitDone() throws IOException {
        if (!Arrays.equals(socket.read(DONE.length, "address"), DONE)) {
            throw new CommandFailure(socket.peer()
                    + " did not confirm the address: it speaks a different protocol than " + socket.program());
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
