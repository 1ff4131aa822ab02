package io.rdmacomm.tests.cli;

import io.rdmacomm.cli.RdmaCommand;
import io.rdmacomm.tests.fixture.JavaCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import picocli.CommandLine;

/// Runs the command, in this JVM or as a separate process.
final class Command implements AutoCloseable {
    private static final long TIMEOUT_SECONDS = 60;
    /// No command runs longer. The time-out of a test does not end a thread that reads from a pipe.
    private static final long LONGEST_RUN_SECONDS = 600;
    private static final String READY = "listening on port ";

    private final Process process;
    private final BufferedReader output;
    private final CompletableFuture<String> complaints;
    private final StringBuilder seen = new StringBuilder();

    private Command(Process process) {
        this.process = process;
        process.onExit()
                .orTimeout(LONGEST_RUN_SECONDS, TimeUnit.SECONDS)
                .exceptionally(late -> process.destroyForcibly());
        this.output = process.inputReader(StandardCharsets.UTF_8);
        // Not in the common pool: it has one thread on two cores, and the ends of processes are handled there.
        this.complaints = CompletableFuture.supplyAsync(
                this::readComplaints, task -> Thread.ofPlatform().daemon().start(task));
    }

    private String readComplaints() {
        try {
            return new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            return e.toString();
        }
    }

    /// The result of a run.
    record Result(int exitCode, String out, String err) {}

    /// Runs the command in this JVM.
    static Result run(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine commandLine = RdmaCommand.commandLine(arguments);
        commandLine.setOut(new PrintWriter(out, true));
        commandLine.setErr(new PrintWriter(err, true));
        int exitCode = commandLine.execute(arguments);
        return new Result(exitCode, out.toString(), err.toString());
    }

    /// Starts the command as a process.
    static Command start(String... arguments) throws IOException {
        return start(Map.of(), arguments);
    }

    static Command start(Map<String, String> environment, String... arguments) throws IOException {
        return start(new String[0], environment, arguments);
    }

    /// Starts the command as a process whose JVM has additional options.
    static Command start(String[] jvmOptions, String... arguments) throws IOException {
        return start(jvmOptions, Map.of(), arguments);
    }

    private static Command start(String[] jvmOptions, Map<String, String> environment, String... arguments)
            throws IOException {
        return launch(List.of(), jvmOptions, environment, arguments);
    }

    /// Starts the command with words before it that start it, such as those of `mpirun`.
    static Command launch(
            List<String> launcher, String[] jvmOptions, Map<String, String> environment, String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>(launcher);
        List<String> options = new ArrayList<>(List.of("-Xmx512m"));
        for (String name : System.getProperties().stringPropertyNames()) {
            if (name.startsWith("rdmacomm.")) {
                options.add("-D" + name + "=" + System.getProperty(name));
            }
        }
        options.addAll(List.of(jvmOptions));
        // A shell may have these tests ignore signals: nohup(1), or a job in the background of a script.
        command.addAll(List.of("env", "--default-signal=HUP,INT"));
        command.addAll(JavaCommand.of(RdmaCommand.class, options));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(environment);
        return new Command(builder.start());
    }

    /// Waits until the server reports its port.
    String port() throws IOException {
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            seen.append(line).append('\n');
            if (line.startsWith(READY)) {
                return line.substring(READY.length()).split(" ", 2)[0];
            }
        }
        throw new AssertionError("it exited before it listened: " + complaints.join());
    }

    /// Waits until it prints a line with `words`.
    void awaitLine(String words) throws IOException {
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            seen.append(line).append('\n');
            if (line.contains(words)) {
                return;
            }
        }
        throw new AssertionError("it exited before it printed '" + words + "': " + complaints.join());
    }

    /// Waits until it exits.
    Result end() throws IOException, InterruptedException {
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            seen.append(line).append('\n');
        }
        if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("it does not exit");
        }
        return new Result(process.exitValue(), seen.toString(), complaints.join());
    }

    /// Waits until it has started a child process.
    ProcessHandle awaitChild() {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        while (System.nanoTime() - deadline < 0 && process.isAlive()) {
            Optional<ProcessHandle> child = process.children().findFirst();
            if (child.isPresent()) {
                return child.get();
            }
            Thread.onSpinWait();
        }
        throw new AssertionError("it started no child process");
    }

    /// Its process identifier.
    long pid() {
        return process.pid();
    }

    /// How many threads it has.
    long threads() throws IOException {
        try (Stream<Path> tasks = Files.list(Path.of("/proc/" + process.pid() + "/task"))) {
            return tasks.count();
        }
    }

    /// Ends it like Ctrl-C.
    void interrupt() {
        process.toHandle().destroy();
    }

    /// Sends it a signal, such as INT of Ctrl-C.
    void signal(String name) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                .start()
                .waitFor();
    }

    /// Stops reading what it prints, like `head`.
    void closeOutput() throws IOException {
        output.close();
    }

    /// Waits until it exits, without reading what it prints.
    int exitCode() throws InterruptedException {
        if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("it does not exit");
        }
        return process.exitValue();
    }

    /// What it complained about, after its end.
    String complaints() {
        return complaints.join();
    }

    /// Ends it like kill -9.
    void kill() {
        process.destroyForcibly();
        process.onExit().join();
    }

    @Override
    public void close() {
        kill();
    }
}
