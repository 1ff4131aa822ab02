package io.rdmacomm.soft.iwarp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MpaFrameTest {
    private static final String REQUEST_KEY = "4d504120494420526571204672616d65";
    private static final String REPLY_KEY = "4d504120494420526570204672616d65";
    private static final EnhancedSetup ONE = new EnhancedSetup(false, false, false, false, 1, 1);

    private static MpaFrame read(MpaFrame.Kind kind, String hex) throws MpaException {
        MpaFrameReader reader = new MpaFrameReader(kind);
        ByteBuffer bytes = ByteBuffer.wrap(Frames.bytes(hex));
        while (!reader.advance()) {
            ByteBuffer into = reader.buffer();
            if (!bytes.hasRemaining()) {
                throw new AssertionError("the reader wants more than the frame has");
            }
            into.put(bytes.get());
        }
        assertThat(bytes.hasRemaining()).as("bytes left over").isFalse();
        return reader.frame();
    }

    @Test
    void requestOfRping() throws MpaException {
        MpaFrame request = MpaFrame.of(MpaFrame.Kind.REQUEST, ONE, true, new byte[0]);
        assertThat(HexFormat.of().formatHex(request.encode().array()))
                .isEqualTo(Frames.plain(REQUEST_KEY + "5002 0004 0001 0001"));
        MpaFrame found = read(MpaFrame.Kind.REQUEST, REQUEST_KEY + "5002 0004 0001 0001");
        assertThat(found.revision()).isEqualTo(2);
        assertThat(found.wantsChecksum()).isTrue();
        assertThat(found.wantsMarkers()).isFalse();
        assertThat(found.isRejected()).isFalse();
        assertThat(found.enhanced()).isEqualTo(ONE);
        assertThat(found.privateData()).isEmpty();
    }

    @Test
    void privateDataOfAllLengths() throws MpaException {
        for (int length : new int[] {0, 1, 251, 508}) {
            byte[] data = new byte[length];
            Arrays.fill(data, (byte) 0x5a);
            MpaFrame sent = MpaFrame.of(MpaFrame.Kind.REPLY, ONE, false, data);
            MpaFrame found = read(
                    MpaFrame.Kind.REPLY, HexFormat.of().formatHex(sent.encode().array()));
            assertThat(found.privateData()).isEqualTo(data);
            assertThat(found.enhanced()).isEqualTo(ONE);
        }
        assertThatThrownBy(() -> MpaFrame.of(MpaFrame.Kind.REPLY, ONE, false, new byte[509]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("508");
        MpaFrame plain = MpaFrame.of(MpaFrame.Kind.REPLY, null, false, new byte[512]);
        assertThat(read(
                                MpaFrame.Kind.REPLY,
                                HexFormat.of().formatHex(plain.encode().array()))
                        .privateData())
                .hasSize(512);
    }

    @Test
    void revisionOneHasNoEnhancedBlock() throws MpaException {
        MpaFrame found = read(MpaFrame.Kind.REQUEST, REQUEST_KEY + "1001 0004 01020304");
        assertThat(found.enhanced()).isNull();
        assertThat(found.privateData()).containsExactly(1, 2, 3, 4);
        // Revision 2 without the bit for it has none either.
        assertThat(read(MpaFrame.Kind.REQUEST, REQUEST_KEY + "0002 0002 0102").privateData())
                .containsExactly(1, 2);
    }

    @Test
    void rejection() throws MpaException {
        MpaFrame sent = MpaFrame.rejection(ONE, new byte[] {9});
        MpaFrame found =
                read(MpaFrame.Kind.REPLY, HexFormat.of().formatHex(sent.encode().array()));
        assertThat(found.isRejected()).isTrue();
        assertThat(found.privateData()).containsExactly(9);
        // In a request the bit means nothing.
        assertThat(read(MpaFrame.Kind.REQUEST, REQUEST_KEY + "2001 0000").isRejected())
                .isFalse();
    }

    @Test
    void onlyARequestAsksForAHandshake() throws MpaException {
        MpaFrame asking =
                MpaFrame.of(MpaFrame.Kind.REQUEST, ONE, true, new byte[] {7}).askingForHandshake();
        assertThat(Frames.hex(asking.encode(), 16, 9)).isEqualTo(Frames.plain("5402 0005 0001 0001 07"));
        assertThat(read(MpaFrame.Kind.REQUEST, REQUEST_KEY + "5402 0005 0001 0001 07")
                        .asksForHandshake())
                .isTrue();
        assertThat(read(MpaFrame.Kind.REQUEST, REQUEST_KEY + "5002 0004 0001 0001")
                        .asksForHandshake())
                .isFalse();
        // siw sends back whatever bits it got.
        assertThat(read(MpaFrame.Kind.REPLY, REPLY_KEY + "5402 0004 0001 0001").asksForHandshake())
                .isFalse();
    }

    @Test
    void enhancedBits() throws MpaException {
        MpaFrame found = read(MpaFrame.Kind.REQUEST, REQUEST_KEY + "1002 0004 8010 ffff");
        assertThat(found.enhanced()).isEqualTo(new EnhancedSetup(true, false, true, true, 16, 0x3fff));
        MpaFrame sent = MpaFrame.of(
                MpaFrame.Kind.REQUEST, new EnhancedSetup(true, true, false, true, 3, 4), false, new byte[0]);
        assertThat(Frames.hex(sent.encode(), 20, 4)).isEqualTo("c0034004");
        assertThatThrownBy(() -> new EnhancedSetup(false, false, false, false, 0x4000, 0))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @CsvSource({
        "474554202f20485454502f312e310d0a, NOT_MPA",
        "00, NOT_MPA",
        REQUEST_KEY + "1003 0000, REVISION",
        REQUEST_KEY + "1000 0000, REVISION",
        REQUEST_KEY + "10ff 0000, REVISION",
        REQUEST_KEY + "1002 0201, PRIVATE_DATA_TOO_LONG",
        REQUEST_KEY + "1002 ffff, PRIVATE_DATA_TOO_LONG",
        REQUEST_KEY + "1002 0003, NO_ENHANCED_BLOCK",
        REPLY_KEY + "1002 0004, OTHER_KIND",
    })
    void violations(String hex, MpaViolation expected) {
        assertThatThrownBy(() -> read(MpaFrame.Kind.REQUEST, hex)).isInstanceOfSatisfying(MpaException.class, e -> {
            assertThat(e.violation()).isEqualTo(expected);
            assertThat(e).hasMessage("the peer " + expected);
        });
    }

    @Test
    void garbageIsFoundAtItsFirstByte() throws MpaException {
        MpaFrameReader reader = new MpaFrameReader(MpaFrame.Kind.REQUEST);
        reader.buffer().put((byte) 'M').put((byte) 'P');
        assertThat(reader.advance()).isFalse();
        reader.buffer().put((byte) 'X');
        assertThatThrownBy(reader::advance).isInstanceOf(MpaException.class);
    }

    @Test
    void asksForNoByteBehindTheFrame() throws MpaException {
        byte[] stream = Frames.bytes(REPLY_KEY + "1002 0006 0001 0001 aabb" + Frames.SEND.hex());
        MpaFrameReader reader = new MpaFrameReader(MpaFrame.Kind.REPLY);
        int at = 0;
        while (!reader.advance()) {
            ByteBuffer into = reader.buffer();
            int length = into.remaining();
            into.put(stream, at, length);
            at += length;
        }
        assertThat(at).isEqualTo(26);
        assertThat(reader.frame().privateData()).containsExactly(0xaa, 0xbb);
    }

    @Test
    void incompleteFrameCannotBeTaken() {
        assertThatThrownBy(new MpaFrameReader(MpaFrame.Kind.REPLY)::frame).isInstanceOf(IllegalStateException.class);
    }
}
