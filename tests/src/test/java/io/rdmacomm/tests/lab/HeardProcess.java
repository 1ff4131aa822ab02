package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.JavaCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// Another process whose output, including errors, is collected.
final class HeardProcess implements AutoCloseable {
    private static final long TIMEOUT_SECONDS = 120;
    private static final long END_SECONDS = 10;

    private final Process process;
    private final StringWriter text = new StringWriter();
    private final Thread reader;

    private HeardProcess(Process process) {
        this.process = process;
        reader = Thread.ofPlatform().daemon().name("heard").start(this::read);
    }

    /// The command line that starts a JVM like this one.
    ///
    /// @param properties its system properties, each with its `-D`
    static List<String> java(Class<?> main, String... properties) {
        return JavaCommand.of(main, List.of(properties));
    }

    /// Starts a program.
    static HeardProcess start(List<String> line) throws IOException {
        return new HeardProcess(
                new ProcessBuilder(line).redirectErrorStream(true).start());
    }

    private void read() {
        try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
            output.lines().forEach(line -> text.append(line + "\n"));
        } catch (IOException | UncheckedIOException e) {
            text.append(e.toString());
        }
    }

    /// Waits until the process reports that it listens.
    HeardProcess listening() {
        return said("listening on port ");
    }

    /// Waits until it has printed `words`.
    HeardProcess said(String words) {
        Deadline.until(TimeUnit.SECONDS.toMillis(TIMEOUT_SECONDS), () -> text().contains(words) || !reader.isAlive());
        assertThat(text.toString()).contains(words);
        return this;
    }

    /// The port on which the process listens.
    String port() {
        return text.toString().replaceAll("(?s).*listening on port (\\d+).*", "$1");
    }

    /// The output so far.
    String text() {
        return text.toString();
    }

    /// Stops the process like Ctrl-C.
    void interrupt() {
        process.destroy();
    }

    /// Waits until it has ended.
    Outcome end() throws InterruptedException {
        assertThat(process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS))
                .as("the process ends; its output so far: " + text)
                .isTrue();
        reader.join(TimeUnit.SECONDS.toMillis(TIMEOUT_SECONDS));
        return new Outcome(process.exitValue(), text.toString());
    }

    /// Stops the process with SIGTERM, so that it can stop its children, and with SIGKILL if it does not react.
    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            throw new AssertionError(e);
        }
    }
}
