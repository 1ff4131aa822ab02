package io.rdmacomm.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class ByteSizeTest {
    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "4096, 4096",
        "64k, 65536",
        "64K, 65536",
        "64KiB, 65536",
        "64kb, 65536",
        "8M, 8388608",
        "1g, 1073741824",
        "2T, 2199023255552",
        "' 12 ', 12",
        "7B, 7",
    })
    void parsesNumbersWithUnits(String text, long bytes) {
        assertThat(ByteSize.parse(text)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "k", "B", "-1", "+1", "1.5k", "8x", "8 kk", "9223372036854775808", "8388608T"})
    void rejectsEverythingElse(String text) {
        assertThatThrownBy(() -> ByteSize.parse(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining("'" + text + "' is not a size");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0 B",
        "1023, 1023 B",
        "1024, 1 KiB",
        "1536, 1.5 KiB",
        "1048576, 1 MiB",
        "1073741824, 1 GiB",
        "9223372036854775807, 8388608 TiB",
    })
    void formatsWithTheLargestUnit(long bytes, String text) {
        assertThat(ByteSize.format(bytes)).isEqualTo(text);
    }
}
