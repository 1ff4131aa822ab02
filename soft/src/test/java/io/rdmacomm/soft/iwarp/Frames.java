package io.rdmacomm.soft.iwarp;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.List;

/// Frames as other implementations send them, checksum included; computed by hand from the RFCs.
public final class Frames {
    static final Golden SEND =
            new Golden("Send of hello", "0017 4143 00000000 00000000 00000001 00000000 68656c6c6f 000000 b990b10c", 20);
    static final Golden WRITE =
            new Golden("Write of 01020304", "0012 c140 12345678 00007f0000001000 01020304 07e6192a", 16);
    static final Golden READ_REQUEST = new Golden(
            "Read Request",
            "002e 4141 00000000 00000001 00000001 00000000 aabbcc00 0000000000001000 00000040 11223300"
                    + "0000000000002000 861a6136",
            48);
    static final Golden READ_RESPONSE =
            new Golden("Read Response of nothing", "000e c142 aabbcc00 0000000000001000 170184d1", 16);
    static final Golden READY_TO_RECEIVE =
            new Golden("siw's ready-to-receive Write", "000e c140 00000001 0000000000000000 ebd34c5f", 16);
    static final Golden TERMINATE =
            new Golden("Terminate", "0016 4147 00000000 00000002 00000001 00000000 00000000 f9a26f1d", 24);
    /// All of them.
    public static final List<Golden> ALL =
            List.of(SEND, WRITE, READ_REQUEST, READ_RESPONSE, READY_TO_RECEIVE, TERMINATE);

    private Frames() {}

    /// A frame and how long its header is.
    public record Golden(String name, String hex, int headerBytes) {
        /// A direct buffer with the frame at `at`, and 0xa5 around it.
        ByteBuffer at(int at) {
            byte[] frame = bytes(hex);
            ByteBuffer buffer = ByteBuffer.allocateDirect(at + frame.length + 16);
            while (buffer.hasRemaining()) {
                buffer.put((byte) 0xa5);
            }
            return buffer.clear().put(at, frame);
        }

        int length() {
            return bytes(hex).length;
        }

        @Override
        public String toString() {
            return name;
        }
    }

    static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replaceAll("[ |]", ""));
    }

    static String hex(ByteBuffer buffer, int at, int length) {
        byte[] bytes = new byte[length];
        buffer.get(at, bytes);
        return HexFormat.of().formatHex(bytes);
    }

    static String plain(String hex) {
        return hex.replaceAll("[ |]", "");
    }

    static ByteBuffer direct(String hex) {
        byte[] bytes = bytes(hex);
        return ByteBuffer.allocateDirect(bytes.length).put(bytes).clear();
    }
}
