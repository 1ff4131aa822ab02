package io.rdmacomm.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LogSettingsTest {
    @Test
    void theLevelIsLimited() {
        assertThat(LogSettings.parse("3")).isEqualTo(3);
        assertThat(LogSettings.parse(" 5 ")).isEqualTo(5);
        assertThat(LogSettings.parse("99")).isEqualTo(5);
        assertThat(LogSettings.parse("-1")).isZero();
    }

    @Test
    void withoutANumberTheLevelIsZero() {
        assertThat(LogSettings.parse(null)).isZero();
        assertThat(LogSettings.parse("")).isZero();
        assertThat(LogSettings.parse("debug")).isZero();
    }
}
