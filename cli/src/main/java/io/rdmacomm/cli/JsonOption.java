package io.rdmacomm.cli;

import com.fasterxml.jackson.jr.ob.JSON;
import io.rdmacomm.cli.terminal.CommandFailure;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// The option for output that machines read.
final class JsonOption {
    @Option(
            names = "--json",
            paramLabel = "FILE",
            description =
                    "Write the result as JSON to FILE; - is the standard output, and then nothing else goes there.")
    private @Nullable String target;

    boolean requested() {
        return target != null;
    }

    /// Whether the standard output belongs to the JSON, so that text for people has no place there.
    boolean ownsStandardOutput() {
        return "-".equals(target);
    }

    /// Checks that the file can be written, before work is done for it.
    void check() throws IOException {
        if (target != null && !ownsStandardOutput()) {
            Path parent = Path.of(target).toAbsolutePath().getParent();
            if (parent == null || !Files.isDirectory(parent)) {
                throw new CommandFailure(target + ": its folder does not exist, so the JSON cannot be written there");
            }
            if (Files.isDirectory(Path.of(target))) {
                throw new CommandFailure(target + ": is a folder, so the JSON cannot be written there");
            }
        }
    }

    /// Writes `document`, if it was asked for.
    void write(Map<String, Object> document, PrintWriter standardOutput) throws IOException {
        if (target == null) {
            return;
        }
        String text = JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(document);
        if (ownsStandardOutput()) {
            standardOutput.println(text);
            standardOutput.flush();
        } else {
            Files.writeString(Path.of(target), text + System.lineSeparator(), StandardCharsets.UTF_8);
        }
    }
}
