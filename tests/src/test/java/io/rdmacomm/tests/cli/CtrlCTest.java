package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.cli.Command.Result;
import io.rdmacomm.tests.fixture.Deadline;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Ctrl-C, and a pipe that nobody reads any more, end each command without a complaint. PingTest has those of `ping`.
@Tag("slow")
class CtrlCTest {
    private static final int INTERRUPTED = 130;
    private static final int CLOSED_PIPE = 141;

    @TempDir
    private Path folder;

    private static void interrupt(Command command) throws Exception {
        command.signal("INT");
        Result result = command.end();
        assertThat(result.exitCode()).isEqualTo(INTERRUPTED);
        assertThat(result.err()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"bench --server", "doctor --device soft0 --serve", "recv", "recv --transport tcp"})
    void endsAServer(String words) throws Exception {
        String[] directory = words.startsWith("recv") ? new String[] {"--dir", folder.toString()} : new String[0];
        try (Command server = Command.start(
                Stream.of(words.split(" "), new String[] {"--port", "0", "--bind", "127.0.0.1"}, directory)
                        .flatMap(Stream::of)
                        .toArray(String[]::new))) {
            server.port();
            interrupt(server);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"mesh --nodes 2 --iterations 1000000000", "bench --duration 60"})
    void endsAlsoTheChildProcesses(String words) throws Exception {
        try (Command command = Command.start(words.split(" "))) {
            ProcessHandle child = command.awaitChild();
            interrupt(command);
            Deadline.await("the end of the child process", () -> !child.isAlive());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp"})
    void endsASenderAndNotItsReceiver(String transport) throws Exception {
        Path target = Files.createDirectory(folder.resolve("target"));
        Path file = folder.resolve("file");
        try (RandomAccessFile large = new RandomAccessFile(file.toFile(), "rw")) {
            large.setLength(1L << 40);
        }
        Path small = Files.writeString(folder.resolve("small"), "content");
        try (Command receiver =
                Command.start("recv", "--dir", target.toString(), "--port", "0", "--transport", transport)) {
            String address = "localhost:" + receiver.port();
            try (Command sender = Command.start("send", file.toString(), address, "--transport", transport)) {
                Deadline.await("the first bytes", () -> !contents(target).isEmpty());
                interrupt(sender);
            }
            assertThat(Command.run("send", small.toString(), address, "--transport", transport)
                            .exitCode())
                    .isZero();
            Deadline.await("the end of the first file", () -> contents(target).size() == 1);
        }
        assertThat(contents(target)).containsExactly("small");
    }

    private static List<String> contents(Path folder) {
        return Stream.of(Objects.requireNonNull(folder.toFile().list())).toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"top --interval 0.1", "bench --duration 1"})
    void nobodyReadsTheOutput(String words) throws Exception {
        try (Command command = Command.start(words.split(" "))) {
            command.awaitLine("");
            command.closeOutput();
            assertThat(command.exitCode()).isEqualTo(CLOSED_PIPE);
            assertThat(command.complaints()).isEmpty();
        }
    }
}
