package io.rdmacomm.soft.roce.mad;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.roce.wire.GoldenPackets;
import io.rdmacomm.soft.roce.wire.GoldenPackets.Golden;
import io.rdmacomm.verbs.Gid;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/// The messages of others are understood, and ours equal them, byte for byte, but where this side has a value of its
/// own.
class GoldenMessagesTest {
    private static final int HEADERS = 20;
    private static final long TRANSACTION = 0x1122_3344_0000_0001L;
    private static final int BODY = ManagementDatagram.HEADER_BYTES;

    private static ByteBuffer datagram(Golden golden) {
        return golden.packet().slice(HEADERS, ManagementDatagram.BYTES);
    }

    private static ConnectionMessage decode(Golden golden, long transaction) {
        ManagementDatagram found = ManagementDatagram.decode(datagram(golden));
        assertThat(found).isNotNull();
        assertThat(found.transaction()).isEqualTo(transaction);
        return found.message();
    }

    /// Where the bytes of this side differ, and what they are, by offset in the message.
    private static Map<Integer, Integer> differences(Golden golden) {
        ByteBuffer theirs = datagram(golden);
        ManagementDatagram found = ManagementDatagram.decode(theirs);
        assertThat(found).isNotNull();
        ByteBuffer ours = ByteBuffer.allocate(ManagementDatagram.BYTES);
        found.encode(ours);
        Map<Integer, Integer> differences = new TreeMap<>();
        for (int at = 0; at < ManagementDatagram.BYTES; at++) {
            if (ours.get(at) != theirs.get(at)) {
                differences.put(at - BODY, Byte.toUnsignedInt(ours.get(at)));
            }
        }
        return differences;
    }

    @Test
    void aRequest() {
        ConnectionMessage message = decode(GoldenPackets.CONNECT_REQUEST, TRANSACTION);
        assertThat(message)
                .usingRecursiveComparison()
                .isEqualTo(new ConnectRequest(
                        0x5a5a_0001,
                        0x0106_1c06,
                        0x0200_0000_5a00_0101L,
                        0x2345,
                        0x654e73,
                        new ReadDepths(4, 4),
                        /* reliable= */ true,
                        3,
                        7,
                        7,
                        19,
                        0,
                        Gid.ofIpv4(0x0a09_0002),
                        Gid.ofIpv4(0x0a09_0001),
                        new ProgramAddress(40001, Gid.ofIpv4(0x0a09_0002), Gid.ofIpv4(0x0a09_0001)),
                        new byte[56]));
    }

    @Test
    void aRequestIsWrittenAgain() {
        // End-to-end flow control, the time that this side takes, and the subnet.
        assertThat(differences(GoldenPackets.CONNECT_REQUEST))
                .containsExactly(Map.entry(43, 0xa1), Map.entry(47, 0x87), Map.entry(94, 0x08));
    }

    @Test
    void aReply() {
        assertThat(decode(GoldenPackets.CONNECT_REPLY, TRANSACTION))
                .usingRecursiveComparison()
                .isEqualTo(new ConnectReply(
                        0x4c8b_6753,
                        0x5a5a_0001,
                        0x12,
                        0x1d935d,
                        new ReadDepths(4, 4),
                        7,
                        0x74ab_38ff_fe80_2534L,
                        new byte[196]));
    }

    @Test
    void aReplyIsWrittenAgain() {
        // The time that rxe takes to acknowledge.
        assertThat(differences(GoldenPackets.CONNECT_REPLY)).containsExactly(Map.entry(26, 0));
    }

    @Test
    void aDisconnectReply() {
        assertThat(decode(GoldenPackets.DISCONNECT_REPLY, TRANSACTION + 1))
                .isEqualTo(new DisconnectReply(0x4c8b_6753, 0x5a5a_0001));
        assertThat(differences(GoldenPackets.DISCONNECT_REPLY)).isEmpty();
    }
}
