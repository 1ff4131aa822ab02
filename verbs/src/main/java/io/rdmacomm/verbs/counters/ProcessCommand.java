package io.rdmacomm.verbs.counters;

import java.util.ArrayList;
import java.util.List;

/// The command of this process, to show to users: the main class or jar and its arguments.
final class ProcessCommand {
    private static final String LAUNCHER = "jdk.compiler/com.sun.tools.javac.launcher.Main";

    private ProcessCommand() {}

    static String text() {
        return shorten(System.getProperty("sun.java.command", "java"));
    }

    /// Drops the source launcher, folders and `.jar` from the first word.
    static String shorten(String command) {
        List<String> words = new ArrayList<>(List.of(command.strip().split("\\s+", -1)));
        if (words.size() > 1 && words.getFirst().equals(LAUNCHER)) {
            words.removeFirst();
        }
        String program = words.getFirst();
        program = program.substring(program.lastIndexOf('/') + 1);
        if (program.endsWith(".jar") && program.length() > ".jar".length()) {
            program = program.substring(0, program.length() - ".jar".length());
        }
        words.set(0, program);
        return String.join(" ", words);
    }
}
