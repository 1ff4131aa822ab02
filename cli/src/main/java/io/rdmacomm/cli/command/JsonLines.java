package io.rdmacomm.cli.command;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.Closeable;
import java.io.IOException;
import java.io.Writer;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The JSON of a command that reports events while it runs: one object per line, each written at once.
public final class JsonLines implements Closeable {
    private final @Nullable Writer file;
    private final @Nullable CommandOutput output;

    /// @param file receives the lines, and is closed with this object; null for none
    /// @param output receives the lines if there is no file; null for none
    JsonLines(@Nullable Writer file, @Nullable CommandOutput output) {
        this.file = file;
        this.output = output;
    }

    /// Writes one object.
    ///
    /// @throws IOException if the file cannot be written
    /// @throws io.rdmacomm.cli.command.LostOutput if the standard output cannot be written
    public void write(Map<String, Object> members) throws IOException {
        String line = JSON.std.asString(members);
        if (file != null) {
            file.write(line + System.lineSeparator());
            file.flush();
        } else if (output != null) {
            output.println(line);
        }
    }

    @Override
    public void close() throws IOException {
        if (file != null) {
            file.close();
        }
    }
}
