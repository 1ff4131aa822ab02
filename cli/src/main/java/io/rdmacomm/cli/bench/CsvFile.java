package io.rdmacomm.cli.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// The results as comma-separated values: one line per result, with the same names as in JSON. A value that a result
/// does not have is empty.
public final class CsvFile {
    private static final List<String> COLUMNS = List.of(
            "test",
            "bytes",
            "iterations",
            "min_us",
            "p50_us",
            "p99_us",
            "p999_us",
            "max_us",
            "avg_us",
            "stdev_us",
            "low_us",
            "high_us",
            "floor_us",
            "gbps",
            "million_messages_per_second",
            "cpu_us_per_gb",
            "low_gbps",
            "high_gbps",
            "copy_gbps",
            "ratio",
            "transport",
            "sent",
            "received",
            "lost",
            "work_mode",
            "thread_mode",
            "busy_cpu_client_percent",
            "busy_cpu_server_percent",
            "idle_cpu_client_percent",
            "idle_cpu_server_percent");

    private CsvFile() {}

    /// Writes the names and `results`, the members of each, to `file`.
    public static void write(Path file, List<Map<String, Object>> results) throws IOException {
        List<String> lines = new ArrayList<>();
        lines.add(String.join(",", COLUMNS));
        for (Map<String, Object> members : results) {
            lines.add(String.join(
                    ",",
                    COLUMNS.stream()
                            .map(column -> String.valueOf(members.getOrDefault(column, "")))
                            .toList()));
        }
        Files.write(file, lines, StandardCharsets.UTF_8);
    }
}
