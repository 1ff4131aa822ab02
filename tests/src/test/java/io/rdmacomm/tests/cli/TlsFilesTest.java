package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.cli.Command.Result;
import io.rdmacomm.tests.fixture.Certificates;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The options for TLS of the commands that listen or connect.
final class TlsFilesTest {
    private static final Certificates FILES = Certificates.ofThisRun();

    @TempDir
    private Path folder;

    private static List<String> tls(Path keys) {
        return List.of(
                "--tls-keystore",
                keys.toString(),
                "--tls-truststore",
                FILES.authority().toString(),
                "--tls-password-file",
                FILES.password().toString());
    }

    /// The command line with more words, and with time for a busy machine.
    private static String[] line(String command, List<String> more) {
        List<String> words = new ArrayList<>(List.of(command.split(" ", -1)));
        words.addAll(List.of("--set-up-timeout", "60"));
        words.addAll(more);
        return words.toArray(String[]::new);
    }

    private static Result ping(String port, List<String> more) {
        return Command.run(line("ping 127.0.0.1:" + port + " --count 3 --interval 0", more));
    }

    private static void fails(Result client, String... words) {
        assertThat(client.exitCode()).isEqualTo(1);
        assertThat(client.err()).contains(words);
        assertThat(client.err().strip().lines()).hasSize(1);
    }

    @Test
    void aServerTalksOnlyToClientsWithACertificate() throws Exception {
        try (Command server = Command.start(line("ping --server --bind 127.0.0.1 --port 0", tls(FILES.here())))) {
            String port = server.port();
            Result right = ping(port, tls(FILES.here()));

            fails(ping(port, List.of()), "the server demands TLS", "--tls-keystore");
            fails(ping(port, tls(FILES.stranger())), "rejects this side's certificate", "--tls-keystore");
            assertThat(right.exitCode()).as(right.err()).isZero();
            assertThat(right.out()).contains("3 pings, all correct");
        }
    }

    @Test
    void aClientTalksOnlyToTheHostInTheCertificate() throws Exception {
        try (Command server = Command.start(line("ping --server --bind 127.0.0.1 --port 0", tls(FILES.elsewhere())))) {
            String port = server.port();
            List<String> anyHost = new ArrayList<>(tls(FILES.here()));
            anyHost.add("--tls-any-host");
            Result any = ping(port, anyHost);

            fails(ping(port, tls(FILES.here())), "connect to a name that is in the server's certificate");
            assertThat(any.exitCode()).as(any.err()).isZero();
        }
    }

    private static void refuses(String words, String... command) {
        Result result = Command.run(command);
        assertThat(result.exitCode()).as(result.err()).isEqualTo(2);
        assertThat(result.err()).contains(words);
        assertThat(result.err().strip().lines()).hasSize(1);
    }

    @Test
    void filesThatCannotBeUsedAreRefusedInOneLine() throws IOException {
        String password = FILES.password().toString();
        String keys = FILES.here().toString();
        String trusted = FILES.authority().toString();
        Path open = Files.writeString(folder.resolve("open"), "only for tests\n");
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rw-r--r--"));
        Path wrong = Files.writeString(folder.resolve("wrong"), "another\n");
        Files.setPosixFilePermissions(wrong, PosixFilePermissions.fromString("rw-------"));
        String ping = "ping localhost ";

        refuses("give all three", (ping + "--tls-keystore " + keys).split(" ", -1));
        refuses("give all three", (ping + "--tls-any-host").split(" ", -1));
        String rest = " --tls-truststore " + trusted + " --tls-password-file ";
        refuses("chmod 600 " + open, (ping + "--tls-keystore " + keys + rest + open).split(" ", -1));
        refuses("password", (ping + "--tls-keystore " + keys + rest + wrong).split(" ", -1));
        refuses("none cannot be read", (ping + "--tls-keystore " + folder + "/none" + rest + password).split(" ", -1));
        refuses("has no key", (ping + "--tls-keystore " + trusted + rest + password).split(" ", -1));
        refuses(
                "has no trusted certificate",
                (ping + "--tls-keystore " + keys + " --tls-truststore " + keys + " --tls-password-file " + password)
                        .split(" ", -1));
        refuses(
                "--tls-keystore cannot be combined with --",
                ("recv --transport tcp --dir . --tls-keystore " + keys).split(" ", -1));
    }

    /// All processes of a mesh get the options.
    @Test
    @Tag("slow")
    void theNodesOfAMeshHaveIt() throws Exception {
        Result mesh = Command.run(line("mesh --nodes 2 --iterations 20 --depth 4", tls(FILES.here())));

        assertThat(mesh.exitCode()).as(mesh.err()).isZero();
        assertThat(mesh.out()).contains("2 nodes, connected after");
    }

    /// The second process gets the options; its sessions for other modes have TLS, too.
    @Test
    @Tag("slow")
    void bothProcessesOfABenchmarkHaveIt() throws Exception {
        String what = "bench --no-floors --tests send_lat --sizes 64 --iterations 50 --warmup 0 --work-mode epoll";
        Result bench = Command.run(line(what, tls(FILES.here())));

        assertThat(bench.exitCode()).as(bench.err()).isZero();
        assertThat(bench.out()).contains("send_lat");
    }
}
