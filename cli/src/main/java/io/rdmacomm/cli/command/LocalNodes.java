package io.rdmacomm.cli.command;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The other nodes of a mesh on this host, as processes of this program. They always end with this process: on
/// Ctrl-C by a shutdown hook, and if this process is killed, because that closes their standard input.
public final class LocalNodes implements AutoCloseable {
    private static final Duration END_LIMIT = Duration.ofSeconds(5);

    private final List<Process> processes = new ArrayList<>();
    private final CompletableFuture<String> firstFailure = new CompletableFuture<>();
    private final CloseOnExit onExit = new CloseOnExit(this::end);

    private LocalNodes() {}

    /// Starts a process for each node.
    ///
    /// @param arguments the arguments of the program, by rank
    public static LocalNodes start(Map<Integer, List<String>> arguments) throws IOException {
        LocalNodes nodes = new LocalNodes();
        boolean started = false;
        try {
            for (var each : new LinkedHashMap<>(arguments).entrySet()) {
                nodes.add(
                        each.getKey(),
                        OwnProgram.builder(each.getValue())
                                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                                .start());
            }
            started = true;
            return nodes;
        } finally {
            if (!started) {
                nodes.close();
            }
        }
    }

    private void add(int rank, Process process) {
        processes.add(process);
        Thread.ofPlatform().daemon().name("node-" + rank).start(() -> watch(rank, process));
    }

    /// Waits until a node has ended, and records its failure.
    private void watch(int rank, Process process) {
        String complaint = lastLine(process);
        int status = process.onExit().join().exitValue();
        if (status != 0) {
            firstFailure.complete("rank " + rank + " ended with exit status " + status
                    + (complaint.isEmpty() ? "" : ": " + complaint));
        }
    }

    /// The last line of a process's error output. Blocks until the process ends.
    private static String lastLine(Process process) {
        try {
            return new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .reduce("", (before, line) -> line);
        } catch (IOException e) {
            return "its output cannot be read: " + e.getMessage();
        }
    }

    /// Runs `action` when the first node fails.
    public void onFailure(Runnable action) {
        var _ = firstFailure.thenRun(action);
    }

    /// Waits for a node to fail.
    ///
    /// @param within how long to wait
    /// @return the exit status and the last complaint of the first node that failed; null if none has
    public @Nullable String failure(Duration within) {
        return firstFailure
                .copy()
                .completeOnTimeout(null, within.toMillis(), TimeUnit.MILLISECONDS)
                .join();
    }

    /// Waits for the processes to end, and kills those that do not end in time.
    @Override
    public void close() {
        onExit.close();
    }

    private void end() {
        long deadline = System.nanoTime() + END_LIMIT.toNanos();
        for (Process process : processes) {
            try {
                process.getOutputStream().close();
            } catch (IOException e) {
                // The process has ended.
            }
        }
        for (Process process : processes) {
            if (!hasEnded(process, deadline)) {
                process.destroyForcibly();
            }
        }
    }

    private static boolean hasEnded(Process process, long deadline) {
        try {
            return process.waitFor(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
