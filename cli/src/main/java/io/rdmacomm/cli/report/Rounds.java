package io.rdmacomm.cli.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The documents of several runs of the same benchmark, each in new processes, as one document.
public record Rounds(List<BenchDocument> documents) {
    private static final List<String> HEADER = List.of("figure", "unit", "median", "low..high");

    /// The members of the document. Each result has the members of its median round, the figures of all rounds in
    /// `rounds`, the lowest in `low_us` or `low_gbps`, and the highest in `high_us` or `high_gbps`.
    public Map<String, Object> toMap() {
        Map<String, Object> members = new LinkedHashMap<>(documents.getLast().members());
        members.put("rounds", documents.size());
        members.put("results", results());
        return members;
    }

    /// The results of [#toMap()].
    public List<Map<String, Object>> results() {
        List<Map<String, Object>> results = new ArrayList<>();
        for (int i = 0; i < documents.getFirst().rows().size(); i++) {
            results.add(merged(i));
        }
        return results;
    }

    private Map<String, Object> merged(int index) {
        List<Map<?, ?>> rows = documents.stream()
                .<Map<?, ?>>map(document -> document.rows().get(index))
                .toList();
        List<Double> figures = rows.stream().map(BenchDocument::value).toList();
        Map<?, ?> middle = rows.stream()
                .sorted(Comparator.comparingDouble(BenchDocument::value))
                .skip((rows.size() - 1) / 2)
                .findFirst()
                .orElseThrow();
        Map<String, Object> merged = new LinkedHashMap<>();
        middle.forEach((name, value) -> merged.put(String.valueOf(name), value));
        merged.put(
                BenchDocument.bound("low", middle),
                figures.stream().min(Comparator.naturalOrder()).orElseThrow());
        merged.put(
                BenchDocument.bound("high", middle),
                figures.stream().max(Comparator.naturalOrder()).orElseThrow());
        merged.put("rounds", figures);
        return merged;
    }

    /// The median and the range of each figure.
    public Grid table() {
        List<List<String>> rows = new BenchDocument(toMap())
                .figures().stream()
                        .map(figure -> List.of(
                                figure.name(),
                                figure.unit(),
                                Figure.text(figure.value()),
                                Figure.text(figure.low()) + ".." + Figure.text(figure.high())))
                        .toList();
        return new Grid("Median and range of " + documents.size() + " rounds", HEADER, rows);
    }
}
