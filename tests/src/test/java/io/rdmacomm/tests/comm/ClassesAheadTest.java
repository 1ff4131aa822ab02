package io.rdmacomm.tests.comm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.verbs.Context;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The list of classes that sessions load ahead is that of the classes which a server and a client use until their
/// first message. It is compared with a JVM that finds an empty list.
final class ClassesAheadTest {
    private static final String LIST = "io/rdmacomm/comm/setup/classes-ahead.txt";
    private static final Pattern LOADED =
            Pattern.compile("(io\\.rdmacomm\\.(?:verbs|soft|comm)\\.[\\w.$]+) source: .*");
    /// Some depend on which thread is faster.
    private static final int TOLERATED = 12;

    @TempDir
    private Path folder;

    @Test
    @Timeout(value = 2, unit = TimeUnit.MINUTES)
    void theListNamesTheClassesOfAFirstMessage() throws Exception {
        List<String> loaded = loaded(noList() + File.pathSeparator, "send");
        Path updated = Path.of("target", "classes-ahead.txt");
        Files.write(updated, loaded);

        String how = "copy " + updated.toAbsolutePath() + " to comm/src/main/resources/" + LIST;
        Set<String> missing = new TreeSet<>(loaded);
        missing.removeAll(list());
        assertThat(missing).as("used and not listed; " + how).hasSizeLessThanOrEqualTo(TOLERATED);
        Set<String> unused = new TreeSet<>(list());
        unused.removeAll(loaded);
        assertThat(unused).as("listed and not used; " + how).hasSizeLessThanOrEqualTo(TOLERATED);
    }

    /// See docs/decisions/0092-lambdas-become-classes.md.
    @Test
    @Timeout(value = 2, unit = TimeUnit.MINUTES)
    void aFirstMessageNeedsNoHiddenClasses() throws Exception {
        run(noList() + File.pathSeparator, "send");

        String how =
                "compiled without .mvn/LambdaClasses.java, or a record whose equals or hashCode is not written out";
        assertThat(Files.readAllLines(log()))
                .as(how)
                .noneMatch(line -> line.startsWith("io.rdmacomm.") && line.contains("/0x"))
                .noneMatch(line -> line.startsWith("java.lang.runtime.ObjectMethods "));
    }

    @Test
    @Timeout(value = 2, unit = TimeUnit.MINUTES)
    void aServerHasThemBeforeItsFirstClient() throws Exception {
        Set<String> missing = new TreeSet<>(list());
        missing.removeAll(loaded("", "listen"));
        assertThat(missing).as("listed and not there").isEmpty();
    }

    private static List<String> list() throws IOException {
        try (var in = Context.class.getClassLoader().getResourceAsStream(LIST)) {
            return new String(in.readAllBytes(), StandardCharsets.US_ASCII)
                    .lines()
                    .toList();
        }
    }

    /// A class path with an empty list.
    private String noList() throws IOException {
        Path list = folder.resolve(LIST);
        Files.createDirectories(list.getParent());
        Files.write(list, List.of());
        return folder.toString();
    }

    private Path log() {
        return folder.resolve("log");
    }

    /// Runs the program and returns our classes in the order in which they were loaded.
    private List<String> loaded(String before, String what) throws Exception {
        run(before, what);
        List<String> names = new ArrayList<>();
        for (String line : Files.readAllLines(log())) {
            Matcher matcher = LOADED.matcher(line);
            if (matcher.matches()) {
                names.add(matcher.group(1));
            }
        }
        return names;
    }

    private void run(String before, String what) throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-Xlog:class+load:file=" + log() + ":none",
                        "-cp",
                        before + System.getProperty("java.class.path"),
                        FirstMessage.class.getName(),
                        what)
                .inheritIO()
                .start();
        assertThat(process.waitFor()).isZero();
    }

    /// A server; with `send`, a client too, which sends it a message.
    static final class FirstMessage {
        private static final Duration PATIENCE = Duration.ofSeconds(30);

        private FirstMessage() {}

        public static void main(String[] arguments) throws InterruptedException {
            SessionOptions options =
                    SessionOptions.defaults().withDevice("soft0").withPort(0);
            try (ServerSession server = ServerSession.listen(options)) {
                if (arguments[0].equals("send")) {
                    send(server, options.withPort(server.port()));
                } else {
                    awaitClasses();
                }
                // Without closing, which nobody waits for.
                Runtime.getRuntime().halt(0);
            }
        }

        private static void send(ServerSession server, SessionOptions options) {
            ClientSession client = ClientSession.connect(options);
            EndPoint here = server.accept(PATIENCE);
            RdmaBuffer text = client.allocate("text", 8);
            client.endPoint().channel(0).blocking(PATIENCE).send(text.whole());
            here.channel(0).blocking(PATIENCE).receive().close();
        }

        private static void awaitClasses() throws InterruptedException {
            for (Thread thread : Thread.getAllStackTraces().keySet()) {
                if (thread.getName().equals("classes-ahead")) {
                    thread.join();
                }
            }
        }
    }
}
