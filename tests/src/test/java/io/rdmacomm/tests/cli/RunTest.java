package io.rdmacomm.tests.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.rdmacomm.tests.fixture.JavaCommand;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// `rdmacomm run`: programs that know nothing of RDMA.
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class RunTest {
    private static Command.Result run(List<String> options, String... command)
            throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of("run"));
        words.addAll(options);
        words.add("--");
        words.addAll(List.of(command));
        Map<String, String> environment = Map.of("JDK_JAVA_OPTIONS", "-Drdmacomm.test.kept=yes");
        try (Command run = Command.start(environment, words.toArray(String[]::new))) {
            return run.end();
        }
    }

    private static Command.Result runHttp(String... options) throws IOException, InterruptedException {
        return run(List.of(options), JavaCommand.of(Http.class, List.of()).toArray(String[]::new));
    }

    /// The HTTP server and client of the JDK.
    static final class Http {
        private Http() {}

        public static void main(String[] arguments) throws Exception {
            HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.createContext("/", exchange -> {
                byte[] body = exchange.getRequestBody().readAllBytes();
                exchange.sendResponseHeaders(200, body.length);
                exchange.getResponseBody().write(body);
                exchange.close();
            });
            server.start();
            byte[] sent = new byte[500_000];
            new Random(1).nextBytes(sent);
            URI uri = URI.create("http://" + server.getAddress().getHostString() + ":"
                    + server.getAddress().getPort());
            int equal = 0;
            try (HttpClient client = HttpClient.newHttpClient()) {
                for (int i = 0; i < 5; i++) {
                    byte[] back = client.send(
                                    HttpRequest.newBuilder(uri)
                                            .POST(HttpRequest.BodyPublishers.ofByteArray(sent))
                                            .build(),
                                    HttpResponse.BodyHandlers.ofByteArray())
                            .body();
                    equal += Arrays.equals(sent, back) ? 1 : 0;
                }
            }
            server.stop(0);
            System.out.println(equal + " equal, kept " + System.getProperty("rdmacomm.test.kept"));
            System.exit(arguments.length);
        }
    }

    @Test
    void anHttpServerAndItsClientUseRdma() throws Exception {
        Command.Result ended = runHttp("--device", "soft0", "--rules", "127.0.0.0/8");
        assertThat(ended.out()).as(ended.err()).contains("5 equal, kept yes");
        assertThat(ended.err()).containsPattern("listen at 127.0.0.1:0: RDMA").containsPattern("connect to .*: RDMA");
        assertThat(ended.exitCode()).isZero();
    }

    @Test
    void addressesThatNoRuleNamesStayWithTcp() throws Exception {
        Command.Result ended = runHttp("--device", "soft0", "--rules", "192.0.2.0/24");
        assertThat(ended.out()).as(ended.err()).contains("5 equal");
        assertThat(ended.err())
                .contains("TCP, because no rule names the address")
                .doesNotContain(": RDMA");
    }

    @Test
    void rulesForNothingAreReported() throws Exception {
        Command.Result ended = runHttp("--device", "soft0", "--rules", "!*");
        assertThat(ended.out()).as(ended.err()).contains("5 equal");
        assertThat(ended.err()).contains("all its sockets stay with TCP, because the rules name no address");
    }

    @Test
    void byDefaultTheLoopbackInterfaceStaysWithTcp() throws Exception {
        Command.Result ended = runHttp("--device", "soft0");
        assertThat(ended.out()).as(ended.err()).contains("5 equal");
        assertThat(ended.err())
                .contains("TCP, because no rule names the address")
                .doesNotContain(": RDMA");
    }

    /// A server at the wildcard address, as most are, and its client.
    static final class Wildcard {
        private Wildcard() {}

        public static void main(String[] arguments) throws Exception {
            try (ServerSocketChannel server = ServerSocketChannel.open()) {
                int port = ((InetSocketAddress)
                                server.bind(new InetSocketAddress(0)).getLocalAddress())
                        .getPort();
                Thread serving = Thread.startVirtualThread(() -> {
                    try (SocketChannel accepted = server.accept()) {
                        accepted.write(ByteBuffer.wrap("no such request, and many more words".getBytes(UTF_8)));
                    } catch (IOException e) {
                        System.out.println(e);
                    }
                });
                try (SocketChannel client =
                        SocketChannel.open(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port))) {
                    System.out.println(client.read(ByteBuffer.allocate(100)) + " bytes");
                } catch (IOException e) {
                    System.out.println(e);
                }
                serving.join();
            }
        }
    }

    @Test
    void aRuleForTheWildcardAddressIsForBothFamilies() throws Exception {
        List<String> program = JavaCommand.of(Wildcard.class, List.of("-Djava.net.preferIPv6Addresses=true"));
        Command.Result ended =
                run(List.of("--device", "soft0", "--rules", "0.0.0.0,127.0.0.0/8"), program.toArray(String[]::new));
        assertThat(ended.out()).as(ended.err()).contains("36 bytes");
        assertThat(ended.err()).containsPattern("listen at [0:]+: RDMA").containsPattern("connect to .*: RDMA");
    }

    @Test
    void endsThatDoNotAgreeNameTheRuleToAdd() throws Exception {
        List<String> program = JavaCommand.of(Wildcard.class, List.of());
        Command.Result ended =
                run(List.of("--device", "soft0", "--rules", "127.0.0.0/8"), program.toArray(String[]::new));
        assertThat(ended.err())
                .containsPattern(
                        "listen at .*: TCP, because no rule names the wildcard address.*: add the rule 0.0.0.0")
                .containsPattern("connect to .*: RDMA failed: .*a rule that names its address: 0.0.0.0 or :[0-9]+;"
                        + " or add the rule !127.0.0.1:[0-9]+ here");
    }

    /// An image with fewer modules than the agent would like: no program of it may need more.
    @Test
    void aProgramOnTheModulePathNeedsNoOtherModules() throws Exception {
        List<String> program = JavaCommand.of(Wildcard.class, List.of("--limit-modules", "java.base,java.instrument"));
        // By way of a shell: `run` adds a module to a launcher that has it.
        List<String> words = new ArrayList<>(List.of("sh", "-c", "exec \"$@\"", "sh"));
        words.addAll(program);
        Command.Result ended =
                run(List.of("--device", "soft0", "--rules", "0.0.0.0,127.0.0.0/8"), words.toArray(String[]::new));
        assertThat(ended.out()).as(ended.err()).contains("36 bytes");
    }

    @Test
    void theExitCodeIsThatOfTheProgram() throws Exception {
        Command.Result ended = run(List.of("--rules", "*", "--quiet"), "sh", "-c", "exit 7");
        assertThat(ended.exitCode()).isEqualTo(7);
        assertThat(ended.err()).doesNotContain("rdmacomm:");
    }

    /// A program that takes a moment to end.
    static final class Server {
        private Server() {}

        public static void main(String[] arguments) throws Exception {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("the hook ran")));
            try (ServerSocketChannel server = ServerSocketChannel.open()) {
                var _ = server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                System.out.println("process " + ProcessHandle.current().pid());
                var _ = server.accept();
            }
        }
    }

    /// The signal of supervisors and `timeout`, that of a lost terminal, and that of Ctrl-C.
    @ParameterizedTest
    @CsvSource({"TERM, 143", "HUP, 129", "INT, 130"})
    void signalsReachTheProgram(String signal, int status, @TempDir Path folder) throws Exception {
        List<String> words = new ArrayList<>(List.of("run", "--device", "soft0", "--rules", "127.0.0.0/8", "--"));
        words.addAll(JavaCommand.of(Server.class, List.of()));
        try (Command run = Command.start(new String[] {"-Djava.io.tmpdir=" + folder}, words.toArray(String[]::new))) {
            // Its own process: kill(1) and supervisors know no other, also if it is the first of a container.
            run.awaitLine("process " + run.pid());
            run.signal(signal);
            Command.Result ended = run.end();
            assertThat(ended.out()).contains("the hook ran");
            assertThat(ended.err()).contains("process " + run.pid() + ": listen at 127.0.0.1:0: RDMA");
            assertThat(ended.exitCode()).isEqualTo(status);
        }
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void theProgramEndsWithTheCommandThatIsKilled() throws Exception {
        List<String> words = new ArrayList<>(List.of("run", "--"));
        words.addAll(JavaCommand.of(Server.class, List.of()));
        try (Command run = Command.start(words.toArray(String[]::new))) {
            run.awaitLine("process " + run.pid());
            run.kill();
            assertThat(ProcessHandle.of(run.pid()).filter(ProcessHandle::isAlive))
                    .isEmpty();
        }
    }

    /// The threads of a JVM block some signals, and the JVM has open files.
    @Test
    void theProgramStartsAsFromAShell() throws Exception {
        String script = "grep SigBlk /proc/self/status; ls -l /proc/$$/fd";
        Command.Result ended = run(List.of(), "sh", "-c", script);
        assertThat(ended.out())
                .as(ended.err())
                .contains("SigBlk:\t0000000000000000")
                .doesNotContain(System.getProperty("java.home"))
                .doesNotContain(".jar", "/dev/");
    }

    @Test
    void anUnknownDeviceIsFoundBeforeTheProgramStarts() throws Exception {
        Command.Result ended = run(List.of("--device", "nosuch"), "echo", "started");
        assertThat(ended.exitCode()).isEqualTo(2);
        assertThat(ended.out()).isEmpty();
        assertThat(ended.err()).contains("'nosuch'").contains("soft0");
    }

    @Test
    void aLauncherThatTakesNoOptionsIsNamedAtOnce() throws Exception {
        Path launcher = Path.of(System.getProperty("java.home"), "bin", "jwebserver");
        Command.Result ended = run(List.of(), launcher.toString(), "--version");
        assertThat(ended.exitCode()).isEqualTo(1);
        assertThat(ended.out()).isEmpty();
        assertThat(ended.err()).contains("ignores JDK_JAVA_OPTIONS").contains("java -m jdk.httpserver");
    }

    @Test
    void wrongUsageIsRejected() throws Exception {
        assertThat(run(List.of("--rules", "*"), "/no/such/program").exitCode()).isEqualTo(2);
        Command.Result wrong = runHttp("--rules", "nowhere");
        assertThat(wrong.exitCode()).isEqualTo(2);
        assertThat(wrong.err()).contains("'nowhere' is no address");
    }
}
