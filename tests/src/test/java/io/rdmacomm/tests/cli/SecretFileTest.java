package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.cli.Command.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// `--secret-file` of the commands that listen or connect.
final class SecretFileTest {
    @TempDir
    private Path folder;

    private String file(String name, String content, String mode) throws IOException {
        Path file = Files.writeString(folder.resolve(name), content);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
        return file.toString();
    }

    private String secret() throws IOException {
        return file("secret", "b0344c61d8db38535ca8afceaf0bf12b\n", "rw-------");
    }

    /// The command line with more words, and with time for a busy machine.
    private static String[] line(String command, String... more) {
        List<String> words = new ArrayList<>(List.of(command.split(" ", -1)));
        words.addAll(List.of("--set-up-timeout", "60"));
        words.addAll(List.of(more));
        return words.toArray(String[]::new);
    }

    private static Command serve(String... more) throws IOException {
        return Command.start(line("ping --server --bind 127.0.0.1 --port 0", more));
    }

    private static Result ping(String port, String... more) {
        return Command.run(line("ping 127.0.0.1:" + port + " --count 3 --interval 0", more));
    }

    @Test
    void aServerTalksOnlyToClientsWithItsSecret() throws Exception {
        String other = file("other", "00000000000000000000000000000000\n", "rw-------");
        try (Command server = serve("--secret-file", secret())) {
            String port = server.port();
            Result without = ping(port);
            Result wrong = ping(port, "--secret-file", other);
            Result right = ping(port, "--secret-file", secret());

            assertThat(without.exitCode()).isEqualTo(1);
            assertThat(without.err()).contains("the server demands a secret", "--secret-file");
            assertThat(without.err().strip().lines()).hasSize(1);
            assertThat(wrong.exitCode()).isEqualTo(1);
            assertThat(wrong.err()).contains("is not that of the server", "same secret");
            assertThat(wrong.err().strip().lines()).hasSize(1);
            assertThat(right.exitCode()).as(right.err()).isZero();
            assertThat(right.out()).contains("3 pings, all correct");
        }
    }

    @Test
    void aClientWithASecretDoesNotTalkToAServerWithout() throws Exception {
        try (Command server = serve()) {
            Result client = ping(server.port(), "--secret-file", secret());

            assertThat(client.exitCode()).isEqualTo(1);
            assertThat(client.err()).contains("the server has none");
            assertThat(client.err().strip().lines()).hasSize(1);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ping --server",
                "ping localhost",
                "bench --server",
                "bench localhost",
                "bench --tests barrier --nodes 2",
                "mesh --nodes 2",
                "recv --dir .",
                "send file localhost"
            })
    void aFileThatOthersMayReadIsRefusedInOneLine(String command) throws IOException {
        String open = file("open", "b0344c61d8db38535ca8afceaf0bf12b\n", "rw-r-----");
        Result result = Command.run((command + " --secret-file " + open).split(" ", -1));

        assertThat(result.exitCode()).as(result.err()).isEqualTo(2);
        assertThat(result.err()).contains("accessible to other users: chmod 600 " + open);
        assertThat(result.err().strip().lines()).hasSize(1);
    }

    @Test
    void aShortOrMissingFileIsRefusedInOneLine() throws IOException {
        String brief = file("brief", "0123456789abcde\n", "rw-------");
        Result tooShort = Command.run("ping", "localhost", "--secret-file", brief);
        Result missing = Command.run(
                "ping", "localhost", "--secret-file", folder.resolve("none").toString());

        assertThat(tooShort.exitCode()).isEqualTo(2);
        assertThat(tooShort.err()).contains("has 15 bytes, must have 16 to 4096");
        assertThat(tooShort.err().strip().lines()).hasSize(1);
        assertThat(missing.exitCode()).isEqualTo(2);
        assertThat(missing.err()).contains("none cannot be read");
        assertThat(missing.err().strip().lines()).hasSize(1);
    }

    @Test
    void whatHasNoSecretRefusesTheOption() throws IOException {
        for (String command : new String[] {
            "ping --server --interop rping", "send --transport tcp file localhost", "recv --transport tcp --dir ."
        }) {
            Result result = Command.run((command + " --secret-file " + secret()).split(" ", -1));

            assertThat(result.exitCode()).as(command).isEqualTo(2);
            assertThat(result.err()).contains("--secret-file cannot be combined with --");
        }
    }

    /// All processes of a mesh get the option.
    @Test
    @Tag("slow")
    void theNodesOfAMeshHaveIt() throws Exception {
        Result mesh = Command.run(line("mesh --nodes 2 --iterations 20 --depth 4", "--secret-file", secret()));

        assertThat(mesh.exitCode()).as(mesh.err()).isZero();
        assertThat(mesh.out()).contains("2 nodes, connected after");
    }

    /// The second process gets the option; its sessions for other modes have the secret, too.
    @Test
    @Tag("slow")
    void bothProcessesOfABenchmarkHaveIt() throws Exception {
        String what = "bench --no-floors --tests send_lat --sizes 64 --iterations 50 --warmup 0 --work-mode epoll";
        Result bench = Command.run(line(what, "--secret-file", secret()));

        assertThat(bench.exitCode()).as(bench.err()).isZero();
        assertThat(bench.out()).contains("send_lat");
    }
}
