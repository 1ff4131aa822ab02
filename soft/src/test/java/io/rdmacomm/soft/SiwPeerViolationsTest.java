package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.cm.Wire;
import io.rdmacomm.soft.iwarp.Opcode;
import io.rdmacomm.soft.iwarp.ReadRequest;
import io.rdmacomm.soft.iwarp.SegmentHeader;
import io.rdmacomm.soft.iwarp.TerminateCode;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.WorkStatus;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.SocketException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Frames that a peer must not send, and memory that it may not reach: it loses its connection, no more, and the
/// software device says why with a Terminate.
class SiwPeerViolationsTest {
    private static final Duration LONG = AddressEnd.LONG;
    private static final byte[] HELLO = SiwEnds.HELLO;

    @AutoClose
    private final SiwEnds ends = new SiwEnds();

    @Test
    void writeWithAForgedKey() throws Exception {
        assertWriteRefused(
                ends.own.region.remoteKey() ^ 0x5a5a, ends.own.region.address(), TerminateCode.TAGGED_INVALID_KEY);
    }

    @Test
    void writeBeyondTheRegion() throws Exception {
        assertWriteRefused(
                ends.own.region.remoteKey(),
                ends.own.region.address() + 2L * AddressEnd.HALF - 3,
                TerminateCode.TAGGED_OUT_OF_BOUNDS);
    }

    private void assertWriteRefused(int key, long address, TerminateCode code) throws Exception {
        ends.calledBySiw(false);
        SegmentHeader write = new SegmentHeader();
        write.setTagged(Opcode.WRITE, true, key, address, 4);
        ends.peer.sendFrame(write, new byte[4]);
        assertTerminated(code);
        assertThat(ends.own.next().status()).isEqualTo(WorkStatus.FLUSHED);
    }

    @Test
    void readWithAForgedKey() throws Exception {
        ends.calledBySiw(false);
        ReadRequest read = new ReadRequest();
        read.bytes = 4;
        read.sourceKey = ends.own.region.remoteKey() ^ 0x5a5a;
        read.sourceAddress = ends.own.region.address();
        ends.peer.send(ends.peer.readRequest(1, read));
        assertTerminated(TerminateCode.INVALID_KEY);
    }

    /// The memory of a Write goes while it comes in, in the middle of a Send: that is not the receive's fault.
    @Test
    void memoryOfAWriteInsideASendGoes() throws Exception {
        ends.calledBySiw(false);
        ends.peer.sendPart(1, 0, false, Arrays.copyOf(HELLO, 2));
        MemoryRegion target = ends.own.domain.allocate(64, AccessFlag.allRemote());
        SegmentHeader write = new SegmentHeader();
        write.setTagged(Opcode.WRITE, true, target.remoteKey(), target.address(), 8);
        String frame = ends.peer.frame(write, new byte[] {1, 2, 3, 4, 5, 6, 7, 8});
        ends.peer.send(frame.substring(0, 2 * (16 + 4)));
        ends.own.await(() -> target.segment().get(ValueLayout.JAVA_BYTE, 3) == 4);
        target.close();
        ends.peer.send(frame.substring(2 * (16 + 4)));
        assertTerminated(TerminateCode.TAGGED_INVALID_KEY);
        assertThat(ends.own.next().status()).isEqualTo(WorkStatus.FLUSHED);
    }

    @Test
    void sendWithoutReceive() throws Exception {
        ends.calledBySiw(false);
        ends.peer.sendMessage(1, HELLO);
        ends.own.succeeded(1);
        ends.peer.sendMessage(2, HELLO);
        assertTerminated(TerminateCode.NO_RECEIVE);
    }

    @Test
    void wrongChecksum() throws Exception {
        ends.calledBySiw(true);
        String frame = ends.peer.message(1, HELLO);
        ends.peer.send(frame.substring(0, frame.length() - 2) + (frame.endsWith("00") ? "01" : "00"));
        assertTerminated(TerminateCode.CHECKSUM);
        assertThat(ends.own.next().status()).isEqualTo(WorkStatus.FLUSHED);
    }

