package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.terminal.CommandFailure;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// The other end of a benchmark within one machine: a second process of this command, that ends with this one
/// whatever happens. It watches its standard input, which closes when this process dies; a shutdown hook
/// covers Ctrl-C.
public final class ChildServer implements AutoCloseable {
    /// How the child begins the line that says on which port it listens.
    public static final String READY = "listening on port ";

    private static final Duration START_LIMIT = Duration.ofSeconds(60);
    private static final Duration END_LIMIT = Duration.ofSeconds(3);
    private static final Duration LAST_MOMENTS = Duration.ofMillis(500);
    private static final String OWN_PROPERTIES = "rdmacomm.";
    private static final List<String> NOT_INHERITED =
            List.of("-agentlib:jdwp", "-Xrunjdwp", "-XX:AOTCacheOutput", "-XX:AOTMode", "-XX:AOTConfiguration");

    private final Process process;
    private final Thread hook;
    private final CompletableFuture<String> complaints;
    private final int port;

    private ChildServer(Process process, String command) {
        this.process = process;
        this.hook = new Thread(this::end, "end-bench-server");
        Runtime.getRuntime().addShutdownHook(hook);
        this.complaints = CompletableFuture.supplyAsync(() -> text(process.getErrorStream()), ChildServer::start);
        this.port = awaitPort(command);
    }

    /// Starts `rdmacomm` with `arguments` as a second process and waits until it listens.
    ///
    /// @throws CommandFailure if it ends before, or takes too long
    public static ChildServer start(String mainClass, List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(javaCommand());
        for (String option : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
            if (NOT_INHERITED.stream().noneMatch(option::startsWith)) {
                command.add(option);
            }
        }
        for (String name : System.getProperties().stringPropertyNames()) {
            if (name.startsWith(OWN_PROPERTIES)) {
                command.add("-D" + name + "=" + System.getProperty(name));
            }
        }
        command.addAll(programOptions(System.getProperty("java.class.path"), mainClass));
        command.addAll(arguments);
        return new ChildServer(new ProcessBuilder(command).start(), String.join(" ", arguments));
    }

    /// `-jar` where this program was started so, too: the manifest allows native access, and the option that does
    /// so besides would make the AOT cache useless.
    private static List<String> programOptions(String classPath, String mainClass) {
        boolean jar = classPath.endsWith(".jar") && !classPath.contains(File.pathSeparator);
        return jar
                ? List.of("-jar", classPath)
                : List.of("--enable-native-access=ALL-UNNAMED", "-cp", classPath, mainClass);
    }

    /// Where it listens.
    public int port() {
        return port;
    }

    /// A failure of this side, with how the other process ended, if it did, and what it said about it, if
    /// anything.
    public RuntimeException explain(RuntimeException failure) {
        StringBuilder text = new StringBuilder();
        if (hasEnded()) {
            text.append("; the second process ended with exit status ").append(process.exitValue());
        }
        close();
        String words = complaints.join().strip();
        if (!words.isEmpty()) {
            text.append("; the second process says: ").append(words);
        }
        return text.isEmpty() ? failure : new CommandFailure(failure.getMessage() + text, failure);
    }

    /// Whether it has ended without being asked to; what it was connected with shows a moment earlier.
    private boolean hasEnded() {
        try {
            return process.waitFor(LAST_MOMENTS.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return !process.isAlive();
        }
    }

    /// Ends it: asks first, by closing its input, and does not wait for ever.
    @Override
    public void close() {
        end();
        removeHook();
    }

    private void end() {
        try {
            process.getOutputStream().close();
            if (!process.waitFor(END_LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
                process.destroyForcibly();
            }
        } catch (IOException e) {
            process.destroyForcibly();
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    private void removeHook() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException _) {
            // The JVM is ending already, and the hook runs.
        }
    }

    private int awaitPort(String command) {
        CompletableFuture<String> line = CompletableFuture.supplyAsync(() -> lineWith(READY), ChildServer::start);
        try {
            String found = line.get(START_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
            if (!found.isEmpty()) {
                return Integer.parseInt(found.substring(READY.length()).strip());
            }
            process.waitFor(END_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
            throw fail("the second process (rdmacomm " + command + ") ended at once: "
                    + complaints.join().strip());
        } catch (TimeoutException e) {
            throw fail("the second process (rdmacomm " + command + ") was not ready within " + START_LIMIT.toSeconds()
                    + " s");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw fail("interrupted");
        } catch (ExecutionException e) {
            throw fail("the second process (rdmacomm " + command + ") failed: " + e.getCause());
        }
    }

    private CommandFailure fail(String message) {
        process.destroyForcibly();
        removeHook();
        return new CommandFailure(message);
    }

    /// The first line of its output that begins with `start`; empty when the output ends before.
    private String lineWith(String start) {
        try {
            BufferedReader reader = process.inputReader(StandardCharsets.UTF_8);
            String line = reader.readLine();
            while (line != null && !line.startsWith(start)) {
                line = reader.readLine();
            }
            return line == null ? "" : line;
        } catch (IOException e) {
            return "";
        }
    }

    private static String text(InputStream stream) {
        StringBuilder text = new StringBuilder();
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                text.append(line).append('\n');
            }
        } catch (IOException e) {
            text.append(e.getMessage());
        }
        return text.toString();
    }

    private static void start(Runnable task) {
        Thread thread = new Thread(task, "bench-server-output");
        thread.setDaemon(true);
        thread.start();
    }

    private static String javaCommand() {
        return ProcessHandle.current().info().command().orElseGet(() -> System.getProperty("java.home") + "/bin/java");
    }
}
