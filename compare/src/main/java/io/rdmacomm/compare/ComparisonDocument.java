package io.rdmacomm.compare;

import com.fasterxml.jackson.jr.ob.JSON;
import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.report.Baseline;
import io.rdmacomm.cli.report.Chart;
import io.rdmacomm.cli.report.Chart.Kind;
import io.rdmacomm.cli.report.Chart.Point;
import io.rdmacomm.cli.report.Chart.Series;
import io.rdmacomm.cli.report.Figure;
import io.rdmacomm.cli.report.Grid;
import io.rdmacomm.cli.report.HtmlReport;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// The result of a comparison, as text, JSON and HTML.
///
/// @param facts the machine, the versions and the run
/// @param outcomes the scenarios
record ComparisonDocument(Map<String, Object> facts, List<Outcome> outcomes) {
    private static final int SCHEMA = 1;
    private static final String RATIO =
            "ratio: how many times better rdmacomm is, the geometric mean of the ratios of all rounds, and their range;"
                    + " below 1 the peer is better. unstable: rounds disagree about who is better. low..high: the range"
                    + " of all rounds.";
    private static final String FLOOR =
            "floor: what a cache line takes between the two processes, measured before and after each figure, by"
                    + " rdmacomm bench also during it. above: the"
                    + " median difference between a figure and its floor, and the range of all rounds, but of none in"
                    + " which the floor changed. Compare these: a machine has states in which floor and figure are several"
                    + " times as long, and only the difference is the library's.";
    private static final String ABOVE = "above the floor";

    /// The table with medians, spread and ratios.
    Grid table() {
        List<List<String>> rows = new ArrayList<>();
        for (Outcome outcome : outcomes) {
            rows.add(cells(outcome.title(), "", "", "", "", "", ""));
            for (Entry entry : outcome.entries()) {
                rows.add(row(outcome, entry));
            }
        }
        return new Grid(
                "Medians of all rounds",
                cells("scenario", "median", "low..high", "floor", "above", "unit", "ratio"),
                rows);
    }

    private List<String> row(Outcome outcome, Entry entry) {
        String name = "  " + entry.name();
        if (!entry.isMeasured()) {
            return cells(name, "failed", "", "", "", "", "");
        }
        Entry above = entry.aboveFloor();
        return cells(
                name,
                Figure.text(entry.median()),
                range(entry),
                entry.hasFloor() ? Figure.text(entry.floor().median()) : "",
                entry.hasFloor() ? Figure.text(above.median()) + " (" + range(above) + ")" : "",
                outcome.unit().text(),
                entry.advantage().map(Advantage::text).orElse(""));
    }

    private static String range(Entry entry) {
        return entry.hasRange() ? Figure.text(entry.low()) + ".." + Figure.text(entry.high()) : "";
    }

    /// The cells of a row, without those of the floor if no figure has one.
    private List<String> cells(
            String name, String median, String range, String floor, String above, String unit, String ratio) {
        return hasFloors()
                ? List.of(name, median, range, floor, above, unit, ratio)
                : List.of(name, median, range, unit, ratio);
    }

    private boolean hasFloors() {
        return outcomes.stream().anyMatch(Outcome::hasFloors);
    }

    /// The table and how to read it.
    String text() {
        return table().text() + "\n" + explanation();
    }

    private String explanation() {
        return hasFloors() ? RATIO + "\n" + FLOOR : RATIO;
    }

    /// The JSON document.
    String json() throws IOException {
        return JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(toMap());
    }

    private Map<String, Object> toMap() {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("schema", SCHEMA);
        document.putAll(facts);
        document.put(
                "scenarios", outcomes.stream().map(ComparisonDocument::toMap).toList());
        return document;
    }

    private static Map<String, Object> toMap(Outcome outcome) {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("id", outcome.id());
        members.put("title", outcome.title());
        members.put("unit", outcome.unit().text());
        members.put("smaller_is_better", outcome.unit().smallerIsBetter());
        members.put("entries", outcome.entries().stream().map(Entry::toMap).toList());
        return members;
    }

    /// The figures to compare with those of another run. With a floor they have other names than without: a median is
    /// not compared with the mean that an earlier version measured.
    List<Figure> figures() {
        return outcomes.stream()
                .flatMap(outcome -> outcome.entries().stream()
                        .filter(entry -> entry.isMeasured() && entry.hasRange())
                        .flatMap(entry -> entry.hasFloor()
                                ? Stream.of(
                                        figure(outcome, entry, ", latency"),
                                        figure(outcome, entry.floor(), ", floor"),
                                        figure(outcome, entry.aboveFloor(), ", " + ABOVE))
                                : Stream.of(figure(outcome, entry, ""))))
                .toList();
    }

    private static Figure figure(Outcome outcome, Entry entry, String kind) {
        return new Figure(
                outcome.id() + " " + entry.name() + kind,
                outcome.unit().text(),
                outcome.unit().smallerIsBetter(),
                entry.median(),
                entry.low(),
                entry.high(),
                entry.figures());
    }

