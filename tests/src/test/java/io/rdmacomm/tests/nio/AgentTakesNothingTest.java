package io.rdmacomm.tests.nio;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.fixture.JavaCommand;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The same calls in a JVM without the agent and in JVMs with it have the same outcomes, except for those that
/// [#OF_RSOCKETS] and [#OF_OTHER_RULES] list.
@Timeout(value = 5, unit = TimeUnit.MINUTES)
final class AgentTakesNothingTest {
    /// The names with those that only rsockets have.
    private static final String NAMES =
            "\\[IP_TOS, MAPPINGS, MESSAGES, SO_.*TCP_QUICKACK] / \\[MAPPINGS, MESSAGES, SO_.*TCP_QUICKACK]";
    private static final String OURS = "io.rdmacomm.nio.RdmaSelectorProvider true io.rdmacomm.nio.channel.Rdma.*";
    /// Where a channel differs that could have become an rsocket, as regular expressions.
    private static final Map<String, String> OF_OTHER_RULES = Map.of("options.names", NAMES, "provider", OURS);

    private static final String NO_URGENT_DATA = "java.net.SocketException: an rsocket has no urgent data";
    /// Where an rsocket differs from TCP.
    private static final Map<String, String> OF_RSOCKETS = Map.ofEntries(
            Map.entry("options.names", NAMES),
            Map.entry("provider", OURS),
            Map.entry("urgentData.inline", NO_URGENT_DATA),
            Map.entry("urgentData.leftOut", NO_URGENT_DATA),
            Map.entry("urgentData.outputIsShutDown", NO_URGENT_DATA),
            // That of the JDK says that the output was closed asynchronously.
            Map.entry("end.shutdown", "-1 java.nio.channels.ClosedChannelException 1 A"),
            // SO_REUSEPORT has no effect.
            Map.entry("options.twoServersAtOnePort", "java.net.BindException: .*"),
            // A device listens at the wildcard address of both families.
            Map.entry(
                    "family.ipv4", "(java.nio.channels.UnsupportedAddressTypeException ){3}/0.0.0.0 /0:0:0:0:0:0:0:0"));

    /// The JVMs run at the same time, because each one mostly waits.
    private static final ExecutorService THREADS = Executors.newCachedThreadPool();

    @TempDir
    static Path folder;

    private static Future<Map<String, String>> forNothing;
    private static Future<Map<String, String>> forOthers;
    private static Future<Map<String, String>> forAll;
    private static Map<String, String> expected;

    @BeforeAll
    static void withoutTheAgent() throws Exception {
        String agent = "-javaagent:" + agent("agent.jar", true);
        Future<Map<String, String>> plain = THREADS.submit(() -> run(List.of()));
        forNothing = THREADS.submit(() -> run(List.of(agent + "=!*")));
        forOthers = THREADS.submit(() -> run(List.of(agent + "=203.0.113.0/24")));
        forAll = THREADS.submit(() -> run(List.of(agent + "=*", "-Dio.rdmacomm.nio.device=soft0")));
        expected = plain.get();
        assertThat(expected).as("cases").hasSizeGreaterThan(100).doesNotContainValue("does not end");
    }

    @AfterAll
    static void endThreads() {
        THREADS.shutdownNow();
    }

    @Test
    void rulesForNothingChangeNothing() throws Exception {
        compare(forNothing.get(), Map.of());
    }

    @Test
    void whatStaysWithTcpLosesNothing() throws Exception {
        compare(forOthers.get(), OF_OTHER_RULES);
    }

    @Test
    void rsocketsDifferWhereThatIsStated() throws Exception {
        compare(forAll.get(), OF_RSOCKETS);
    }

    /// A JDK whose classes cannot be changed is a limit that is told, and no failure.
    @Test
    void programsRunWhereTheClassesOfTheJdkStayAsTheyAre() throws Exception {
        String agent = "-javaagent:" + agent("unable.jar", false) + "=203.0.113.0/24";
        Process process =
                start(List.of(agent), Redirect.PIPE, "channels.bytes", "files.transferTo", "channels.beforeConnect");
        process.getOutputStream().close();
        String errors = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        Map<String, String> outcomes = outcomes(process);
        assertThat(errors).contains("FileChannelImpl.transferToTrustedChannel of this JDK does not know RDMA channels");
        assertThat(outcomes)
                .hasSize(3)
                .allSatisfy((name, outcome) -> assertThat(outcome).isEqualTo(expected.get(name)));
    }

    private static void compare(Map<String, String> actual, Map<String, String> differences) {
        assertThat(actual.keySet()).isEqualTo(expected.keySet()).containsAll(differences.keySet());
        List<String> wrong = new ArrayList<>();
        actual.forEach((name, outcome) -> {
            String difference = differences.get(name);
            boolean right = difference == null ? expected.get(name).equals(outcome) : outcome.matches(difference);
            if (!right) {
                wrong.add(name + "\n  wanted " + (difference == null ? expected.get(name) : difference) + "\n  but is "
                        + outcome);
            }
        });
        assertThat(wrong).isEmpty();
    }

    /// The outcomes of [ChannelCases] in a JVM with some options. Its standard input is a socket, for
    /// [System#inheritedChannel()].
    private static Map<String, String> run(List<String> options) throws Exception {
        try (ServerSocket inherited = new ServerSocket(0, 1, InetAddress.ofLiteral("127.0.0.1"))) {
            inherited.setSoTimeout(60_000);
            Process process = start(options, Redirect.INHERIT, "--inherit", String.valueOf(inherited.getLocalPort()));
            try (Socket socket = inherited.accept()) {
                socket.getOutputStream().write('A');
                Map<String, String> outcomes = outcomes(process);
                assertThat(socket.getInputStream().read()).isEqualTo('A');
                return outcomes;
            } finally {
                process.destroyForcibly();
            }
        }
    }

    private static Process start(List<String> options, Redirect errors, String... arguments) throws IOException {
        boolean inherits = "--inherit".equals(arguments[0]);
        List<String> command = new ArrayList<>();
        if (inherits) {
            command.addAll(List.of("bash", "-c", "exec \"$@\" <>/dev/tcp/127.0.0.1/" + arguments[1], "bash"));
        }
        command.addAll(JavaCommand.of(ChannelCases.class, options));
        if (!inherits) {
            command.addAll(List.of(arguments));
        }
        return new ProcessBuilder(command).redirectError(errors).start();
    }

    private static Map<String, String> outcomes(Process process) throws Exception {
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(text).isZero();
        Map<String, String> outcomes = new LinkedHashMap<>();
        text.lines().filter(line -> line.contains("=")).forEach(line -> {
            int end = line.indexOf('=');
            outcomes.put(line.substring(0, end), line.substring(end + 1));
        });
        return outcomes;
    }

    /// A jar with the agent of this build.
    private static Path agent(String name, boolean retransforms) throws IOException {
        Path jar = folder.resolve(name);
        Manifest manifest = new Manifest();
        Attributes attributes = manifest.getMainAttributes();
        attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        attributes.put(new Attributes.Name("Premain-Class"), "io.rdmacomm.nio.RdmaAgent");
        attributes.put(new Attributes.Name("Can-Retransform-Classes"), String.valueOf(retransforms));
        attributes.put(
                Attributes.Name.CLASS_PATH,
                List.of(System.getProperty("java.class.path").split(File.pathSeparator)).stream()
                        .map(entry -> Path.of(entry).toAbsolutePath().toUri().toString())
                        .collect(Collectors.joining(" ")));
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream written = new JarOutputStream(file, manifest)) {
            written.finish();
        }
        return jar;
    }
}
