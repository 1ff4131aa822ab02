package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.cli.Command.Result;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Help, wrong usage and failures: exit codes 0, 2 and 1, and one line that explains what to do.
class UsageTest {
    private static final List<String> COMMANDS = List.of(
            "devices",
            "info",
            "watch",
            "doctor",
            "top",
            "ping",
            "bench",
            "mesh",
            "send",
            "recv",
            "run",
            "stream",
            "copy-string");
    private static final Pattern SHORT_OPTION = Pattern.compile("(?m)^ +(-[A-Za-z]), (--[a-z-]+)");

    @ParameterizedTest
    @FieldSource("COMMANDS")
    void everyCommandHasHelpWithAnExample(String command) {
        Result result = Command.run(command, "--help");

        assertThat(result.exitCode()).isZero();
        assertThat(result.out()).contains("Usage: rdmacomm " + command, "Example", "--verbose");
        assertThat(result.err()).isEmpty();
    }

    @Test
    void theOptionsOfBenchAreGrouped() {
        assertThat(Command.run("bench", "--help").out())
                .containsSubsequence(
                        "Options:",
                        "--sizes",
                        "Output:",
                        "--csv",
                        "Server:",
                        "--bind",
                        "Nodes",
                        "--nodes",
                        "Modes:",
                        "--work-mode",
                        "Device",
                        "--gid-index",
                        "Security:",
                        "--secret-file",
                        "General:",
                        "--verbose");
    }

    /// Also the other way round, except for `stream`, whose letters are those of rstream.
    @Test
    void aLetterMeansTheSameInEveryCommand() {
        Map<String, Set<String>> meanings = new TreeMap<>();
        Map<String, Set<String>> letters = new TreeMap<>();
        for (String command : COMMANDS) {
            Matcher option = SHORT_OPTION.matcher(Command.run(command, "--help").out());
            while (option.find()) {
                // bench has several of them.
                String meaning = option.group(2).replace("--sizes", "--size");
                meanings.computeIfAbsent(option.group(1), _ -> new TreeSet<>()).add(meaning);
                if (!command.equals("stream")) {
                    letters.computeIfAbsent(meaning, _ -> new TreeSet<>()).add(option.group(1));
                }
            }
        }

        assertThat(meanings)
                .containsKeys("-d", "-h", "-p", "-v")
                .allSatisfy((letter, all) -> assertThat(all).as(letter).hasSize(1));
        assertThat(letters)
                .allSatisfy((meaning, all) -> assertThat(all).as(meaning).hasSize(1));
    }

