package io.rdmacomm.cli.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.cli.wire.Frame;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RingSizeTest {
    @Test
    void aSizeSurvivesItsFrame() {
        RingSize size = new RingSize(4096, 16);

        assertThat(RingSize.of(size.toHello("blocks"))).isEqualTo(size);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 1",
        "1, 0",
        "-1, 1",
        "67108865, 1",
        "1, 1025",
        "67108864, 17",
        "1099511627776, 1",
        "1, 4294967297",
    })
    void aPeerCannotAskForTooMuchMemory(long chunk, long depth) {
        Frame<CopyMessage> hello = Frame.of(CopyMessage.HELLO, CopyMessage.VERSION, chunk, depth);

        assertThatThrownBy(() -> RingSize.of(hello))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("is out of range");
    }

    @Test
    void anotherVersionIsRejected() {
        Frame<CopyMessage> hello = Frame.of(CopyMessage.HELLO, CopyMessage.VERSION + 1, 4096, 16);

        assertThatThrownBy(() -> RingSize.of(hello)).hasMessageContaining("different protocol");
    }
}
