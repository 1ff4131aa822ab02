package io.rdmacomm.cli;

import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine;

/// Suggests the existing option or subcommand that is closest to a mistyped one.
final class NearMiss {
    private NearMiss() {}

    /// The name that is most similar to `word`; empty if none is similar.
    static String of(String word, CommandLine commandLine) {
        int equals = word.indexOf('=');
        String given = equals < 0 ? word : word.substring(0, equals);
        Stream<String> names = given.startsWith("-")
                ? commandLine.getCommandSpec().options().stream()
                        .filter(option -> !option.hidden())
                        .flatMap(option -> Stream.of(option.names()))
                        .filter(name -> name.startsWith("--"))
                : commandLine.getSubcommands().keySet().stream();
        Optional<String> nearest = names.min(Comparator.comparingInt(name -> difference(given, name)));
        return nearest.filter(name -> isNear(given, name)).orElse("");
    }

    /// A third of the letters may be wrong, or the end may be missing.
    private static boolean isNear(String given, String name) {
        return difference(given, name) <= Math.max(1, given.length() / 3)
                || (given.length() > 3 && name.startsWith(given));
    }

    /// The number of letters to insert, remove or replace.
    private static int difference(String from, String to) {
        int[] row = new int[to.length() + 1];
        for (int column = 0; column <= to.length(); column++) {
            row[column] = column;
        }
        for (int line = 1; line <= from.length(); line++) {
            int diagonal = row[0];
            row[0] = line;
            for (int column = 1; column <= to.length(); column++) {
                int replaced = diagonal + (from.charAt(line - 1) == to.charAt(column - 1) ? 0 : 1);
                diagonal = row[column];
                row[column] = Math.min(replaced, Math.min(row[column], row[column - 1]) + 1);
            }
        }
        return row[to.length()];
    }
}