    /// The document that an earlier run has written.
    ///
    /// @throws CommandFailure if `file` is no such document
    static ComparisonDocument read(Path file) throws IOException {
        try {
            Map<String, Object> facts = JSON.std.mapFrom(Files.readString(file, StandardCharsets.UTF_8));
            List<Outcome> outcomes = members(facts, "scenarios").stream()
                    .map(ComparisonDocument::outcome)
                    .toList();
            facts.keySet().removeAll(List.of("schema", "scenarios"));
            return new ComparisonDocument(facts, outcomes);
        } catch (IOException e) {
            throw new CommandFailure(file + ": is not a result of compare/run", e);
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(file + ": is not a result of compare/run: " + e.getMessage(), e);
        }
    }

    private static Outcome outcome(Map<?, ?> scenario) {
        return new Outcome(
                Entry.text(scenario, "id"),
                Entry.text(scenario, "title"),
                Unit.of(Entry.text(scenario, "unit")),
                members(scenario, "entries").stream().map(Entry::read).toList());
    }

    /// The JSON objects in the array `name`.
    ///
    /// @throws IllegalArgumentException if there is no such array
    private static List<Map<?, ?>> members(Map<?, ?> parent, String name) {
        if (!(parent.get(name) instanceof List<?> list)) {
            throw new IllegalArgumentException("no array " + name);
        }
        List<Map<?, ?>> objects = new ArrayList<>();
        for (Object object : list) {
            if (!(object instanceof Map<?, ?> members)) {
                throw new IllegalArgumentException("no object in the array " + name);
            }
            objects.add(members);
        }
        return objects;
    }

    /// The change since an earlier run.
    Grid changesSince(List<Figure> earlier) {
        return Baseline.compare(earlier, figures());
    }

    /// The page with all charts and tables.
    ///
    /// @param changes the change since an earlier run; without rows if there is none
    HtmlReport page(Grid changes) throws IOException {
        HtmlReport page =
                new HtmlReport("rdmacomm and others").facts(readable()).data("comparison.json", toMap());
        if (!changes.rows().isEmpty()) {
            page.heading("Change").grid(changes);
            page.paragraph(Baseline.EXPLANATION);
        }
        List<Series> ratios = outcomes.stream()
                .map(ComparisonDocument::ratios)
                .filter(row -> !row.points().isEmpty())
                .toList();
        if (!ratios.isEmpty()) {
            page.heading("Ratios")
                    .chart(new Chart(
                            "How many times better rdmacomm is",
                            "Right of the line rdmacomm is better, left of it the other.",
                            Kind.RATIOS,
                            "ratio",
                            ratios));
        }
        page.heading("Figures of each scenario");
        for (Outcome outcome : outcomes) {
            List<Entry> entries = new ArrayList<>(outcome.entries());
            if (outcome.hasFloors()) {
                List<Entry> above = entries.stream().map(Entry::aboveFloor).toList();
                page.chart(chart(outcome, outcome.title() + ", " + ABOVE, above));
                entries.add(outcome.floor());
            }
            page.chart(chart(outcome, outcome.title(), entries));
        }
        page.heading("All figures").paragraph(explanation()).grid(table());
        page.heading("Contents of the figures").grid(contents());
        return page;
    }

    private Map<String, Object> readable() {
        Map<String, Object> readable = new LinkedHashMap<>();
        facts.forEach((name, value) -> {
            if (value instanceof Map<?, ?> members) {
                members.forEach((key, member) -> readable.put(String.valueOf(key), member));
            } else {
                readable.put(name, value);
            }
        });
        return readable;
    }

    private static Chart chart(Outcome outcome, String title, List<Entry> entries) {
        String unit = outcome.unit().text();
        String note = unit + (outcome.unit().smallerIsBetter() ? "; shorter is better." : "; longer is better.");
        return new Chart(title, note, Kind.BARS, unit, bars(entries));
    }

    private static List<Series> bars(List<Entry> entries) {
        return entries.stream()
                .filter(Entry::isMeasured)
                .map(entry -> Chart.bar(
                        entry.name(),
                        entry.library(),
                        entry.median(),
                        entry.hasRange() ? entry.low() : entry.median(),
                        entry.hasRange() ? entry.high() : entry.median()))
                .toList();
    }

    private static Series ratios(Outcome outcome) {
        List<Point> points = new ArrayList<>();
        for (Entry entry : outcome.entries()) {
            entry.advantage()
                    .ifPresent(ratio -> points.add(new Point(
                            0,
                            ratio.mean(),
                            ratio.hasRange() ? ratio.low() : ratio.mean(),
                            ratio.hasRange() ? ratio.high() : ratio.mean(),
                            entry.library())));
        }
        return new Series(outcome.title(), points);
    }

    private Grid contents() {
        List<List<String>> rows = outcomes.stream()
                .flatMap(outcome -> outcome.entries().stream()
                        .filter(entry -> !entry.contains().isEmpty())
                        .map(entry -> List.of(outcome.title() + ": " + entry.name(), entry.contains())))
                .toList();
        return new Grid(
                "Both sides of a comparison do the same work as far as the programs allow.",
                List.of("figure", "contains"),
                rows);
    }
}
