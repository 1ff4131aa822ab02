package io.rdmacomm.cli.report;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// A chart of a report.
///
/// @param title above the chart
/// @param note below it: how to read it
/// @param kind how it is drawn
/// @param unit of the values
/// @param series the lines; of a bar chart one for each bar
public record Chart(String title, String note, Kind kind, String unit, List<Series> series) {
    /// How a chart is drawn.
    public enum Kind {
        /// A value for each message size, both axes logarithmic.
        BY_SIZE,
        /// A value for each percentile; the axis gives 99.9 as much room as 99.
        BY_PERCENTILE,
        /// One bar for each series, from its only point, with the range of its values.
        BARS
    }

    /// A named line.
    ///
    /// @param name in the legend
    /// @param points from left to right
    public record Series(String name, List<Point> points) {}

    /// One value.
    ///
    /// @param x the message size in bytes, or the percentile
    /// @param y the value
    /// @param low the lowest value measured
    /// @param high the highest value measured
    public record Point(double x, double y, double low, double high) {
        /// A value without a range.
        public static Point of(double x, double y) {
            return new Point(x, y, y, y);
        }
    }

    /// The bar of a [Kind#BARS] chart.
    public static Series bar(String name, double value, double low, double high) {
        return new Series(name, List.of(new Point(0, value, low, high)));
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
                        .map(point -> List.of(point.x(), point.y(), point.low(), point.high()))
                        .toList());
    }
}
