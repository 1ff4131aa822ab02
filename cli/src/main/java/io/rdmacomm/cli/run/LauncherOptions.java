package io.rdmacomm.cli.run;

import java.util.ArrayList;
import java.util.List;

/// Options for the variable `JDK_JAVA_OPTIONS`, which the launcher `java` puts before those of its command line.
final class LauncherOptions {
    /// The name of the variable.
    static final String VARIABLE = "JDK_JAVA_OPTIONS";

    private final List<String> words = new ArrayList<>();

    /// @param given the value of the variable so far; may be empty
    LauncherOptions(String given) {
        if (!given.isBlank()) {
            words.add(given);
        }
    }

    /// Adds an option.
    LauncherOptions add(String option) {
        words.add(quoted(option));
        return this;
    }

    /// The launcher splits the variable at blanks outside of quotation marks. Between two marks of one kind, all
    /// characters are literal and there is no escape: a quotation mark needs marks of the other kind around it.
    private static String quoted(String option) {
        return "\"" + option.replace("\"", "\"'\"'\"") + "\"";
    }

    @Override
    public String toString() {
        return String.join(" ", words);
    }
}
