package io.rdmacomm.compare;

import io.rdmacomm.cli.command.CloseOnExit;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// Runs a server and its client, and ends both in any case.
final class Programs {
    private static final Duration READY_LIMIT = Duration.ofSeconds(60);
    private static final Duration RUN_LIMIT = Duration.ofMinutes(3);
    private static final Duration END_LIMIT = Duration.ofSeconds(5);
    private static final long LOOK_NANOS = 20_000_000;
    private static final String LISTENING = "0A";
    private static final int SHOWN = 400;

    private Programs() {}

    /// The commands of both ends.
    ///
    /// @param server without words if there is none
    /// @param client prints the figure
    /// @param environment added to that of both
    /// @param port the TCP port on which the server listens when it is ready; 0 if the client waits for it
    /// @param serverEnds whether the server ends after its client
    record Pair(
            List<String> server, List<String> client, Map<String, String> environment, int port, boolean serverEnds) {}

    /// Runs both.
    ///
    /// @return what the client printed
    /// @throws MeasurementException if the client failed or took too long
    static String run(Pair pair) throws IOException, InterruptedException {
        return run(pair, END_LIMIT);
    }

    /// Runs both, with a server that has something to do after its client has ended.
    ///
    /// @param serverEnd the longest time for that
    /// @return what the client printed
    /// @throws MeasurementException if the client failed or took too long
    static String run(Pair pair, Duration serverEnd) throws IOException, InterruptedException {
        if (pair.server().isEmpty()) {
            return runClient(pair);
        }
        Process server = start(pair.server(), pair.environment());
        CompletableFuture<String> complaints = read(server);
        try (CloseOnExit _ = new CloseOnExit(server::destroy)) {
            awaitPort(pair, server, complaints);
            String output = runClient(pair);
            if (pair.serverEnds()) {
                server.waitFor(serverEnd);
            }
            return output;
        } finally {
            end(server);
        }
    }

    private static void end(Process process) throws InterruptedException {
        process.destroy();
        if (!process.waitFor(END_LIMIT)) {
            process.destroyForcibly();
        }
    }

    private static String runClient(Pair pair) throws IOException, InterruptedException {
        Process client = start(pair.client(), pair.environment());
        CompletableFuture<String> output = read(client);
        try (CloseOnExit _ = new CloseOnExit(client::destroy)) {
            if (!client.waitFor(RUN_LIMIT)) {
                throw new MeasurementException(
                        text(pair.client()) + " did not end within " + RUN_LIMIT.toSeconds() + " s");
            }
            String printed = output.join();
            if (client.exitValue() != 0) {
                throw new MeasurementException(
                        text(pair.client()) + " ended with exit status " + client.exitValue() + ": " + tail(printed));
            }
            return printed;
        } finally {
            end(client);
        }
    }

    /// Everything that a program prints, which needs no server and ends at once. Blocks.
    ///
    /// @return empty if it cannot be started
    static String output(List<String> command) {
        try {
            return read(start(command, Map.of())).join();
        } catch (IOException _) {
            return "";
        }
    }

    private static Process start(List<String> command, Map<String, String> environment) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        Process process = builder.start();
        process.getOutputStream().close();
        return process;
    }

    private static CompletableFuture<String> read(Process process) {
        CompletableFuture<String> text = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                text.complete(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
            } catch (IOException e) {
                text.completeExceptionally(new UncheckedIOException(e));
            }
        });
        return text;
    }

    /// Looks for the port in the kernel's table: a connection to it would be the server's only client.
    private static void awaitPort(Pair pair, Process server, CompletableFuture<String> complaints) throws IOException {
        long deadline = System.nanoTime() + READY_LIMIT.toNanos();
        while (pair.port() != 0 && !isListening(pair.port())) {
            if (!server.isAlive()) {
                throw new MeasurementException(text(pair.server()) + " ended before it listened: "
                        + tail(complaints
                                .completeOnTimeout("", 1, TimeUnit.SECONDS)
                                .join()));
            }
            if (System.nanoTime() - deadline > 0) {
                throw new MeasurementException(
                        text(pair.server()) + " does not listen after " + READY_LIMIT.toSeconds() + " s");
            }
            LockSupport.parkNanos(LOOK_NANOS); // Nobody signals that another process listens.
        }
    }

    private static boolean isListening(int port) throws IOException {
        String wanted = ":%04X".formatted(port);
        for (String table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
            Path file = Path.of(table);
            if (!Files.exists(file)) {
                continue;
            }
            for (String line : Files.readAllLines(file)) {
                String[] fields = line.strip().split("\\s+", 5);
                if (fields.length > 3 && fields[1].endsWith(wanted) && fields[3].equals(LISTENING)) {
                    return true;
                }
            }
        }
        return false;
    }

    /// Whether there is a program of that name on the path, or with that absolute path.
    static boolean exists(String name) {
        if (name.startsWith("/")) {
            return Files.isExecutable(Path.of(name));
        }
        String path = System.getenv().getOrDefault("PATH", "");
        return List.of(path.split(":", -1)).stream().anyMatch(folder -> Files.isExecutable(Path.of(folder, name)));
    }

    private static String text(List<String> command) {
        String all = String.join(" ", command);
        return all.length() > SHOWN ? all.substring(0, SHOWN) + " ..." : all;
    }

    private static String tail(String output) {
        String text = output.strip().lines().reduce("", (a, b) -> a.isEmpty() ? b : a + " | " + b);
        return text.substring(Math.max(0, text.length() - SHOWN));
    }
}
