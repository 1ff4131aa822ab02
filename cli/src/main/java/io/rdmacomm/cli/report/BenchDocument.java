package io.rdmacomm.cli.report;

import com.fasterxml.jackson.jr.ob.JSON;
import io.rdmacomm.cli.bench.trial.Column;
import io.rdmacomm.cli.command.ByteSize;
import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.report.Chart.Kind;
import io.rdmacomm.cli.report.Chart.Point;
import io.rdmacomm.cli.report.Chart.Series;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The JSON document of `rdmacomm bench`, from this run or a file, and its presentation.
public final class BenchDocument {
    private static final String MICROS = "us";
    private static final String GBPS = "Gbit/s";
    /// The facts of a run besides its environment: the JSON member and the title of each.
    private static final List<List<String>> FACTS = List.of(
            List.of("processors", "processors"),
            List.of("rounds", "rounds"),
            List.of("work_mode", "work mode"),
            List.of("thread_mode", "thread mode"),
            List.of("cache_line_us", "a cache line from one side to the other, us"),
            List.of("socket_us", "8 B through a plain TCP socket, one way, us"),
            List.of("socket_gbps", "a stream through a plain TCP socket, Gbit/s"));
    /// The small size for which a distribution is shown: most protocols have small messages.
    private static final long SMALL = 8;

    private final Map<?, ?> document;

    /// A document with these members.
    public BenchDocument(Map<?, ?> document) {
        this.document = document;
    }

    /// Reads a document that an earlier run wrote.
    ///
    /// @throws CommandFailure if `file` is not such a document
    public static BenchDocument read(Path file) throws IOException {
        return parse(file.toString(), Files.readString(file, StandardCharsets.UTF_8));
    }

    /// Reads the text of a document.
    ///
    /// @param source where it comes from, for messages
    /// @throws CommandFailure if it is not such a document
    public static BenchDocument parse(String source, String text) {
        Map<String, Object> members;
        try {
            members = JSON.std.mapFrom(text);
        } catch (IOException e) {
            throw new CommandFailure(source + ": cannot be read as JSON: " + firstLine(e), e);
        }
        if (!(members.get("results") instanceof List)) {
            throw new CommandFailure(source + ": is not a result of rdmacomm bench: it has no results");
        }
        return new BenchDocument(members);
    }

    private static String firstLine(IOException e) {
        return String.valueOf(e.getMessage()).lines().findFirst().orElse("");
    }

    /// The members of the document.
    Map<String, Object> members() {
        Map<String, Object> members = new LinkedHashMap<>();
        document.forEach((name, value) -> members.put(String.valueOf(name), value));
        return members;
    }

    /// The results.
    List<Map<?, ?>> rows() {
        List<Map<?, ?>> rows = new ArrayList<>();
        for (Object row : (List<?>) required(document, "results")) {
            rows.add((Map<?, ?>) row);
        }
        return rows;
    }

    /// The figures to compare with those of another run.
    public List<Figure> figures() {
        return rows().stream()
                .filter(row -> row.containsKey(bound("low", row)))
                .map(BenchDocument::figure)
                .toList();
    }

    /// The figure by which a result is compared.
    static double value(Map<?, ?> row) {
        return number(row, figureOf(row));
    }

    private static String figureOf(Map<?, ?> row) {
        return row.containsKey("gbps") ? "gbps" : row.containsKey("p50_us") ? "p50_us" : "avg_us";
    }

    /// The member with the lowest or the highest figure.
    ///
    /// @param which `low` or `high`
    static String bound(String which, Map<?, ?> row) {
        return which + (row.containsKey("gbps") ? "_gbps" : "_us");
    }

    private static Figure figure(Map<?, ?> row) {
        String member = figureOf(row);
        String kind = member.equals("p50_us") ? " p50" : member.equals("avg_us") ? " mean" : "";
        return new Figure(
                name(row) + transport(row) + " " + size(row) + kind,
                member.equals("gbps") ? GBPS : MICROS,
                !member.equals("gbps"),
                number(row, member),
                number(row, bound("low", row)),
                number(row, bound("high", row)),
                rounds(row));
    }

