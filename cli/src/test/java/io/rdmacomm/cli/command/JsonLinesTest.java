package io.rdmacomm.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

class JsonLinesTest {
    private final StringWriter file = new StringWriter();
    private final StringWriter standard = new StringWriter();

    private CommandOutput output() {
        PrintWriter writer = new PrintWriter(standard);
        return new CommandOutput(writer, writer, "watch");
    }

    @Test
    void eachObjectIsALineAtOnce() throws Exception {
        JsonLines lines = new JsonLines(file, null);

        lines.write(Map.of("event", "PORT_ERROR"));
        assertThat(file.toString().lines()).containsExactly("{\"event\":\"PORT_ERROR\"}");
        lines.write(Map.of("event", "PORT_ACTIVE"));

        assertThat(file.toString().lines())
                .containsExactly("{\"event\":\"PORT_ERROR\"}", "{\"event\":\"PORT_ACTIVE\"}");
    }

    @Test
    void aDashIsTheStandardOutputAndNothingIsNowhere() throws Exception {
        write("--json", "-");
        assertThat(standard.toString().lines()).containsExactly("{\"event\":\"PORT_ERROR\"}");

        write();
        assertThat(standard.toString().lines()).hasSize(1);
    }

    private void write(String... words) throws Exception {
        With command = CommandLine.populateCommand(new With(), words);
        try (JsonLines lines = command.json.lines(output())) {
            lines.write(Map.of("event", "PORT_ERROR"));
        }
    }

    @Command
    private static final class With {
        @Mixin
        private final JsonOption json = new JsonOption();
    }
}
