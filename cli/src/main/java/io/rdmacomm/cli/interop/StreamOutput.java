package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.CommandOutput;
import io.rdmacomm.cli.command.ProgressLine;
import java.util.ArrayList;
import java.util.List;

/// Collects the results of a client, shows them as a table, and shows which test is running.
final class StreamOutput implements StreamEnd.Listener, AutoCloseable {
    private final CommandOutput output;
    private final boolean text;
    private final ProgressLine progress;
    private final List<StreamResult> results = new ArrayList<>();

    /// @param text whether to print the table
    StreamOutput(CommandOutput output, boolean text) {
        this.output = output;
        this.text = text;
        this.progress = new ProgressLine(output.err());
    }

    @Override
    public void onBegin(StreamTest test) {
        progress.show(test.name() + " ...");
    }

    @Override
    public void onEnd(StreamResult result) {
        progress.clear();
        if (text && results.isEmpty()) {
            output.println(StreamResult.HEADER);
        }
        if (text) {
            output.println(result.line());
        }
        results.add(result);
    }

    List<StreamResult> results() {
        return List.copyOf(results);
    }

    @Override
    public void close() {
        progress.close();
    }
}
