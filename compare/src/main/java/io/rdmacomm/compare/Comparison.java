package io.rdmacomm.compare;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/// Measures all contestants in turn, round by round: rdmacomm, then each peer, then rdmacomm again. So both sides of a
/// ratio see the same machine, whose speed changes.
final class Comparison {
    private final List<Scenario> scenarios;
    private final int rounds;
    private final Consumer<String> progress;
    private final Map<Contestant, List<Double>> figures = new HashMap<>();
    private final Map<Contestant, String> failures = new HashMap<>();
    private final Set<String> absences = new HashSet<>();

    /// @param progress receives a line for each measurement
    Comparison(List<Scenario> scenarios, int rounds, Consumer<String> progress) {
        this.scenarios = scenarios;
        this.rounds = rounds;
        this.progress = progress;
    }

    /// Measures everything. Blocks.
    List<Outcome> run() throws InterruptedException {
        for (int round = 1; round <= rounds; round++) {
            for (Scenario scenario : scenarios) {
                for (Contestant contestant : present(scenario)) {
                    measure(round, scenario, contestant);
                }
            }
        }
        return scenarios.stream().map(this::outcome).toList();
    }

    private List<Contestant> present(Scenario scenario) {
        List<Contestant> all = new ArrayList<>(List.of(scenario.ours()));
        for (Contestant peer : scenario.peers()) {
            if (peer.absence().isEmpty()) {
                all.add(peer);
            } else if (absences.add(peer.absence())) {
                progress.accept("left out: " + peer.absence());
            }
        }
        return all;
    }

    /// A contestant that has failed is not measured again: its rounds would no longer belong to those of the others.
    private void measure(int round, Scenario scenario, Contestant contestant) throws InterruptedException {
        if (failures.containsKey(contestant)) {
            return;
        }
        String line = "round " + round + ": " + scenario.id() + ": " + contestant.name() + ": ";
        try {
            double figure = contestant.measure();
            figures.computeIfAbsent(contestant, _ -> new ArrayList<>()).add(figure);
            progress.accept(line + "%.4g ".formatted(figure) + scenario.unit().text());
        } catch (MeasurementException | IOException e) {
            failures.put(contestant, String.valueOf(e.getMessage()));
            progress.accept(line + "FAILED: " + e.getMessage());
        }
    }

    private Outcome outcome(Scenario scenario) {
        Entry ours = entry(scenario.ours());
        List<Entry> entries = present(scenario).stream()
                .map(contestant -> contestant.equals(scenario.ours())
                        ? ours
                        : entry(contestant).against(ours, scenario.unit()))
                .toList();
        return new Outcome(scenario.id(), scenario.title(), scenario.unit(), entries);
    }

    private Entry entry(Contestant contestant) {
        return Entry.of(
                contestant.name(),
                contestant.contains(),
                figures.getOrDefault(contestant, List.of()),
                failures.getOrDefault(contestant, ""));
    }

    /// The programs that are not installed, and where to get them.
    List<String> absences() {
        return absences.stream().sorted().toList();
    }
}
