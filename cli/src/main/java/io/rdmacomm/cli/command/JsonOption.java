package io.rdmacomm.cli.command;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// The option `--json`.
public final class JsonOption {
    private static final int SCHEMA = 1;

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description = "Write the result to FILE as JSON; with -, to the standard output instead of text.")
    private @Nullable String target;

    public boolean requested() {
        return target != null;
    }

    /// Whether the JSON goes to the standard output, which must then contain nothing else.
    public boolean ownsStandardOutput() {
        return "-".equals(target);
    }

    /// Checks that the file can be written, before any work is done.
    ///
    /// @throws io.rdmacomm.cli.command.CommandFailure if it cannot
    public void check() {
        if (target != null && !ownsStandardOutput()) {
            ResultFile.check(FileName.path(target));
        }
    }

    /// Where a command writes an object for each event, if the user asked for it. Overwrites an existing file.
    ///
    /// @return the lines, which the caller must close
    public JsonLines lines(CommandOutput output) throws IOException {
        if (target == null || ownsStandardOutput()) {
            return new JsonLines(null, target == null ? null : output);
        }
        return new JsonLines(Files.newBufferedWriter(FileName.path(target), StandardCharsets.UTF_8), null);
    }

    /// Writes the result, with the environment that it depends on, if the user asked for it.
    ///
    /// @param provider the provider that was used; empty if there was none
    /// @param device the device that was used; empty if there was none
    /// @param result the members of the document besides `schema` and `environment`
    public void write(String provider, String device, Map<String, Object> result, CommandOutput output)
            throws IOException {
        write(document(provider, device, result), output);
    }

    /// The whole document; see [#write(String, String, Map, CommandOutput)].
    public static Map<String, Object> document(String provider, String device, Map<String, Object> result) {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("schema", SCHEMA);
        document.put("environment", Environment.describe(provider, device));
        document.putAll(result);
        return document;
    }

    /// Writes a document, if the user asked for it.
    public void write(Map<String, Object> document, CommandOutput output) throws IOException {
        if (target == null) {
            return;
        }
        String text = JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(document);
        if (ownsStandardOutput()) {
            output.println(text);
        } else {
            Files.writeString(FileName.path(target), text + System.lineSeparator(), StandardCharsets.UTF_8);
        }
    }
}
