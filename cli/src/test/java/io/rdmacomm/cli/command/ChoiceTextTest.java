package io.rdmacomm.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.WorkMode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class ChoiceTextTest {
    @Test
    void wordsAreSeparatedByHyphens() {
        assertThat(ChoiceText.of(WorkMode.COMPLETION_CHANNEL)).isEqualTo("completion-channel");
    }

    @ParameterizedTest
    @EnumSource
    void everyChoiceHasItsText(WorkMode mode) {
        assertThat(ChoiceText.parse(WorkMode.class, ChoiceText.of(mode))).isEqualTo(mode);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "poll", "POLLING", "completion_channel", "epoll "})
    void anUnknownTextIsRejectedWithAllChoices(String text) {
        assertThatThrownBy(() -> ChoiceText.parse(WorkMode.class, text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessage("'" + text + "' is not one of polling, completion-channel, epoll and adaptive");
    }
}
