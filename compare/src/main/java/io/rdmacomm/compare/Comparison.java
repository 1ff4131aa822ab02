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
/// ratio see the same machine, whose speed changes. In scenarios with a floor, this is measured before and after each.
final class Comparison {
    /// Floors that differ by more are of two states of the machine.
    private static final double SAME_STATE = 1.5;

    private final List<Scenario> scenarios;
    private final int rounds;
    private final Contestant floor;
    private final Consumer<String> progress;
    private final Map<Contestant, List<Double>> figures = new HashMap<>();
    private final Map<Contestant, List<Double>> floors = new HashMap<>();
    private final Map<Contestant, String> failures = new HashMap<>();
    private final Set<String> absences = new HashSet<>();

    /// @param floor gives the time of a cache line
    /// @param progress receives a line for each measurement
    Comparison(List<Scenario> scenarios, int rounds, Contestant floor, Consumer<String> progress) {
        this.scenarios = scenarios;
        this.rounds = rounds;
        this.floor = floor;
        this.progress = progress;
    }

    /// Measures everything. Blocks.
    List<Outcome> run() throws InterruptedException {
        for (int round = 1; round <= rounds; round++) {
            for (Scenario scenario : scenarios) {
                measure(round, scenario);
            }
        }
        return scenarios.stream().map(this::outcome).toList();
    }

    private void measure(int round, Scenario scenario) throws InterruptedException {
        double before = floor(round, scenario);
        for (Contestant contestant : present(scenario)) {
            if (failures.containsKey(contestant)) {
                continue;
            }
            double figure = measure(round, scenario, contestant);
            double after = floor(round, scenario);
            if (!Double.isNaN(figure)) {
                figures.computeIfAbsent(contestant, _ -> new ArrayList<>()).add(figure);
                floors.computeIfAbsent(contestant, _ -> new ArrayList<>())
                        .add(contestant.floor().orElse(between(before, after)));
            }
            before = after;
        }
    }

    /// The mean of two floors; not a number if the state of the machine changed.
    static double between(double one, double other) {
        boolean same = Math.max(one, other) < SAME_STATE * Math.min(one, other);
        return same ? (one + other) / 2 : Double.NaN;
    }

    /// The floor at this moment; not a number if the scenario has none, or if it cannot be measured.
    private double floor(int round, Scenario scenario) throws InterruptedException {
        return scenario.unit().hasFloor() ? measure(round, scenario, floor) : Double.NaN;
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
    ///
    /// @return not a number if it fails
    private double measure(int round, Scenario scenario, Contestant contestant) throws InterruptedException {
        if (failures.containsKey(contestant)) {
            return Double.NaN;
        }
        String line = "round " + round + ": " + scenario.id() + ": " + contestant.name() + ": ";
        try {
            double figure = contestant.measure();
            progress.accept(line + "%.4g ".formatted(figure) + scenario.unit().text());
            return figure;
        } catch (MeasurementException | IOException e) {
            failures.put(contestant, String.valueOf(e.getMessage()));
            progress.accept(line + "FAILED: " + e.getMessage());
            return Double.NaN;
        }
    }

    private Outcome outcome(Scenario scenario) {
        Entry ours = entry(scenario, scenario.ours());
        List<Entry> entries = present(scenario).stream()
                .map(contestant -> contestant.equals(scenario.ours())
                        ? ours
                        : entry(scenario, contestant).against(ours, scenario.unit()))
                .toList();
        return new Outcome(scenario.id(), scenario.title(), scenario.unit(), entries);
    }

    private Entry entry(Scenario scenario, Contestant contestant) {
        String withoutFloor = scenario.unit().hasFloor() && failures.containsKey(floor)
                ? floor.name() + ": " + failures.get(floor)
                : "";
        return Entry.of(
                contestant.name(),
                contestant.contains(),
                figures.getOrDefault(contestant, List.of()),
                scenario.unit().hasFloor() ? floors.getOrDefault(contestant, List.of()) : List.of(),
                failures.getOrDefault(contestant, withoutFloor));
    }

    /// The programs that are not installed, and where to get them.
    List<String> absences() {
        return absences.stream().sorted().toList();
    }
}