    @ParameterizedTest
    @CsvSource({
        "0012 4143 00000000 00000000 00000005 00000000, MESSAGE_NUMBER",
        "0012 4143 00000000 00000000 00000001 00000004, MESSAGE_OFFSET",
        "0012 4143 00000000 00000003 00000001 00000000, UNTAGGED_QUEUE",
        "0012 4243 00000000 00000000 00000001 00000000, UNTAGGED_VERSION",
        "0012 4183 00000000 00000000 00000001 00000000, RDMAP_VERSION",
        "0012 414f 00000000 00000000 00000001 00000000, UNEXPECTED_OPCODE",
        "0012 414c 00000000 00000000 00000001 00000000, UNEXPECTED_OPCODE",
        "001a 414e 00000000 00000004 00000001 00000000 0000000000000000, UNEXPECTED_OPCODE",
        "0004 4143 00000000, FRAME_LENGTH",
        "000e c142 aabbcc00 0000000000001000, UNEXPECTED_OPCODE",
    })
    void violations(String frame, TerminateCode code) throws Exception {
        ends.calledBySiw(false);
        ends.peer.send(frame + "00000000" + "0000");
        do {
            ends.peer.readFrame();
        } while (ends.peer.header.opcode != Opcode.TERMINATE);
        assertThat(ends.peer.terminate.code.layer()).isEqualTo(code.layer());
        assertThat(ends.peer.terminate.code).isEqualTo(code);
        assertThat(ends.peer.wire.isEnded()).isTrue();
        assertThat(ends.connection.awaitDisconnect(LONG)).isTrue();
    }

    private void assertTerminated(TerminateCode code) throws IOException, InterruptedException {
        do {
            ends.peer.readFrame();
        } while (ends.peer.header.opcode != Opcode.TERMINATE);
        assertThat(ends.peer.terminate.code).isEqualTo(code);
        assertThat(ends.peer.wire.isEnded()).isTrue();
        assertThat(ends.connection.awaitDisconnect(LONG)).isTrue();
        assertThat(ends.own.pair.state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    void responseOfTheWrongLength() throws Exception {
        ends.calledBySiw(false);
        ends.peer.sendMessage(1, HELLO);
        ends.own.succeeded(1);
        ends.own.put("untouched");
        ends.own.post(
                ends.own.batch().read(2, 0x1000, 5).with(ends.own.region, 0, 4).signaled());
        ends.peer.readFrame();
        ends.peer.answerRead(new byte[8], 1);
        assertThat(ends.own.next().status()).isNotEqualTo(WorkStatus.SUCCESS);
        assertThat(ends.own.region.segment().getString(0)).isEqualTo("untouched");
        assertThat(ends.connection.awaitDisconnect(LONG)).isTrue();
    }

    @Test
    void mutatedFramesCostTheirConnectionOnly() throws Exception {
        long seed = Long.getLong("rdma.fuzz.seed", System.nanoTime());
        int streams = Integer.getInteger("rdma.fuzz.streams", 60);
        Random random = new Random(seed);
        for (int i = 0; i < streams; i++) {
            ends.own.region.segment().fill((byte) 0);
            ends.calledBySiw(false);
            sendMutated(random);
            ends.peer.close();
            assertThat(ends.connection.awaitDisconnect(LONG))
                    .as("seed %d, stream %d", seed, i)
                    .isTrue();
            assertThat(ends.own.pair.state()).isEqualTo(QueuePairState.ERROR);
            ends.connection.close();
            ends.own.renew();
        }
        ends.calledBySiw(false);
        ends.peer.sendMessage(1, HELLO);
        ends.own.succeeded(1);
    }

    private void sendMutated(Random random) {
        ReadRequest read = new ReadRequest();
        read.bytes = 16;
        read.sourceKey = ends.own.region.remoteKey();
        read.sourceAddress = ends.own.region.address();
        SegmentHeader write = new SegmentHeader();
        write.setTagged(Opcode.WRITE, true, ends.own.region.remoteKey(), ends.own.region.address(), 16);
        String stream =
                ends.peer.message(1, HELLO) + ends.peer.readRequest(1, read) + ends.peer.frame(write, new byte[16]);
        byte[] bytes = Wire.bytes(stream);
        for (int m = 1 + random.nextInt(4); m > 0; m--) {
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
        }
        try {
            ends.peer.send(HexFormat.of().formatHex(bytes, 0, random.nextInt(bytes.length + 1)));
        } catch (IOException e) {
            // It was ended while the rest was being sent.
            assertThat(e).isInstanceOf(SocketException.class);
        }
    }
}
