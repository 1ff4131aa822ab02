package io.rdmacomm.cli.devices;

import io.rdmacomm.verbs.statistics.PublishedProcess;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The running processes at one moment.
///
/// @param folder the folder of the counters files
/// @param processes the processes
/// @param rows their channels, in the requested order
/// @param tcp the host's TCP statistics; null in the first sample, or if the kernel does not report them
/// @param problems counters files that could not be read, and why
record Sample(
        Path folder,
        List<PublishedProcess> processes,
        List<Row> rows,
        Sampler.@Nullable HostTcp tcp,
        List<String> problems) {
    /// Whether the rates of all rows are known.
    boolean isComplete() {
        return rows.stream().allMatch(row -> row.rates() != null);
    }

    /// How many channels had no room in the files of their processes.
    int leftOut() {
        return processes.stream().mapToInt(PublishedProcess::leftOut).sum();
    }
}
