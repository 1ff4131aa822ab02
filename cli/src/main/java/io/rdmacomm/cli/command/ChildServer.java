package io.rdmacomm.cli.command;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/// A server on this machine as a second process of this command. It always ends with this process: on Ctrl-C by a
/// shutdown hook, and if this process is killed, because that closes its standard input.
public final class ChildServer implements AutoCloseable {
    /// The beginning of the line in which a server reports its port.
    public static final String READY = "listening on port ";

    private static final Duration START_LIMIT = Duration.ofSeconds(60);
    private static final Duration END_LIMIT = Duration.ofSeconds(3);
    private static final Duration EXIT_LIMIT = Duration.ofMillis(500);

    private final Process process;
    private final CloseOnExit onExit;
    private final CompletableFuture<String> failures;
    private final int port;

    private ChildServer(Process process, String command) {
        this.process = process;
        this.onExit = new CloseOnExit(this::end);
        this.failures = CompletableFuture.supplyAsync(this::errorOutput, ChildServer::start);
        try {
            this.port = awaitPort("the second process (rdmacomm " + command + ")");
        } catch (CommandFailure e) {
            process.destroyForcibly();
            close();
            throw e;
        }
    }

    /// Starts `rdmacomm` with `arguments` as a second process, and waits until it listens.
    ///
    /// @throws CommandFailure if it exits or takes too long
    public static ChildServer start(List<String> arguments) throws IOException {
        return new ChildServer(OwnProgram.builder(arguments).start(), String.join(" ", arguments));
    }

    private static void start(Runnable task) {
        Thread thread = new Thread(task, "bench-server-output");
        thread.setDaemon(true);
        thread.start();
    }

    /// The second process.
    public ProcessHandle process() {
        return process.toHandle();
    }

    /// The TCP port that the server listens on.
    public int port() {
        return port;
    }

    private int awaitPort(String name) {
        String line = CompletableFuture.supplyAsync(this::readyLine, ChildServer::start)
                .completeOnTimeout("timeout", START_LIMIT.toMillis(), TimeUnit.MILLISECONDS)
                .join();
        if (line.startsWith(READY)) {
            return Integer.parseInt(line.substring(READY.length()).split(" ", 2)[0]);
        }
        throw new CommandFailure(
                line.isEmpty()
                        ? name + " exited immediately: " + failures.join().strip()
                        : name + " was not ready within " + START_LIMIT.toSeconds() + " s");
    }

    /// The line with the port; empty if the output ends before it.
    private String readyLine() {
        try {
            BufferedReader reader = process.inputReader(StandardCharsets.UTF_8);
            String line = reader.readLine();
            while (line != null && !line.startsWith(READY)) {
                line = reader.readLine();
            }
            return line == null ? "" : line;
        } catch (IOException _) {
            return "";
        }
    }

    private String errorOutput() {
        try {
            return new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Adds to a failure of this process how the second process ended, if it has, and what it printed.
    public RuntimeException explain(RuntimeException failure) {
        StringBuilder text = new StringBuilder();
        if (hasExited()) {
            text.append("; the second process ended with exit status ").append(process.exitValue());
        }
        close();
        String output = failureOutput();
        if (!output.isEmpty()) {
            text.append("; the second process reports: ").append(output);
        }
        return text.isEmpty() ? failure : new CommandFailure(failure.getMessage() + text, failure);
    }

    private String failureOutput() {
        try {
            return failures.join().strip();
        } catch (CompletionException _) {
            return "";
        }
    }

    /// Whether the process has exited by itself. Waits a little, because its connections end a moment earlier.
    private boolean hasExited() {
        try {
            return process.waitFor(EXIT_LIMIT);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return !process.isAlive();
        }
    }

    /// Ends the process: closes its input, and kills it if it does not exit in time.
    @Override
    public void close() {
        onExit.close();
    }

    private void end() {
        try {
            process.getOutputStream().close();
            if (!process.waitFor(END_LIMIT)) {
                process.destroyForcibly();
            }
        } catch (IOException e) {
            process.destroyForcibly();
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
