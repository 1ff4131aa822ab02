package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.AddressText;
import io.rdmacomm.cli.command.CommandFailure;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The TCP connection over which both ends of a C program set up their queue pairs. The C programs take each
/// message with one read(2), so each is written in one piece, and none is written early. For one thread.
final class ControlSocket implements AutoCloseable {
    private final Socket socket;
    private final String peer;
    private final String program;
    private final Duration timeout;
    private long deadline;

    /// Takes ownership of an accepted or connected socket.
    ///
    /// @param program the C program that should run at the other end, for error messages
    /// @param timeout how long all reads until the next [#nextStep()] may take
    ControlSocket(Socket socket, String program, Duration timeout) throws IOException {
        this.socket = socket;
        this.program = program;
        this.peer = AddressText.of((InetSocketAddress) socket.getRemoteSocketAddress());
        this.timeout = timeout;
        socket.setTcpNoDelay(true);
        nextStep();
    }

    /// Connects to a server. Tries all addresses of the host in turn.
    ///
    /// @param command our command that serves the same protocol, for the error message
    /// @throws CommandFailure if nobody listens there
    static ControlSocket connect(String host, int port, String program, String command, Duration timeout)
            throws IOException {
        long deadline = System.nanoTime() + timeout.toNanos();
        IOException last = new UnknownHostException(host);
        for (InetAddress address : InetAddress.getAllByName(host)) {
            Socket socket = new Socket();
            try {
                socket.connect(new InetSocketAddress(address, port), millisLeft(deadline));
                return new ControlSocket(socket, program, timeout);
            } catch (IOException e) {
                socket.close();
                last = e;
            }
        }
        throw new CommandFailure(
                "no program listens on " + host + ":" + port + ": start `" + program + "` or `" + command
                        + "` there, or check host and port",
                last);
    }

    /// Restarts the timeout for the reads that follow.
    void nextStep() {
        deadline = System.nanoTime() + timeout.toNanos();
    }

    /// Where the peer is.
    InetAddress remoteAddress() {
        return socket.getInetAddress();
    }

    /// The peer's address and port.
    String peer() {
        return peer;
    }

    /// The C program that should run at the other end.
    String program() {
        return program;
    }

    /// Sends a message.
    ///
    /// @throws CommandFailure if the peer has closed the connection
    void write(byte[] message) throws IOException {
        try {
            socket.getOutputStream().write(message);
        } catch (SocketException e) {
            throw new CommandFailure(peer + " closed the connection too early", e);
        }
    }

    /// Receives a message of this length. Blocks.
    ///
    /// @param what the message, for the error messages
    /// @throws CommandFailure if it does not arrive in time, or the peer closes the connection
    byte[] read(int length, String what) throws IOException {
        byte[] bytes = new byte[length];
        InputStream in = socket.getInputStream();
        int have = 0;
        try {
            while (have < length) {
                socket.setSoTimeout(millisLeft(deadline));
                int count = in.read(bytes, have, length - have);
                if (count < 0) {
                    throw closed(what, null);
                }
                have += count;
            }
        } catch (SocketTimeoutException e) {
            throw new CommandFailure(peer + " sent no " + what + " in time: is " + program + " running there?", e);
        } catch (SocketException e) {
            throw closed(what, e);
        }
        return bytes;
    }

    private CommandFailure closed(String what, @Nullable IOException cause) {
        String happened = peer + " closed the connection before it sent its " + what;
        return cause == null ? new CommandFailure(happened) : new CommandFailure(happened, cause);
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