    private static List<Double> rounds(Map<?, ?> row) {
        if (!(row.get("rounds") instanceof List<?> values)) {
            return List.of();
        }
        return values.stream().map(value -> ((Number) value).doubleValue()).toList();
    }

    /// The test, with its modes if the results compare modes.
    private static String name(Map<?, ?> row) {
        return row.get("test")
                + (row.get("work_mode") == null ? "" : " " + row.get("work_mode") + " " + row.get("thread_mode"));
    }

    private static String transport(Map<?, ?> row) {
        return row.get("transport") == null ? "" : " " + row.get("transport");
    }

    /// The page with all charts and tables.
    ///
    /// @param changes the change since an earlier run; without rows if there is none
    public HtmlReport page(Grid changes) throws IOException {
        HtmlReport page = new HtmlReport("rdmacomm bench");
        page.facts(facts());
        if (Boolean.TRUE.equals(load().get("high"))) {
            page.paragraph("WARNING: other programs used this machine. Figures are worse and vary more.");
        }
        page.data("rdmacomm-bench.json", members());
        if (!changes.rows().isEmpty()) {
            page.heading("Change").grid(changes);
            page.paragraph(Baseline.EXPLANATION);
        }
        latency(page);
        bandwidth(page);
        page.heading("All results").grid(results());
        return page;
    }

    /// The machine, the versions and the run.
    private Map<String, Object> facts() {
        Map<String, Object> facts = new LinkedHashMap<>();
        if (document.get("environment") instanceof Map<?, ?> environment) {
            environment.forEach((name, value) -> facts.put(String.valueOf(name), value));
        }
        for (List<String> fact : FACTS) {
            Object value = document.get(fact.getFirst());
            if (value != null) {
                facts.put(fact.getLast(), value);
            }
        }
        load().forEach((name, value) -> {
            if (!name.equals("high")) {
                facts.put(String.valueOf(name).replace('_', ' '), value);
            }
        });
        return facts;
    }

    private Map<?, ?> load() {
        return document.get("load") instanceof Map<?, ?> load ? load : Map.of();
    }

    private void latency(HtmlReport page) {
        List<Map<?, ?>> rows = rowsWith("p50_us");
        List<Map<?, ?>> means = rows().stream()
                .filter(row -> row.containsKey("avg_us") && !row.containsKey("p50_us"))
                .toList();
        if (!rows.isEmpty() || !means.isEmpty()) {
            page.heading("Latency");
        }
        Map<String, List<Map<?, ?>>> tests = byTest(rows);
        if (tests.size() > 1) {
            page.chart(Chart.bySize("Median latency of all tests", MICROS, lines(rows, "p50_us")));
        }
        tests.forEach((test, own) -> {
            List<Series> lines = new ArrayList<>();
            for (List<String> line : List.of(
                    List.of("p50", "p50_us"),
                    List.of("p99", "p99_us"),
                    List.of("p99.9", "p999_us"),
                    List.of("floor of the machine", "floor_us"))) {
                add(lines, line.get(0), own, line.get(1));
            }
            page.chart(Chart.bySize(test, MICROS, lines));
        });
        if (!means.isEmpty()) {
            page.chart(Chart.bySize("Mean latency", MICROS, lines(means, "avg_us")));
        }
        for (long size : shown(rows)) {
            List<Series> lines = rows.stream()
                    .filter(row -> bytes(row) == size && row.get("distribution") instanceof List)
                    .map(row -> new Series(name(row), distribution(row)))
                    .toList();
            page.chart(new Chart(
                    "Latency distribution, " + ByteSize.format(size),
                    "The share of operations that took at most this long.",
                    Kind.BY_PERCENTILE,
                    MICROS,
                    lines));
        }
    }

    /// A small size, the one in the middle, and the largest.
    private static List<Long> shown(List<Map<?, ?>> rows) {
        List<Long> sizes =
                rows.stream().map(BenchDocument::bytes).distinct().sorted().toList();
        return sizes.isEmpty()
                ? sizes
                : Stream.of(
                                sizes.contains(SMALL) ? SMALL : sizes.getFirst(),
                                sizes.get(sizes.size() / 2),
                                sizes.getLast())
                        .distinct()
                        .toList();
    }

