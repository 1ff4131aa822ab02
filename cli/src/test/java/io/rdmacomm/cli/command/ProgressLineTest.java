package io.rdmacomm.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

final class ProgressLineTest {
    private static final String ERASED = "\r\u001b[K";

    private final StringWriter printed = new StringWriter();
    private final PrintWriter err = new PrintWriter(printed);

    @Test
    void aTextDoesNotWrapSoItCanBeRemoved() {
        try (ProgressLine line = new ProgressLine(err, true)) {
            line.show("10 %");
            line.show("20 %");
        }

        assertThat(printed)
                .hasToString(ERASED + "\u001b[?7l10 % \u001b[?7h" + ERASED + "\u001b[?7l20 % \u001b[?7h" + ERASED);
    }

    @Test
    void nothingIsRemovedWhereNothingIsShown() {
        ProgressLine line = new ProgressLine(err, true);
        line.clear();
        assertThat(printed).hasToString("");

        line.show("10 %");
        line.clear();
        int length = printed.toString().length();
        line.close();
        assertThat(printed.toString()).hasSize(length);
    }

    @Test
    void withoutATerminalNothingIsPrinted() {
        try (ProgressLine line = new ProgressLine(err, false)) {
            line.show("10 %");
        }

        assertThat(printed).hasToString("");
    }

    @Test
    void aTerminalWithoutControlSequencesHasNoProgress() {
        assertThat(ProgressLine.hasControlSequences("xterm-256color")).isTrue();
        assertThat(ProgressLine.hasControlSequences("dumb")).isFalse();
        assertThat(ProgressLine.hasControlSequences("")).isFalse();
        assertThat(ProgressLine.hasControlSequences(null)).isFalse();
    }
}
