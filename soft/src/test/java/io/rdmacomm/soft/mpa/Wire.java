package io.rdmacomm.soft.mpa;

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
final class Wire implements AutoCloseable {
    /// The 16 bytes that a request begins with.
    static final String REQUEST = "4d504120494420526571204672616d65";
    /// The 16 bytes that a reply begins with.
    static final String REPLY = "4d504120494420526570204672616d65";

    private static final int TIMEOUT_MILLIS = 10_000;

    private final Socket socket;

    Wire(Socket socket) throws IOException {
        this.socket = socket;
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(TIMEOUT_MILLIS);
    }

    static Wire to(InetSocketAddress address) throws IOException {
        Socket socket = new Socket();
        socket.connect(address, TIMEOUT_MILLIS);
        return new Wire(socket);
    }

    static ServerSocket listen() throws IOException {
        ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        server.setSoTimeout(TIMEOUT_MILLIS);
        return server;
    }

    static InetSocketAddress addressOf(ServerSocket server) {
        return (InetSocketAddress) server.getLocalSocketAddress();
    }

    void send(String hex) throws IOException {
        socket.getOutputStream().write(bytes(hex));
    }

    void sendByteByByte(String hex) throws IOException {
        for (byte each : bytes(hex)) {
            socket.getOutputStream().write(each);
            socket.getOutputStream().flush();
        }
    }

    /// Reads a request or reply to its end.
    String readFrame() throws IOException {
        String header = readHex(20);
        int length = Integer.parseInt(header.substring(36), 16);
        return header + readHex(length);
    }

    String readHex(int count) throws IOException {
        byte[] found = socket.getInputStream().readNBytes(count);
        if (found.length < count) {
            throw new EOFException("the connection ended after " + found.length + " of " + count + " bytes");
        }
        return HexFormat.of().formatHex(found);
    }

    /// Waits for the end of the connection, in whatever way it ends.
    boolean isEnded() throws IOException {
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
    void reset() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replaceAll("[ |]", ""));
    }

    static String plain(String hex) {
        return hex.replaceAll("[ |]", "");
    }
}
