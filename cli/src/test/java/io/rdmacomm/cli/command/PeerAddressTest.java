package io.rdmacomm.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class PeerAddressTest {
    @ParameterizedTest
    @CsvSource({
        "node7, node7, 2020, node7:2020",
        "node7:1, node7, 1, node7:1",
        "10.0.0.1:65535, 10.0.0.1, 65535, 10.0.0.1:65535",
        "fd00::2, fd00::2, 2020, [fd00::2]:2020",
        "[fd00::2], fd00::2, 2020, [fd00::2]:2020",
        "[fd00::2]:7, fd00::2, 7, [fd00::2]:7",
    })
    void parsesHostAndPort(String text, String host, int port, String printed) {
        PeerAddress address = PeerAddress.parse(text);

        assertThat(address.host()).isEqualTo(host);
        assertThat(address.port()).isEqualTo(port);
        assertThat(address).hasToString(printed);
    }

    @Test
    void aGivenPortHasPrecedenceOverTheDefault() {
        assertThat(PeerAddress.parse("node7").port(7174)).isEqualTo(7174);
        assertThat(PeerAddress.parse("node7:1").port(7174)).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", ":1", "node7:", "node7:0", "node7:65536", "node7:x", "no de", "[fd00::2", "[fd00::2]x:1"})
    void rejectsEverythingElse(String text) {
        assertThatThrownBy(() -> PeerAddress.parse(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining("'" + text + "' is not a valid address");
    }
}