    private static List<Point> distribution(Map<?, ?> row) {
        List<Point> points = new ArrayList<>();
        for (Object pair : (List<?>) required(row, "distribution")) {
            List<?> both = (List<?>) pair;
            points.add(Point.of(((Number) both.get(0)).doubleValue(), ((Number) both.get(1)).doubleValue()));
        }
        return points;
    }

    private void bandwidth(HtmlReport page) {
        List<Map<?, ?>> rows = rowsWith("gbps");
        if (rows.isEmpty()) {
            return;
        }
        List<Series> rates = new ArrayList<>(lines(rows, "gbps"));
        add(rates, "one thread copies", byTest(rows).values().iterator().next(), "copy_gbps");
        page.heading("Bandwidth")
                .chart(Chart.bySize("Bandwidth of all tests", GBPS, rates))
                .chart(Chart.bySize("Message rate", "10^6 messages/s", lines(rows, "million_messages_per_second")))
                .chart(Chart.bySize("CPU time of both ends", "us per 10^9 bytes", lines(rows, "cpu_us_per_gb")));
    }

    private Grid results() {
        List<Column> columns = Arrays.stream(Column.values())
                .filter(column ->
                        !column.title().isEmpty() && !rowsWith(column.member()).isEmpty())
                .toList();
        List<String> titles = new ArrayList<>(List.of("test", "size"));
        columns.forEach(column -> titles.add(column.title()));
        List<List<String>> cells = new ArrayList<>();
        for (Map<?, ?> row : rows()) {
            List<String> line = new ArrayList<>(List.of(name(row), size(row)));
            columns.forEach(column -> line.add(cell(row, column.member())));
            cells.add(line);
        }
        return new Grid(
                "ratio: latency / floor, or bandwidth / copy. ~: means little, because fewer than ten samples were"
                        + " slower, or because the limit was measured while the machine was slower.",
                titles,
                cells);
    }

    private static String cell(Map<?, ?> row, String name) {
        if (row.get(name) == null) {
            return "";
        }
        if (row.get(name) instanceof Integer || row.get(name) instanceof Long) {
            return String.valueOf(row.get(name));
        }
        boolean uncertain = row.get("uncertain") instanceof List<?> names && names.contains(name);
        return (uncertain ? "~" : "") + Figure.text(number(row, name));
    }

    private List<Map<?, ?>> rowsWith(String member) {
        Predicate<Map<?, ?>> has = row -> row.containsKey(member);
        return rows().stream().filter(has).toList();
    }

    private static Map<String, List<Map<?, ?>>> byTest(List<Map<?, ?>> rows) {
        return rows.stream()
                .collect(Collectors.groupingBy(BenchDocument::name, LinkedHashMap::new, Collectors.toList()));
    }

    private static List<Series> lines(List<Map<?, ?>> rows, String member) {
        List<Series> lines = new ArrayList<>();
        byTest(rows).forEach((test, own) -> add(lines, test, own, member));
        return lines;
    }

    /// Adds a line if any row has that member.
    private static void add(List<Series> lines, String name, List<Map<?, ?>> rows, String member) {
        List<Point> points = rows.stream()
                .filter(row -> row.containsKey(member))
                .map(row -> point(row, member))
                .toList();
        if (!points.isEmpty()) {
            lines.add(new Series(name, points));
        }
    }

    /// A value, with its range if it is the figure by which results are compared.
    private static Point point(Map<?, ?> row, String member) {
        double value = number(row, member);
        return row.containsKey(bound("low", row)) && member.equals(figureOf(row))
                ? new Point(
                        (double) bytes(row), value, number(row, bound("low", row)), number(row, bound("high", row)), "")
                : Point.of((double) bytes(row), value);
    }

    private static long bytes(Map<?, ?> row) {
        return ((Number) required(row, "bytes")).longValue();
    }

    private static String size(Map<?, ?> row) {
        return ByteSize.format(bytes(row));
    }

    private static double number(Map<?, ?> row, String member) {
        return ((Number) required(row, member)).doubleValue();
    }

    private static Object required(Map<?, ?> members, String name) {
        Object value = members.get(name);
        if (value == null) {
            throw new CommandFailure("the document has no member " + name + ": it was written by another version");
        }
        return value;
    }
}
