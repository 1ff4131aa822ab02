package io.rdmacomm.cli.devices;

import io.rdmacomm.verbs.counters.ProcessRecord;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The running processes at one moment.
///
/// @param processes the processes
/// @param rows their channels, in the order that was asked for
/// @param tcp the TCP of the host; null at the first sample, or where the kernel does not show it
/// @param problems counters files that could not be read, and why
record Sample(List<ProcessRecord> processes, List<Row> rows, Sampler.@Nullable HostTcp tcp, List<String> problems) {
    /// Whether the rates of all rows are known.
    boolean isComplete() {
        return rows.stream().allMatch(row -> row.rates() != null);
    }

    /// How many channels had no room in their process' file.
    int leftOut() {
        return processes.stream().mapToInt(ProcessRecord::leftOut).sum();
    }
}
