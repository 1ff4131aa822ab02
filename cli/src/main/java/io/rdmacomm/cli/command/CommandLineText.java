package io.rdmacomm.cli.command;

import java.util.ArrayList;
import java.util.List;

/// The command line as the user typed it, for reports.
public final class CommandLineText {
    private static volatile List<String> words = List.of("rdmacomm");

    private CommandLineText() {}

    public static void remember(String... arguments) {
        List<String> all = new ArrayList<>(List.of("rdmacomm"));
        all.addAll(List.of(arguments));
        words = List.copyOf(all);
    }

    static String text() {
        return String.join(" ", words);
    }
}
