package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.cm.Wire;
import io.rdmacomm.soft.iwarp.Opcode;
import io.rdmacomm.soft.iwarp.ReadRequest;
import io.rdmacomm.soft.iwarp.SegmentHeader;
import io.rdmacomm.verbs.WorkStatus;
import java.util.HexFormat;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The first exchange when a software device and siw connect: the versions of the handshake, and the frame that
/// makes ready to receive.
class SiwPeerSetupTest {
    private static final byte[] HELLO = SiwEnds.HELLO;

    @AutoClose
    private final SiwEnds ends = new SiwEnds();

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void responderIsSilentUntilTheInitiatorHasSpoken(boolean checksums) throws Exception {
        ends.calledBySiw(checksums);
        ends.own.put("first");
        ends.send(6);
        // Nothing may be behind the reply: siw would give up. The peer speaks first.
        ends.peer.sendMessage(1, HELLO);
        ends.assertMessage(1, "first");
        assertThat(ends.own.statuses(2)).containsExactly(WorkStatus.SUCCESS, WorkStatus.SUCCESS);
        assertThat(ends.own.received()).isEqualTo("hello");
    }

    @Test
    void revisionOne() throws Exception {
        ends.called("0001 0000", "0001 0000");
        ends.peer.sendMessage(1, HELLO);
        assertThat(ends.own.succeeded(1).bytes()).isEqualTo(6);
        ends.own.put("answer");
        ends.send(7);
        ends.assertMessage(1, "answer");
    }

    @Test
    void hardwareSendsAReadyToReceiveWrite() throws Exception {
        ends.called("5002 0004 8001 c001", "5002 0004 8001 8001");
        ends.peer.withChecksums().send("000ec140 00000001 0000000000000000 ebd34c5f");
        ends.own.put("server speaks");
        ends.send(14);
        ends.assertMessage(1, "server speaks");
        ends.own.succeeded(7);
        assertThat(ends.own.isQuiet()).isTrue();
    }

    @Test
    void hardwareSendsAReadyToReceiveRead() throws Exception {
        ends.called("1002 0004 8001 4001", "1002 0004 8001 4001");
        ReadRequest nothing = new ReadRequest();
        nothing.sourceKey = 1;
        ends.peer.send(ends.peer.readRequest(1, nothing));
        assertThat(ends.peer.readFrame()).isEmpty();
        assertThat(ends.peer.header.opcode).isEqualTo(Opcode.READ_RESPONSE);
        assertThat(ends.own.isQuiet()).isTrue();
    }

    @Test
    void siwSpeaksRightBehindItsReply() throws Exception {
        ends.callingSiw("0018 4143 00000000 00000000 00000001 00000000" + "68656c6c6f00" + "0000"
                + checksumOf("00184143000000000000000000000001000000006865" + "6c6c6f000000"));
        assertThat(ends.own.succeeded(1).bytes()).isEqualTo(6);
        assertThat(ends.own.received()).isEqualTo("hello");
        ends.own.put("answer");
        ends.send(7);
        ends.assertMessage(1, "answer");
    }

    private static String checksumOf(String hex) {
        CRC32C crc = new CRC32C();
        crc.update(Wire.bytes(hex));
        return HexFormat.of().toHexDigits(Integer.reverseBytes((int) crc.getValue()));
    }

    @Test
    void initiatorSendsTheReadyToReceiveFrameThatWasChosen() throws Exception {
        ends.calling("5402 0004 8001 c001", "5002 0004 8001 8001");
        assertThat(ends.peer.readAnyFrame()).isEmpty();
        assertThat(ends.peer.header.opcode).isEqualTo(Opcode.WRITE);
        assertThat(ends.own.isQuiet()).isTrue();
    }

    /// siw does not notice frames that come right behind its reply before something else comes.
    @Test
    void aPeerThatOverlookedTheFirstFrameIsPrompted() throws Exception {
        ends.callingSiw("");
        ends.own.put("hello");
        ends.send(6);
        ends.assertMessage(1, "hello");
        for (int i = 0; i < 2; i++) {
            assertThat(ends.peer.readAnyFrame()).isEmpty();
            assertThat(ends.peer.header.opcode).isEqualTo(Opcode.WRITE);
        }
        ends.send(6);
        ends.assertMessage(2, "hello");
        assertThat(ends.connection.isConnected()).isTrue();
    }

    @Test
    void initiatorSendsAReadOfNothing() throws Exception {
        ends.calling("5402 0004 8001 c001", "5002 0004 8001 4001");
        ends.peer.readFrame();
        assertThat(ends.peer.header.opcode).isEqualTo(Opcode.READ_REQUEST);
        assertThat(ends.peer.readRequest.bytes).isZero();
        SegmentHeader response = new SegmentHeader();
        response.setTagged(
                Opcode.READ_RESPONSE, true, ends.peer.readRequest.sinkKey, ends.peer.readRequest.sinkAddress, 0);
        ends.peer.sendFrame(response, new byte[0]);
        ends.peer.sendMessage(1, HELLO);
        ends.own.succeeded(1);
        assertThat(ends.connection.isConnected()).isTrue();
    }
}
