package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.terminal.AddressText;
import io.rdmacomm.cli.terminal.CommandFailure;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

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
///
/// The C program takes each message with one read(2), so each is written at once, and none is written early.
final class PingPongExchange implements AutoCloseable {
    private static final byte[] DONE = {'d', 'o', 'n', 'e', 0};

    private final Socket socket;
    private final String peer;
    private final String program;
    private final long deadline;

    /// An exchange over an accepted or connected socket, which may take as long as the patience of the settings.
    PingPongExchange(Socket socket, PingPongSettings settings) throws IOException {
        this.socket = socket;
        this.program = settings.program();
        this.peer = AddressText.of((InetSocketAddress) socket.getRemoteSocketAddress());
        this.deadline = System.nanoTime() + settings.patience().toNanos();
        socket.setTcpNoDelay(true);
    }

    /// Connects to a server. Tries all addresses of the host in turn.
    static PingPongExchange connect(String host, int port, PingPongSettings settings) throws IOException {
        long deadline = System.nanoTime() + settings.patience().toNanos();
        IOException last = new UnknownHostException(host);
        for (InetAddress address : InetAddress.getAllByName(host)) {
            Socket socket = new Socket();
            try {
                socket.connect(new InetSocketAddress(address, port), millisLeft(deadline));
                return new PingPongExchange(socket, settings);
            } catch (IOException e) {
                socket.close();
                last = e;
            }
        }
        throw new CommandFailure(
                "no program listens on " + host + ":" + port + ": start `" + settings.program()
                        + "` or `rdmacomm ping --interop " + settings.program().substring("ibv_".length())
                        + " --server` there, or check host and port",
                last);
    }

    /// Where the peer is.
    InetAddress remoteAddress() {
        return socket.getInetAddress();
    }

    /// The peer's address and port.
    String peer() {
        return peer;
    }

    /// Receives the address of the peer.
    PingPongAddress receive() throws IOException {
        return PingPongAddress.decode(read(PingPongAddress.BYTES), peer, program);
    }

    /// Sends the address of this side.
    void send(PingPongAddress own) throws IOException {
        socket.getOutputStream().write(own.encode());
    }

    /// Confirms that the server's address has arrived.
    void sendDone() throws IOException {
        socket.getOutputStream().write(DONE);
    }

    /// Waits until the client confirms that it has the server's address.
    void awaitDone() throws IOException {
        if (!Arrays.equals(read(DONE.length), DONE)) {
            throw new CommandFailure(
                    peer + " did not confirm the address: it speaks a different protocol than " + program);
        }
    }

    private byte[] read(int length) throws IOException {
        byte[] bytes = new byte[length];
        InputStream in = socket.getInputStream();
        int have = 0;
        try {
            while (have < length) {
                socket.setSoTimeout(millisLeft(deadline));
                int count = in.read(bytes, have, length - have);
                if (count < 0) {
                    throw new CommandFailure(peer + " closed the connection before it sent its address");
                }
                have += count;
            }
        } catch (SocketTimeoutException e) {
            throw new CommandFailure(peer + " sent no address in time: is " + program + " running there?", e);
        }
        return bytes;
    }

    private static int millisLeft(long deadline) throws SocketTimeoutException {
        long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime() + 999_999);
        if (left <= 0) {
            throw new SocketTimeoutException("deadline");
        }
        return (int) Math.min(left, Integer.MAX_VALUE);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
