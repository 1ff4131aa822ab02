package io.rdmacomm.cli.rig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.cli.command.CommandFailure;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FrameCodecTest {
    private enum Kind {
        FIRST,
        SECOND
    }

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final FrameCodec<Kind> codec = new FrameCodec<>(0x52435431, Kind.class, "use the test");
    private final MemorySegment memory = MemorySegment.ofArray(new byte[FrameCodec.MAX_BYTES]);

    @Test
    void theWireFormatIsBigEndian() {
        int length = codec.write(Frame.of(Kind.SECOND, "hi", 7, -1), memory);

        assertThat(HexFormat.of().formatHex(memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE)))
                .isEqualTo("52435431" + "00000002" + "00000002" + "00000002" + "0000000000000007" + "ffffffffffffffff"
                        + "6869");
    }

    @Test
    void readsWhatItWrote() {
        Frame<Kind> frame = Frame.of(Kind.FIRST, "grüße", Long.MIN_VALUE, 0, Long.MAX_VALUE);

        int length = codec.write(frame, memory);

        assertThat(codec.length(memory)).isEqualTo(length);
        Frame<Kind> read = codec.read(memory.asSlice(0, length));
        assertThat(read.kind()).isEqualTo(frame.kind());
        assertThat(read.numbers()).isEqualTo(frame.numbers());
        assertThat(read.text()).isEqualTo("grüße");
    }

    @Test
    void textIsPrintableAndBytesAreWhatWasSent() {
        byte[] name = {'a', 0x1b, '[', '2', 'J', (byte) 0xff, (byte) 0xc2, (byte) 0x9b};

        int length = codec.write(Frame.of(Kind.FIRST, name), memory);
        Frame<Kind> frame = codec.read(memory.asSlice(0, length));

        assertThat(frame.text()).isEqualTo("a?[2J\ufffd?");
        assertThat(frame.bytes()).isEqualTo(name);
    }

    @Test
    void theLongestFrameFits() {
        Frame<Kind> frame = Frame.of(Kind.FIRST, "x".repeat(5000), new long[16]);

        assertThat(codec.write(frame, memory)).isEqualTo(FrameCodec.MAX_BYTES);
        assertThat(codec.read(memory).text()).isEqualTo("x".repeat(1024));
        assertThatThrownBy(() -> Frame.of(Kind.FIRST, new long[17])).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0x52435432", // magic
        "4, 0", // kind
        "4, 3",
        "4, -1",
        "8, -1", // numbers
        "8, 17",
        "12, -1", // text
        "12, 1025",
    })
    void aHeaderWithAnInvalidFieldIsRejected(int offset, String value) {
        codec.write(Frame.of(Kind.FIRST, "text", 1), memory);
        memory.set(INT, offset, Integer.decode(value));

        assertThatThrownBy(() -> codec.read(memory))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("different protocol")
                .hasMessageContaining("use the test");
    }

    @Test
    void aTruncatedFrameIsRejected() {
        int length = codec.write(Frame.of(Kind.FIRST, "text", 1), memory);

        for (int bytes = 0; bytes < length; bytes++) {
            MemorySegment truncated = memory.asSlice(0, bytes);
            assertThatThrownBy(() -> codec.read(truncated)).isInstanceOf(CommandFailure.class);
        }
    }

    @Test
    void aMissingNumberIsReported() {
        assertThatThrownBy(() -> Frame.of(Kind.SECOND, 1, 2).number(2))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("incomplete SECOND message");
    }
}
