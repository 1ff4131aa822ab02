package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.cli.RdmaCommand;
import io.rdmacomm.tests.fixture.Deadline;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// A JVM in the network namespace `far`, where `soft0` is at the other end of siw0's cable: for the kernel, a
/// process on another host. Folders are shared between the two hosts of the lab, so shared memory is off.
final class FarProcess implements AutoCloseable {
    /// Where `soft0` is.
    static final String ADDRESS = "10.8.0.2";

    private static final long PATIENCE_SECONDS = 120;

    private final Process process;
    private final StringWriter text = new StringWriter();
    private final Thread reader;

    private FarProcess(boolean checksum, Class<?> main, String... words) throws IOException {
        List<String> line = new ArrayList<>(List.of("ip", "netns", "exec", "far"));
        line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        line.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "--enable-native-access=ALL-UNNAMED"));
        line.add("-Drdmacomm.soft.devices=soft0=" + ADDRESS + "?sharedMemory=false&checksum=" + checksum);
        line.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        line.addAll(List.of(words));
        process = new ProcessBuilder(line).redirectErrorStream(true).start();
        reader = Thread.ofPlatform().daemon().name("far").start(this::read);
    }

    /// Starts the `main` of a class.
    ///
    /// @param checksum whether the device wants one in each frame
    static FarProcess start(boolean checksum, Class<?> main, String... words) throws IOException {
        return new FarProcess(checksum, main, words);
    }

    /// Runs the command to its end.
    static Outcome run(boolean checksum, String words) throws IOException, InterruptedException {
        try (FarProcess client = start(checksum, RdmaCommand.class, words.split(" ", -1))) {
            return client.end();
        }
    }

    /// Starts the command as a server and waits until it listens.
    static FarProcess serve(boolean checksum, String words) throws IOException {
        return start(checksum, RdmaCommand.class, words.split(" ", -1)).listening();
    }

    private void read() {
        try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
            output.lines().forEach(line -> text.append(line + "\n"));
        } catch (IOException | UncheckedIOException e) {
            text.append(e.toString());
        }
    }

    /// Waits until it says that it listens.
    FarProcess listening() {
        return said("listening on port ");
    }

    /// Waits until it has printed `words`.
    FarProcess said(String words) {
        Deadline.until(TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS), () -> text().contains(words) || !reader.isAlive());
        assertThat(text.toString()).contains(words);
        return this;
    }

    /// The port that it listens on.
    String port() {
        return text.toString().replaceAll("(?s).*listening on port (\\d+).*", "$1");
    }

    /// What it has printed up to now.
    String text() {
        return text.toString();
    }

    /// Ends it as Ctrl-C does.
    void interrupt() {
        process.destroy();
    }

    /// Waits until it has ended.
    Outcome end() throws InterruptedException {
        assertThat(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS))
                .as("it ends; so far it said " + text)
                .isTrue();
        reader.join(TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS));
        return new Outcome(process.exitValue(), text.toString());
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
