package io.rdmacomm.cli.report;

import io.rdmacomm.cli.command.ByteSize;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/// A chart of a report.
///
/// @param title the title above the chart
/// @param note how to read the chart
/// @param kind how it is drawn
/// @param unit the unit of the values
/// @param series the lines; one for each bar in a bar chart
public record Chart(String title, String note, Kind kind, String unit, List<Series> series) {
    /// How a chart is drawn.
    public enum Kind {
        /// A value for each message size, both axes logarithmic.
        BY_SIZE,
        /// A value for each percentile; the axis gives 99.9 as much room as 99.
        BY_PERCENTILE,
        /// One bar for each series, from its only point, with the range of its values.
        BARS,
        /// One row for each series, with a dot for each of its points, on a logarithmic axis around 1.
        RATIOS
    }

    /// A named line.
    ///
    /// @param name the name in the legend, or beside the bar or row
    /// @param points the values from left to right
    public record Series(String name, List<Point> points) {}

    /// One value.
    ///
    /// @param x the message size in bytes, or the percentile
    /// @param y the value
    /// @param low the lowest value measured
    /// @param high the highest value measured
    /// @param of the name of what was measured; equal names have the same colour in all charts of a page
    public record Point(double x, double y, double low, double high, String of) {
        /// A value without a range, named like its line.
        public static Point of(double x, double y) {
            return new Point(x, y, y, y, "");
        }

        boolean hasRange() {
            return low < high;
        }
    }

    /// The bar of a [Kind#BARS] chart.
    ///
    /// @param colour a key: bars with equal keys have the same colour in all charts of a page
    public static Series bar(String name, String colour, double value, double low, double high) {
        return new Series(name, List.of(new Point(0, value, low, high, colour)));
    }

    /// The values by message size: lines, or bars if each line would be a single dot.
    public static Chart bySize(String title, String unit, List<Series> lines) {
        if (lines.stream().anyMatch(line -> line.points().size() != 1)) {
            return new Chart(title, "By message size.", Kind.BY_SIZE, unit, lines);
        }
        List<Series> bars = lines.stream()
                .map(line -> {
                    Point only = line.points().getFirst();
                    return bar(line.name(), line.name(), only.y(), only.low(), only.high());
                })
                .toList();
        String size =
                ByteSize.format((long) lines.getFirst().points().getFirst().x());
        return new Chart(title + ", " + size, "", Kind.BARS, unit, bars);
    }

    /// The content in words, for readers who cannot see the chart.
    String description() {
        return title + ", in " + unit + ". "
                + series.stream().map(this::description).collect(Collectors.joining("; ")) + ".";
    }

    private String description(Series line) {
        return switch (kind) {
            case BARS, RATIOS -> line.name() + ": " + described(line.points());
            case BY_SIZE ->
                ends(line, ByteSize.format((long) line.points().getFirst().x()), ByteSize.format((long)
                        line.points().getLast().x()));
            case BY_PERCENTILE ->
                ends(
                        line,
                        percentile(line.points().getFirst()),
                        percentile(line.points().getLast()));
        };
    }

    private static String percentile(Point point) {
        return "percentile " + Figure.text(point.x());
    }

    private static String ends(Series line, String first, String last) {
        String text = line.name() + ": " + Figure.text(line.points().getFirst().y()) + " at " + first;
        return line.points().size() == 1
                ? text
                : text + ", " + Figure.text(line.points().getLast().y()) + " at " + last;
    }

    private static String described(List<Point> points) {
        return points.stream()
                .map(point -> (points.size() > 1 ? point.of() + " " : "")
                        + Figure.text(point.y())
                        + (point.hasRange()
                                ? " (" + Figure.text(point.low()) + " to " + Figure.text(point.high()) + ")"
                                : ""))
                .collect(Collectors.joining(", "));
    }

    Map<String, Object> toMap() {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("kind", kind.name());
        members.put("unit", unit);
        members.put("series", series.stream().map(Chart::toMap).toList());
        return members;
    }

    private static Map<String, Object> toMap(Series line) {
        return Map.of(
                "name",
                line.name(),
                "points",
                line.points().stream()
                        .map(point -> List.of(
                                point.x(),
                                point.y(),
                                point.low(),
                                point.high(),
                                point.of().isEmpty() ? line.name() : point.of()))
                        .toList());
    }
}
