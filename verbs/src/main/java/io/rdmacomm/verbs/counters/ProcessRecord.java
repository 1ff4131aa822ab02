package io.rdmacomm.verbs.counters;

import java.util.List;

/// The content of a counters file: the data that a process has published at one moment.
///
/// @param process the process
/// @param command its command, to show to users
/// @param publishedNanos its [System#nanoTime()] at the publication, for the time between two of its records
/// @param publishedMillis the time of the publication, by the clock
/// @param leftOut the number of channels that had no room in the file
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
