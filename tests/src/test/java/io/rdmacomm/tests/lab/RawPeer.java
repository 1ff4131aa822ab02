package io.rdmacomm.tests.lab;

import io.rdmacomm.soft.iwarp.Fpdu;
import io.rdmacomm.soft.iwarp.Opcode;
import io.rdmacomm.soft.iwarp.SegmentHeader;
import io.rdmacomm.soft.iwarp.TerminateMessage;
import io.rdmacomm.soft.iwarp.Violation;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.zip.CRC32C;

/// An iWARP peer made of a plain socket. It sends exactly what a test case specifies, valid or not, without any of our
/// devices. Segments are written in hexadecimal digits; blanks are ignored.
final class RawPeer implements AutoCloseable {
    private static final String REQUEST = "4d504120494420526571204672616d65";
    private static final int SET_UP_BYTES = 20;
    private static final int SET_UP_LENGTH = 18;
    private static final int TIMEOUT_MILLIS = 20_000;

    private final Socket socket;
    private boolean checksum;

    private RawPeer(Socket socket) {
        this.socket = socket;
    }

    /// Opens a TCP connection.
    static RawPeer to(String address, int port) throws IOException {
        Socket socket = new Socket();
        socket.connect(new InetSocketAddress(address, port), TIMEOUT_MILLIS);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(TIMEOUT_MILLIS);
        return new RawPeer(socket);
    }

    /// A request for an MPA connection.
    ///
    /// @param rest what follows the key: flags, revision, length, private data
    static byte[] request(String rest) {
        return bytes(REQUEST + rest);
    }

    /// The reply without its key, in hexadecimal digits.
    String reply() throws IOException {
        byte[] header = read(SET_UP_BYTES);
        byte[] privateData = read(ByteBuffer.wrap(header).getShort(SET_UP_LENGTH));
        HexFormat hex = HexFormat.of();
        return hex.formatHex(header, REQUEST.length() / 2, SET_UP_BYTES) + hex.formatHex(privateData);
    }

    /// Adds a checksum to all further frames.
    void useChecksum() {
        checksum = true;
    }

    /// A Send.
    static byte[] send(int number, boolean last, int offset, byte[] payload) {
        String control = last ? "4143" : "0143";
        return segment(control + "00000000 00000000" + hex(number) + hex(offset), payload);
    }

    /// A Send of one segment.
    static byte[] send(int number, byte[] payload) {
        return send(number, true, 0, payload);
    }

    /// A segment of a Write.
    static byte[] write(boolean last, int key, long address, byte[] payload) {
        return segment((last ? "c140" : "8140") + hex(key) + hex(address), payload);
    }

    /// A Read Request with sink key 0xaabbcc00 and sink address 0x1000.
    static byte[] readRequest(int number, int bytes, int key, long address) {
        return segment("4141 00000000 00000001" + hex(number) + "00000000 aabbcc00 0000000000001000" + hex(bytes)
                + hex(key) + hex(address));
    }

    /// Any segment.
    static byte[] segment(String header, byte... payload) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(bytes(header));
        out.writeBytes(payload);
        return out.toByteArray();
    }

    private static String hex(int value) {
        return HexFormat.of().toHexDigits(value);
    }

    private static String hex(long value) {
        return HexFormat.of().toHexDigits(value);
    }

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }

    /// The frame around a segment.
    byte[] frame(byte[] segment) {
        int padding = -(2 + segment.length) & 3;
        ByteBuffer frame = ByteBuffer.allocate(2 + segment.length + padding + 4);
        frame.putShort((short) segment.length).put(segment);
        frame.position(frame.position() + padding);
        if (checksum) {
            CRC32C crc = new CRC32C();
            crc.update(frame.array(), 0, frame.position());
            frame.putInt(Integer.reverseBytes((int) crc.getValue()));
        }
        return frame.array();
    }

    /// Sends segments, each in its own frame, in one write.
    void say(byte[]... segments) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] segment : segments) {
            all.writeBytes(frame(segment));
        }
        sayBytes(all.toByteArray(), 0, all.size());
    }

    /// Sends some of these bytes without a frame.
    void sayBytes(byte[] bytes, int from, int to) throws IOException {
        OutputStream out = socket.getOutputStream();
        out.write(bytes, from, to - from);
    }

    /// Reads a frame and returns its segment.
    byte[] hear() throws IOException {
        int length = Short.toUnsignedInt(ByteBuffer.wrap(read(2)).getShort());
        byte[] segment = read(length);
        byte[] trailer = read(Fpdu.trailerBytes(length));
        byte[] wanted = frame(segment);
        int found = ByteBuffer.wrap(trailer).getInt(trailer.length - 4);
        if (found != ByteBuffer.wrap(wanted).getInt(wanted.length - 4)) {
            throw new IOException("wrong checksum 0x" + Integer.toHexString(found));
        }
        return segment;
    }

    /// Reads frames up to a Terminate.
    TerminateMessage hearTerminate() throws IOException {
        while (true) {
            byte[] segment = hear();
            if ((segment[1] & 0xf) == Opcode.TERMINATE) {
                ByteBuffer frame = ByteBuffer.wrap(frame(segment));
                SegmentHeader header = new SegmentHeader();
                if (header.decode(frame, 0) != Violation.NONE) {
                    throw new IOException("not a Terminate: " + HexFormat.of().formatHex(segment));
                }
                TerminateMessage terminate = new TerminateMessage();
                terminate.decode(frame, 0, header.payloadBytes);
                return terminate;
            }
        }
    }

    private byte[] read(int count) throws IOException {
        byte[] found = socket.getInputStream().readNBytes(count);
        if (found.length < count) {
            throw new EOFException("the connection ended after " + found.length + " of " + count + " bytes");
        }
        return found;
    }

    /// Waits until the connection ends in any way.
    ///
    /// @throws IOException if the connection stays up
    void awaitEnd() throws IOException {
        try {
            while (socket.getInputStream().read() >= 0) {
                // Data that was already in flight.
            }
        } catch (SocketException e) {
            // A reset also ends the connection.
            socket.close();
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
