package io.rdmacomm.soft.cm;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.HexFormat;

/// A peer that is nothing but a socket: it says what a test has it say, byte by byte.
public final class Wire implements AutoCloseable {
    /// The 16 bytes that a request begins with.
    public static final String REQUEST = "4d504120494420526571204672616d65";
    /// The 16 bytes that a reply begins with.
    public static final String REPLY = "4d504120494420526570204672616d65";

    private static final int TIMEOUT_MILLIS = 10_000;

    private final Socket socket;

    /// Speaks through this socket.
    public Wire(Socket socket) throws IOException {
        this.socket = socket;
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(TIMEOUT_MILLIS);
    }

    /// Calls.
    public static Wire to(InetSocketAddress address) throws IOException {
        Socket socket = new Socket();
        socket.connect(address, TIMEOUT_MILLIS);
        return new Wire(socket);
    }

    /// Calls from one of the addresses of this host.
    public static Wire from(InetAddress local, InetSocketAddress address) throws IOException {
        Socket socket = new Socket();
        socket.bind(new InetSocketAddress(local, 0));
        socket.connect(address, TIMEOUT_MILLIS);
        return new Wire(socket);
    }

    /// Waits to be called.
    public static ServerSocket listen() throws IOException {
        ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        server.setSoTimeout(TIMEOUT_MILLIS);
        return server;
    }

    /// Where it listens.
    public static InetSocketAddress addressOf(ServerSocket server) {
        return (InetSocketAddress) server.getLocalSocketAddress();
    }

    /// Says these bytes.
    public void send(String hex) throws IOException {
        socket.getOutputStream().write(bytes(hex));
    }

    /// Says these bytes, one in each segment.
    public void sendByteByByte(String hex) throws IOException {
        for (byte each : bytes(hex)) {
            socket.getOutputStream().write(each);
            socket.getOutputStream().flush();
        }
    }

    /// Reads a request or reply to its end.
    public String readFrame() throws IOException {
        String header = readHex(20);
        int length = Integer.parseInt(header.substring(36), 16);
        return header + readHex(length);
    }

    public String readHex(int count) throws IOException {
        byte[] found = socket.getInputStream().readNBytes(count);
        if (found.length < count) {
            throw new EOFException("the connection ended after " + found.length + " of " + count + " bytes");
        }
        return HexFormat.of().formatHex(found);
    }

    /// Waits for the end of the connection, in whatever way it ends.
    public boolean isEnded() throws IOException {
        try {
            InputStream in = socket.getInputStream();
            return in.read() < 0;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (SocketException e) {
            return true;
        }
    }

    /// Ends with RST instead of FIN.
    public void reset() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    /// Hexadecimal digits as bytes; blanks do not count.
    public static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replaceAll("[ |]", ""));
    }

    /// Without blanks.
    public static String plain(String hex) {
        return hex.replaceAll("[ |]", "");
    }
}
