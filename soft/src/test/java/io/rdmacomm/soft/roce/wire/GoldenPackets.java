package io.rdmacomm.soft.roce.wire;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;

/// Packets as they were captured, from the IP header to the CRC. `{N zero}` stands for N bytes of zero.
public final class GoldenPackets {
    static final Golden CONGESTION = new Golden(
            "congestion notification of a ConnectX-4 Lx",
            "45c2003c718c4000401191610a0011010a001201 000012b700280000 8100ffff4000011800000000 {16 zero} 82fd002a");
    static final Golden ACKNOWLEDGE = new Golden(
            "acknowledgement of rxe",
            "45000030a6df400040117fc90a0900010a090002 c7ad12b7001c0000 1100ffff0000123400dd8cc9 1f000001 2dacaed7");
    static final Golden READ_REQUEST = new Golden(
            "READ request of rxe",
            "4500003ce4fb4000401141a10a0900010a090002 fad312b700280000 0c00ffff000023458086d4c7"
                    + "00000000100000000000077700002710 9443234e");
    static final Golden SEND = new Golden(
            "SEND that rxe has accepted",
            "4500003c000040004011269d0a0900020a090001 12b712b70028144e 0440ffff00000012806e2c5a"
                    + "00000000100000000000077700002710 ac7b656b");
    public static final Golden CONNECT_REQUEST = new Golden(
            "REQ that rxe has accepted",
            "4500013400004000401125a50a0900020a090001 12b712b701201546 6440ffff0000000100000000 8001000000000001"
                    + "010702030000000011223344000000010010000000000000"
                    + "5a5a0001000000000000000001061c06020000005a00010100000000000000000023450400000004000000a0654e73a7"
                    + "ffff37f0ffffffff00000000000000000000ffff0a09000200000000000000000000ffff0a0900010000000000400098"
                    + "00 {43 zero} 00409c410000000000000000000000000a0900020000000000000000000000000a090001 {56 zero}"
                    + "930fa951");
    public static final Golden CONNECT_REPLY = new Golden(
            "REP of rxe",
            "450001344bf040004011d9b40a0900010a090002 d87212b701200000 6400ffff0000000180000003 8001000000000001"
                    + "010702030000000011223344000000010013000000000000"
                    + "4c8b67535a5a00010000000000001200000000001d935d00040478e074ab38fffe802534 {196 zero} 6761f78c");
    public static final Golden DISCONNECT_REPLY = new Golden(
            "DREP of rxe",
            "450001344c2940004011d97b0a0900010a090002 d87212b701200000 6400ffff0000000180000004 8001000000000001"
                    + "010702030000000011223344000000020016000000000000 4c8b67535a5a0001 {224 zero} 3b2812af");
    static final List<Golden> ALL =
            List.of(CONGESTION, ACKNOWLEDGE, READ_REQUEST, SEND, CONNECT_REQUEST, CONNECT_REPLY, DISCONNECT_REPLY);

    private static final Pattern ZEROS = Pattern.compile("\\{(\\d+) zero}");

    private GoldenPackets() {}

    /// A packet.
    public record Golden(String name, String text) {
        /// A direct buffer with the whole of it.
        ByteBuffer datagram() {
            String digits = ZEROS.matcher(text).replaceAll(found -> "00".repeat(Integer.parseInt(found.group(1))));
            byte[] bytes = HexFormat.of().parseHex(digits.replace(" ", ""));
            return ByteBuffer.allocateDirect(bytes.length).put(bytes).clear();
        }

        /// What follows the IP and UDP headers.
        public ByteBuffer packet() {
            ByteBuffer datagram = datagram();
            return datagram.slice(28, datagram.capacity() - 28);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    /// Bytes as digits.
    public static String hex(ByteBuffer buffer, int at, int length) {
        byte[] bytes = new byte[length];
        buffer.get(at, bytes);
        return HexFormat.of().formatHex(bytes);
    }
}
