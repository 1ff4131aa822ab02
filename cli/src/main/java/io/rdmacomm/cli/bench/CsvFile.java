package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.bench.trial.Column;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The results as comma-separated values: one line per result, with the same names as in JSON. Missing values are
/// empty.
final class CsvFile {
    private CsvFile() {}

    /// Writes the names and then the members of each of `results` to `file`.
    static void write(Path file, List<Map<String, Object>> results) throws IOException {
        Stream<String> rows = results.stream()
                .map(members -> line(column -> String.valueOf(members.getOrDefault(column.member(), ""))));
        Files.write(file, Stream.concat(Stream.of(line(Column::member)), rows).toList(), StandardCharsets.UTF_8);
    }

    private static String line(Function<Column, String> cell) {
        return Arrays.stream(Column.values()).map(cell).collect(Collectors.joining(","));
    }
}
