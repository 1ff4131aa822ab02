package io.rdmacomm.compare;

import java.util.List;

/// A scenario that has been measured.
///
/// @param id of the scenario
/// @param title of the scenario
/// @param unit of the figures
/// @param entries rdmacomm first
record Outcome(String id, String title, Unit unit, List<Entry> entries) {
    /// Whether every contestant that is installed gave a figure in every round.
    boolean isComplete() {
        return entries.stream().allMatch(entry -> entry.failure().isEmpty());
    }
}
