package io.rdmacomm.soft.iwarp;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.Gid;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class PeerHandshakeTest {
    private static final byte[] PROGRAM_DATA = {1, 2, 3};
    private static final PeerHandshake REQUEST = new PeerHandshake(
            MpaFrame.Kind.REQUEST,
            PeerHandshake.Verdict.ACCEPTED,
            PeerHandshake.FEATURE_ATOMIC | PeerHandshake.FEATURE_ACKNOWLEDGE,
            65535,
            0x0102030405060708L,
            new UUID(11, 12),
            new QueuePairAddress(new Gid(21, 22), 54321, 0xabcdef),
            0x123456,
            0x654321,
            new QueuePairAddress(new Gid(31, 32), 65535, 0xfedcba));

    private static PeerHandshake reply(PeerHandshake.Verdict verdict) {
        return REQUEST.reply(verdict, 0, 128, PeerHandshake.NO_HOST);
    }

    @Test
    void comesBackAsItWasSent() {
        byte[] wire = REQUEST.appendTo(PROGRAM_DATA);
        assertThat(wire).hasSize(PROGRAM_DATA.length + PeerHandshake.BYTES);
        assertThat(PeerHandshake.find(wire)).isEqualTo(REQUEST);
        assertThat(PeerHandshake.withoutBlock(wire)).isEqualTo(PROGRAM_DATA);
        assertThat(REQUEST.has(PeerHandshake.FEATURE_ATOMIC)).isTrue();
        assertThat(REQUEST.has(PeerHandshake.FEATURE_IMMEDIATE)).isFalse();
        for (PeerHandshake.Verdict verdict : PeerHandshake.Verdict.values()) {
            assertThat(PeerHandshake.find(reply(verdict).appendTo(new byte[0]))).isEqualTo(reply(verdict));
        }
    }

    @Test
    void formatIsFixed() {
        byte[] wire = REQUEST.appendTo(new byte[0]);
        assertThat(Frames.hex(ByteBuffer.wrap(wire), 0, wire.length))
                .isEqualTo(Frames.plain("00000006 0000ffff 0102030405060708 000000000000000b 000000000000000c"
                        + "0000000000000015 0000000000000016 d431 01 00 00abcdef 00123456 00654321"
                        + "000000000000001f 0000000000000020 ffff 0000 00fedcba 0001 0064 72646d61636f6d6d"));
    }

    @Test
    void anEchoIsNoAnswer() {
        assertThat(REQUEST.answers(REQUEST)).isFalse();
        assertThat(reply(PeerHandshake.Verdict.BUSY).answers(REQUEST)).isTrue();
        assertThat(reply(PeerHandshake.Verdict.BUSY).source()).isEqualTo(REQUEST.destination());
        assertThat(reply(PeerHandshake.Verdict.BUSY).expectedPsn()).isEqualTo(REQUEST.firstPsn());
        byte[] other = REQUEST.appendTo(PROGRAM_DATA);
        other[PROGRAM_DATA.length + 8] ^= 1;
        PeerHandshake stale = Objects.requireNonNull(PeerHandshake.find(other))
                .reply(PeerHandshake.Verdict.ACCEPTED, 0, 128, PeerHandshake.NO_HOST);
        assertThat(stale.answers(REQUEST)).isFalse();
    }

    @Test
    void privateDataOfOthersIsLeftAlone() {
        for (int length : new int[] {0, 1, PeerHandshake.BYTES - 1, PeerHandshake.BYTES, 512}) {
            byte[] data = new byte[length];
            Arrays.fill(data, (byte) 0x64);
            assertThat(PeerHandshake.find(data)).isNull();
            assertThat(PeerHandshake.withoutBlock(data)).isEqualTo(data);
        }
    }

    @Test
    void damagedBlocksAreNoBlocks() {
        byte[] wire = REQUEST.appendTo(PROGRAM_DATA);
        // Version, length, magic.
        for (int fromEnd = 1; fromEnd <= 12; fromEnd++) {
            if (fromEnd == 11) {
                continue; // The low byte of the version: a later one, which is read.
            }
            byte[] damaged = wire.clone();
            damaged[wire.length - fromEnd] ^= (byte) 0x80;
            assertThat(PeerHandshake.find(damaged))
                    .as("byte %d from the end", fromEnd)
                    .isNull();
            assertThat(PeerHandshake.withoutBlock(damaged)).isEqualTo(damaged);
        }
        byte[] otherKind = wire.clone();
        otherKind[PROGRAM_DATA.length + 50] = 3;
        assertThat(PeerHandshake.find(otherKind)).isNull();
        for (int cut = 1; cut <= wire.length; cut++) {
            assertThat(PeerHandshake.find(Arrays.copyOf(wire, wire.length - cut)))
                    .isNull();
        }
    }

    @Test
    void laterVersionsPutNewFieldsInFront() {
        byte[] wire = REQUEST.appendTo(new byte[] {9, 8, 7, 6, 0, 0, 0, 42});
        wire[wire.length - 11] = 2;
        wire[wire.length - 9] = PeerHandshake.BYTES + 4;
        assertThat(PeerHandshake.find(wire)).isEqualTo(REQUEST);
        assertThat(PeerHandshake.withoutBlock(wire)).containsExactly(9, 8, 7, 6);
    }
}
