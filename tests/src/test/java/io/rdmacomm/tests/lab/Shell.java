package io.rdmacomm.tests.lab;

import io.rdmacomm.tests.fixture.JavaCommand;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// Shell commands in the guest.
final class Shell {
    private static final long SECONDS = 60;

    private Shell() {}

    /// Starts a command that shares the output of this process.
    static Process start(String command) {
        try {
            return new ProcessBuilder("bash", "-c", command).inheritIO().start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Runs a command.
    ///
    /// @throws AssertionError if it fails
    static void run(String command) {
        if (!tryTo(command)) {
            throw new AssertionError("command failed: " + command);
        }
    }

    /// Runs a command and returns whether it succeeded.
    static boolean tryTo(String command) {
        return ends(start(command), command);
    }

    /// Runs a command and returns what it printed.
    static String text(String command) {
        try {
            Process process = new ProcessBuilder("bash", "-c", command)
                    .redirectErrorStream(true)
                    .start();
            String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            ends(process, command);
            return text;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// The command that runs the `main` of a class in another JVM like this one.
    static String java(Class<?> main, String... arguments) {
        String command = "'" + String.join("' '", JavaCommand.of(main, List.of())) + "'";
        return command + " " + String.join(" ", arguments);
    }

    private static boolean ends(Process process, String command) {
        try {
            if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError("command does not end: " + command);
            }
            return process.exitValue() == 0;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
