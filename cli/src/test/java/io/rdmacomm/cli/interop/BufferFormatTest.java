package io.rdmacomm.cli.interop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.cli.command.CommandFailure;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class BufferFormatTest {
    private static final BufferFormat.Buffer BUFFER =
            new BufferFormat.Buffer(0x0102030405060708L, 0x11121314, 0x21222324);

    @ParameterizedTest
    @CsvSource({
        "RPING, 01020304050607082122232411121314",
        "STRING_COPY, 08070605040302011413121124232221",
    })
    void theBytesAreThoseOfTheCProgram(BufferFormat format, String hex) {
        MemorySegment message = format.encode(BUFFER);

        assertThat(HexFormat.of().formatHex(message.toArray(ValueLayout.JAVA_BYTE)))
                .isEqualTo(hex);
        assertThat(format.decode(message)).isEqualTo(BUFFER);
    }

    @ParameterizedTest
    @EnumSource
    void aMessageOfAnotherLengthIsRejected(BufferFormat format) {
        for (int bytes : new int[] {0, 15, 17}) {
            MemorySegment message = MemorySegment.ofArray(new byte[bytes]);
            assertThatThrownBy(() -> format.decode(message))
                    .isInstanceOf(CommandFailure.class)
                    .hasMessageContaining("a message of " + bytes + " bytes");
        }
    }
}
