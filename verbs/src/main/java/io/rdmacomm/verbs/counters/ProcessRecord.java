package io.rdmacomm.verbs.counters;

import java.util.List;

/// The content of a counters file: the data that a process has published at one moment.
///
/// @param process the process
/// @param command its command, for people
/// @param publishedNanos when it published, by its [System#nanoTime()]: for the time between two of its records
/// @param publishedMillis when it published, by the clock
/// @param leftOut how many channels had no room in the file
/// @param records its channels
public record ProcessRecord(
        ProcessIdentity process,
        String command,
        long publishedNanos,
        long publishedMillis,
        int leftOut,
        List<CounterRecord> records) {
    /// Copies the list.
    public ProcessRecord {
        records = List.copyOf(records);
    }
}
