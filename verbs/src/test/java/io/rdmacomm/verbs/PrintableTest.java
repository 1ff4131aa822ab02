package io.rdmacomm.verbs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PrintableTest {
    @ParameterizedTest
    @ValueSource(
            ints = {
                0, '\t', '\n', '\r', 0x1b, 0x07, 0x7f, 0x85, 0x9b, 0xad, 0x200d, 0x202e, 0x2028, 0x2029, 0xd83d, 0xdc00,
                0xfeff, 0xe0041, 0x378
            })
    void replacesWhatControlsATerminal(int character) {
        String text = "a" + Character.toString(character) + "b";

        assertThat(Printable.text(text)).isEqualTo("a?b");
        assertThat(Printable.is(text)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "name", "grüße", "日本語", "𝔘", "a b", "\ufffd", "e\u0301", "\ue000"})
    void leavesTextAlone(String text) {
        assertThat(Printable.text(text)).isSameAs(text);
        assertThat(Printable.text(text.getBytes(UTF_8))).isEqualTo(text);
        assertThat(Printable.is(text)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"c09b", "eda0bd", "ff", "f4908080", "c2"})
    void replacesWhatIsNotUtf8(String bytes) {
        assertThat(Printable.text(HexFormat.of().parseHex(bytes))).isNotEmpty().matches("\ufffd+");
    }

    @Test
    void cutsLongText() {
        assertThat(Printable.text("grüße".getBytes(UTF_8), 4)).isEqualTo("grü");
        assertThat(Printable.text("grüße".getBytes(UTF_8), 3)).isEqualTo("gr\ufffd");
    }

    @Test
    void randomBytesBecomePrintable() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 10_000; i++) {
            byte[] bytes = new byte[random.nextInt(16)];
            random.nextBytes(bytes);
            String text = Printable.text(bytes);
            assertThat(Printable.is(text))
                    .as("seed %d, run %d: %s", seed, i, text)
                    .isTrue();
        }
    }
}
