package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.CommandOutput;
import io.rdmacomm.cli.command.ResultFile;
import io.rdmacomm.cli.report.Baseline;
import io.rdmacomm.cli.report.BenchDocument;
import io.rdmacomm.cli.report.Grid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// The options of `rdmacomm bench` that present its results.
public final class ReportOptions {
    @Option(
            names = "--report",
            paramLabel = "FILE",
            description = "Write a page with charts to FILE, one HTML file that opens without a network.")
    private @Nullable Path page;

    @Option(
            names = "--baseline",
            paramLabel = "FILE",
            description = "Show the change since an earlier run, from its --json FILE, beside the noise of both.")
    private @Nullable Path baseline;

    private @Nullable BenchDocument earlier;

    boolean requested() {
        return page != null || baseline != null;
    }

    /// Reads the earlier run, and checks that the page can be written, before any work is done.
    void check() throws IOException {
        if (page != null) {
            ResultFile.check(page);
        }
        if (baseline != null) {
            if (!Files.isReadable(baseline)) {
                throw new CommandFailure(baseline + ": does not exist or cannot be read");
            }
            earlier = BenchDocument.read(baseline);
            if (earlier.figures().isEmpty()) {
                throw new CommandFailure(baseline
                        + ": has no figures to compare with. Was it written by an older version? Write it again with"
                        + " rdmacomm bench --json FILE");
            }
        }
    }

    /// Shows the change and writes the page, if the user asked for them.
    ///
    /// @param document the JSON document of the run
    /// @param quiet whether to print nothing
    void present(Map<String, Object> document, boolean quiet, CommandOutput output) throws IOException {
        BenchDocument run = new BenchDocument(document);
        Grid changes = new Grid("", List.of(), List.of());
        if (earlier != null) {
            changes = Baseline.compare(earlier.figures(), run.figures());
            if (changes.rows().isEmpty()) {
                output.complain("warning: this run and " + baseline + " have no figure in common; compare runs of the"
                        + " same tests, sizes and modes");
            } else if (!quiet) {
                output.println("");
                output.println(changes.text().stripTrailing());
                output.println("noise: the range of all rounds; of one round, the lowest and the highest fifth");
                output.println(Baseline.EXPLANATION);
            }
        }
        if (page != null) {
            run.page(changes).write(page);
        }
    }
}
