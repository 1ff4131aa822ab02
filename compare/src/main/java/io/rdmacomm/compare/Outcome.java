package io.rdmacomm.compare;

import java.util.List;

/// A scenario that has been measured.
///
/// @param id of the scenario
/// @param title of the scenario
/// @param unit of the figures
/// @param entries rdmacomm first
record Outcome(String id, String title, Unit unit, List<Entry> entries) {
    /// Whether figures have the time of a cache line beside them.
    boolean hasFloors() {
        return entries.stream().anyMatch(Entry::hasFloor);
    }

    /// What a cache line took at all times, as an entry.
    Entry floor() {
        List<Double> all =
                entries.stream().flatMap(entry -> entry.knownFloors().stream()).toList();
        return Entry.of("a cache line (floor)", "", all, List.of(), "");
    }

    /// Whether every contestant that is installed gave a figure in every round, and its floor if it has one.
    boolean isComplete() {
        return entries.stream().allMatch(entry -> entry.failure().isEmpty());
    }
}
