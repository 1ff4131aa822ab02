package io.rdmacomm.nio.rsocket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// A program may ask for any size, and gets a possible one.
class BufferSizesTest {
    private static final BufferSizes DEFAULTS = BufferSizes.defaults();

    @ParameterizedTest
    @CsvSource({"0, 4096", "-1, 4096", "4097, 4096", "65537, 65536", "2147483647, 268435456"})
    void aReceiveBufferIsEvenAndWithinItsLimits(int asked, int bytes) {
        assertThat(DEFAULTS.withReceive(asked).receive()).isEqualTo(bytes);
    }

    @ParameterizedTest
    @CsvSource({"0, 4096", "4097, 4097", "2147483647, 268435456"})
    void aSendBufferIsWithinItsLimits(int asked, int bytes) {
        assertThat(DEFAULTS.withSend(asked).send()).isEqualTo(bytes);
    }

    @ParameterizedTest
    @CsvSource({"0, 32", "100, 100", "2147483647, 32767"})
    void messagesAreWithinTheirLimits(int asked, int count) {
        assertThat(DEFAULTS.withMessages(asked).messages()).isEqualTo(count);
    }

    /// The private data has 8 bits for their number.
    @ParameterizedTest
    @CsvSource({
        "-1, 0",
        "1, 1",
        "128, 128",
        "129, 128",
        "255, 128",
        "256, 256",
        "511, 256",
        "32512, 32512",
        "99999, 32512"
    })
    void mappingsAreThoseThatThePrivateDataCanName(int asked, int count) {
        assertThat(DEFAULTS.withMappings(asked).mappings()).isEqualTo(count);
    }

    @Test
    void impossibleSizesOfAPeerAreRejected() {
        assertThatThrownBy(() -> new BufferSizes(4097, 4098, 4096, 112, 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new BufferSizes(4096, 4096, 4095, 112, 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new BufferSizes(4096, 4096, 4096, 31, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new BufferSizes(4096, 4096, 4096, 112, 129))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
