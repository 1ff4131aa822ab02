package io.rdmacomm.tests.steps;

import io.rdmacomm.tests.fixture.Fabric;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The cases that have run, and what was wrong. Thread-safe.
final class Tally {
    private final Fabric fabric;
    private final Map<String, int[]> kinds = new TreeMap<>();
    private final List<String> violations = new ArrayList<>();

    Tally(Fabric fabric) {
        this.fabric = fabric;
    }

    /// A case has run.
    ///
    /// @param violation what was wrong, or null
    synchronized void add(Case done, @Nullable Throwable violation) {
        int[] counts = kinds.computeIfAbsent(done.kind(), kind -> new int[2]);
        counts[0]++;
        if (violation != null) {
            counts[1]++;
            violations.add(done + ": " + violation);
            System.out.println("VIOLATION on " + fabric + ", " + violations.getLast());
            violation.printStackTrace(System.out);
        }
    }

    /// Prints a table.
    synchronized void print() {
        kinds.forEach((kind, counts) ->
                System.out.println(fabric + " " + kind + ": " + counts[0] + " steps, " + counts[1] + " violations"));
    }

    synchronized List<String> violations() {
        return List.copyOf(violations);
    }
}
