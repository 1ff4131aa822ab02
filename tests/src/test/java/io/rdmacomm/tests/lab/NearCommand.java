package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.cli.RdmaCommand;
import io.rdmacomm.tests.fixture.Deadline;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine;

/// The command, running in a thread of this JVM.
final class NearCommand {
    private static final long TIMEOUT_SECONDS = 120;

    private final StringWriter text = new StringWriter();
    private final CompletableFuture<Integer> exit;

    private NearCommand(String... words) {
        // A separate thread, because servers block and the common pool of a small machine has only one thread.
        exit = CompletableFuture.supplyAsync(
                () -> execute(text, words),
                task -> Thread.ofPlatform().daemon().name(words[0]).start(task));
    }

    /// Runs the command until it ends.
    static Outcome run(String words) {
        StringWriter text = new StringWriter();
        return new Outcome(execute(text, words.split(" ", -1)), text.toString());
    }

    /// Starts a server and waits until it listens.
    static NearCommand serve(String words) {
        NearCommand server = new NearCommand(words.split(" ", -1));
        Deadline.until(
                TimeUnit.SECONDS.toMillis(TIMEOUT_SECONDS),
                () -> server.exit.isDone() || server.text.toString().contains("listening on port"));
        assertThat(server.text.toString()).contains("listening on port");
        return server;
    }

    private static int execute(StringWriter text, String... words) {
        CommandLine command = RdmaCommand.commandLine(words);
        PrintWriter writer = new PrintWriter(text, true);
        command.setOut(writer).setErr(writer);
        return command.execute(words);
    }

    /// The port that the server listens on.
    String port() {
        return text.toString().replaceAll("(?s).*listening on port (\\d+).*", "$1");
    }

    Outcome end() throws InterruptedException, ExecutionException, TimeoutException {
        return new Outcome(exit.get(TIMEOUT_SECONDS, TimeUnit.SECONDS), text.toString());
    }
}
