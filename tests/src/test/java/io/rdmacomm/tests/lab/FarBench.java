package io.rdmacomm.tests.lab;

import io.rdmacomm.cli.RdmaCommand;
import java.util.Arrays;

/// Several `bench --interop` one after another in one JVM, because a JVM takes long to start here. Each has
/// its own port, from 18515 on.
final class FarBench {
    private FarBench() {}

    /// Ends with the exit code of the first one that fails.
    ///
    /// @param words what follows `bench --interop PROGRAM`, and then the programs after `--`
    public static void main(String[] words) {
        int split = Arrays.asList(words).indexOf("--");
        for (int i = split + 1; i < words.length; i++) {
            StringBuilder line = new StringBuilder("bench --interop " + words[i]);
            for (int word = 0; word < split; word++) {
                line.append(' ').append(words[word]);
            }
            line.append(" --port ").append(PerftestProgramsTest.PORT + i - split - 1);
            line.append(PerftestProgramsTest.size(words[i]));
            String[] arguments = line.toString().split(" ", -1);
            int exitCode = RdmaCommand.commandLine(arguments).execute(arguments);
            if (exitCode != 0) {
                System.exit(exitCode);
            }
        }
    }
}