    @Test
    void theHelpListsAllCommands() {
        for (String[] arguments : new String[][] {{}, {"--help"}}) {
            Result result = Command.run(arguments);

            assertThat(result.exitCode()).isZero();
            assertThat(result.out()).contains(COMMANDS);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "nonsense | unexpected argument 'nonsense'",
                "bnch | unexpected argument 'bnch', did you mean bench?",
                "bench --test send_lat | unknown option --test, did you mean --tests?",
                "ping host --cout=3 | did you mean --count?",
                "--nonsense | unknown option",
                "devices --nonsense | unknown option",
                "info a b | unexpected argument 'b'",
                "ping host --bind 127.0.0.1 | --bind needs --server",
                "stream host --once | --once needs --server",
                "bench --port 3000 | --port needs --server or HOST",
                "bench --sizes foo | 'foo' is not a size",
                "bench --sizes 8,0 | --sizes 0 B is out of range: it can be 1 B to 1 GiB",
                "bench --sizes -8 | is not a size",
                "bench --sizes 9999999999999999999g | is not a size",
                "bench --tests nonsense | 'nonsense' is not a test; the tests are send_lat",
                "bench --depth 0 | --depth 0 is out of range: it can be 1 to 16384",
                "bench --duration nonsense | --duration",
                "bench --server host | HOST cannot be combined with --server",
                "bench --server --json - | --json cannot be combined with --server",
                "send file host --chunk 0 | out of range",
                "send file host --depth 2000 | out of range",
                "ping | HOST is missing",
                "ping host:99999 | is not a valid address",
                "ping host --size 3 | out of range",
                "ping host --count 0 | --count 0 is out of range: it can be 1 or more",
                "send | FILE... HOST",
                "send file | FILE... HOST",
                "bench --duration x | 'x' is not a number",
                "send file host:x | the last argument is the receiver",
                "send file host --transport pigeon | pigeon",
                "recv | --dir",
                "ping host --interop pigeon | pigeon",
                "ping host --interop rping --size 25 | out of range: it can be 26 to 65535",
                "ping host --interop rping --size 65536 | out of range",
                "ping --server --interop rping --count 3 | --count is an option of the rping client",
                "ping --server --json - | --json cannot be combined with --server",
                "ping host --interop rc_pingpong --rx-depth 1 | --rx-depth 1 is out of range",
                "ping --server --rdma-cm-port 0 | --rdma-cm-port 0 is out of range: it can be 1 to 65535",
                "ping host --pkey-index 65536 | --pkey-index 65536 is out of range",
                "ping host -R --pkey-index 1 | --pkey-index cannot be combined with --rdma-cm",
                "ping host --rdma-cm --sl 3 | --sl cannot be combined with --rdma-cm",
                "bench host -R --mtu 1024 | --mtu cannot be combined with --rdma-cm",
                "bench host -R -x 1 | --gid-index cannot be combined with --rdma-cm",
                "ping host --rdma-cm-port 2021 --sl 3 | --sl cannot be combined with --rdma-cm",
                "ping host --rdma-cm-port 65536 | --rdma-cm-port 65536 is out of range",
                "ping host --rdma-cm-port x | 'x' is not a whole number",
                "ping --server --interop rping --rdma-cm-port 2021 | --rdma-cm-port cannot be combined with --interop",
                "recv --dir . --transport tcp --rdma-cm-port 2021 | --rdma-cm-port cannot be combined with --transport tcp",
                "send file host --transport tcp --rdma-cm-port 2021 | --rdma-cm-port cannot be combined with --transport tcp",
                "ping host --timeout 0 | --timeout 0 is out of range: it can be above 0, up to 3600",
                "top --interval 0 | --interval 0 is out of range: it can be 0.1 to 3600",
                "top --pid 0 | --pid 0 is out of range: it can be 1 or more",
                "top --json - | --json needs --once",
                "top --once --pid x | 'x' is not a",
                "ping host --work-mode spin | 'spin' is not one of polling, completion-channel, epoll and adaptive",
                "bench --work-mode POLLING | 'POLLING' is not one of polling, completion-channel, epoll and adaptive",
                "send file host --thread-mode x | 'x' is not one of per-queue-pair, shared-cq and caller",
                "recv --dir . --thread-mode 1 | '1' is not one of per-queue-pair, shared-cq and caller",
                "ping --server --interop rping --work-mode epoll | --work-mode cannot be combined with --interop",
                "ping host --interop rc_pingpong --thread-mode caller | --thread-mode cannot be combined with --interop",
                "send file host --transport tcp --work-mode epoll | --work-mode cannot be combined with --transport tcp",
                "recv --dir . --transport tcp --thread-mode caller | --thread-mode cannot be combined with --transport tcp",
                "bench --server --work-mode epoll | --work-mode cannot be combined with --server",
                "bench --tests write_bw --work-mode epoll | write_bw always polls",
                "bench --tests send_lat,write_lat --thread-mode caller | write_lat always polls",
                "bench --tests socket_lat --work-mode epoll | --work-mode cannot be combined with socket_lat",
                "bench --tests tcp_bw --bidirectional | --bidirectional cannot be combined with tcp_bw",
                "bench --tests socket_bw --qps 2 | --qps cannot be combined with socket_bw",
                "bench --tests socket_lat --transport ud | socket_lat",
                "bench --rounds 0 | --rounds 0 is out of range: it can be 1 to 100",
                "bench --server --rounds 3 | --rounds cannot be combined with --server",
                "bench --tests barrier --report x | --report cannot be combined with collectives",
                "bench --qps 200 --idle-qps 200 | can be at most 256 together",
                "watch --count 0 | --count 0 is out of range: it can be 1 or more",
                "watch --duration -1 | --duration -1 is out of range: it can be 0 to 1000000000",
                "recv --dir . --memory 3 | --memory 3 B is out of range: it can be 1 MiB or more",
                "ping host --interval -1 | --interval -1 is out of range: it can be 0 to 3600",
                "ping --server --shared-receives 1 | --shared-receives 1 is out of range: it can be 2 to 65536",
                "ping host --set-up-timeout 0 | --set-up-timeout 0 is out of range: it can be 1 to 3600",
                "bench --matrix --tests send_lat | --tests cannot be combined with --matrix",
                "bench --matrix --work-mode epoll | --work-mode cannot be combined with --matrix",
                "bench --matrix --server | --server cannot be combined with --matrix",
                "bench --matrix --no-samples | --no-samples cannot be combined with --matrix",
                "bench --matrix --no-pin | --no-pin cannot be combined with --matrix",
                "bench --matrix --depth 3 | --depth cannot be combined with --matrix",
                "bench --matrix --duration 0 | --duration 0 is out of range: it can be above 0, up to 86400",
                "stream | HOST is missing",
                "stream --server host | HOST cannot be combined with --server",
                "stream --server --json - | --json cannot be combined with --server",
                "stream host -S 0 | '0' is out of range: it can be 1 to 1 GiB, or all",
                "stream host -S much | 'much' is not a size",
                "stream host -C 0 | --count 0 is out of range",
                "stream host -I x | 'x' is not a whole number",
                "stream host -B 2g | --buffer 2 GiB is out of range: it can be 1 B to 1 GiB",
                "stream host -T x | 'x' is not one of socket, async, block, nonblock, resolve and verify",
                "stream host -T f | -T f has no use here",
                "stream host -T b -T a | -T b waits in blocking calls",
                "stream host -S all -I 3 | it cannot be combined with --count and --iterations",
                "stream host --tcp -d soft0 | --device cannot be combined with --tcp",
                "stream host -T s -d soft0 | --device cannot be combined with --tcp",
                "doctor --serve --peer host | --peer cannot be combined with --serve",
                "doctor --serve --json - | --json cannot be combined with --serve",
                "doctor --report name | --report is an option of the self-test: name a device with --device",
                "doctor --mtu 1024 | --mtu is an option of the self-test: name a device with --device",
                "doctor --peer host --port 1 | --port is an option of --serve",
                "doctor --device soft0 --check-timeout 0 | --check-timeout 0 is out of range: it can be 1 to 3600",
                "doctor --device soft0 --rdma-cm-port 3 | --rdma-cm-port cannot be combined with the self-test",
                "copy-string | HOST and TEXT are missing",
                "copy-string host | HOST and TEXT are missing",
                "copy-string --server host text | HOST cannot be combined with --server",
                "copy-string --server --json - | --json cannot be combined with --server",
                "copy-string host text --timeout -1 | --timeout -1 is out of range",
                "copy-string host:x text | is not a valid address",
            })
    void wrongUsageIsOneLineAndExitCode2(String words, String expected) {
        Result result = Command.run(words.strip().split(" ", -1));

        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.out()).isEmpty();
        assertThat(result.err())
                .contains(expected, "--help")
                .startsWith("rdmacomm")
                .satisfies(UsageTest::isOneLine);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "info nonsense | nonsense",
                "doctor --device nonsense | nonsense",
                "doctor --device soft0 --report /no/such/folder/name | its directory does not exist",
                "ping no-such-host.invalid | unknown",
                "ping localhost:1 | no program listens on localhost:1",
                "ping localhost --port 1 | no program listens on localhost:1",
                "bench localhost -p 1 | no program listens on localhost:1",
                "bench no-such-host.invalid | unknown",
                "bench localhost:1 | no program listens on localhost:1",
                "bench --device nonsense | nonsense",
                "bench --tests send_bw --sizes 32M --no-floors | size 33554432 of send_bw is out of range",
                "send pom.xml localhost:1 | no program listens on localhost:1",
                "send pom.xml localhost:1 --transport tcp | no program listens on localhost:1",
                "send pom.xml no-such-host.invalid | unknown",
                "send pom.xml no-such-host.invalid --transport tcp | unknown",
                "recv --dir /no/such/folder | is not a directory",
                "devices --json /no/such/folder/file | cannot be written",
                "ping localhost:1 --interop rc_pingpong | no program listens on localhost:1",
                "ping no-such-host.invalid --interop rc_pingpong | unknown",
                "ping --server --interop rc_pingpong --bind 192.0.2.1 | cannot listen",
            })
    void aFailureIsOneLineAndExitCode1(String words, String expected) {
        Result result = Command.run(words.strip().split(" ", -1));

        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err()).contains(expected).startsWith("rdmacomm").satisfies(UsageTest::isOneLine);
    }

    @Test
    void aStackTraceIsShownOnlyOnRequest() {
        assertThat(Command.run("info", "nonsense").err()).doesNotContain("\tat ");
        assertThat(Command.run("info", "nonsense", "-v").err()).contains("\tat ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ping", "bench", "send", "send --transport tcp"})
    void anotherProgramOnThePortIsReported(String command, @TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("file"), "content");
        try (ServerSocket stranger = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            Thread.ofVirtual().start(() -> greet(stranger));

            Result result = Command.run(words(command, file, "localhost:" + stranger.getLocalPort()));

            assertThat(result.exitCode()).isEqualTo(1);
            assertThat(result.err()).startsWith("rdmacomm").satisfies(UsageTest::isOneLine);
        }
    }

    @Tag("slow")
    @Test
    void aSilentPeerTimesOut() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            long begin = System.nanoTime();

            Result result = Command.run("ping", "localhost:" + silent.getLocalPort());

            assertThat(result.exitCode()).isEqualTo(1);
            assertThat(result.err()).satisfies(UsageTest::isOneLine);
            assertThat((System.nanoTime() - begin) / 1e9).isLessThan(30);
        }
    }

    private static String[] words(String command, Path file, String host) {
        String[] words = command.split(" ", -1);
        return switch (words.length) {
            case 1 ->
                command.equals("send") ? new String[] {"send", file.toString(), host} : new String[] {command, host};
            default -> new String[] {"send", file.toString(), host, words[1], words[2]};
        };
    }

    private static void greet(ServerSocket stranger) {
        try (Socket client = stranger.accept()) {
            client.getOutputStream()
                    .write("220 mail.example ready, what can I do for you? "
                            .repeat(50)
                            .getBytes(StandardCharsets.US_ASCII));
            client.getOutputStream().flush();
            client.getInputStream().readAllBytes();
        } catch (IOException _) {
            // The client hung up, as it should.
        }
    }

    private static void isOneLine(String text) {
        assertThat(text.strip().lines()).hasSize(1);
        assertThat(text).doesNotContain("Exception", "\tat ");
    }
}
