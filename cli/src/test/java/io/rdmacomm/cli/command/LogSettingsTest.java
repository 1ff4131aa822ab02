package io.rdmacomm.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
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
    void theFormerVariableCountsWithoutTheOwnOne() {
        assertThat(LogSettings.level(Map.of("RCL_MAX_VLOG_LEVEL", "3"))).isEqualTo(3);
        assertThat(LogSettings.level(Map.of("RCL_MAX_VLOG_LEVEL", "3", "RDMACOMM_LOG_LEVEL", "1")))
                .isEqualTo(1);
        assertThat(LogSettings.level(Map.of())).isZero();
    }

    @Test
    void withoutANumberTheLevelIsZero() {
        assertThat(LogSettings.parse(null)).isZero();
        assertThat(LogSettings.parse("")).isZero();
        assertThat(LogSettings.parse("debug")).isZero();
    }
}
