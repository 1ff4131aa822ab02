package io.rdmacomm.tests.system;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The Java code in the documents compiles, complete programs print what the documents promise, and links lead to
/// files that exist.
class DocumentedProgramsTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final String CLASS_PATH = System.getProperty("java.class.path");

    /// A Java block. A fragment of a method follows a comment that lists the parameters of that method.
    private static final Pattern BLOCK =
            Pattern.compile("(?:<!-- compile with: (.*?) -->\n)?```java\n(.*?)```", Pattern.DOTALL);

    private static final Pattern PUBLIC_CLASS = Pattern.compile("^public (?:final )?class (\\w+)", Pattern.MULTILINE);
    private static final Pattern HIDDEN_CLASS = Pattern.compile("^class (\\w+)", Pattern.MULTILINE);
    private static final Pattern COMPACT_MAIN = Pattern.compile("^void main\\(", Pattern.MULTILINE);
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:]+)[^):]*\\)");

    private static final String IMPORTS = """
            import io.rdmacomm.comm.*;
            import io.rdmacomm.comm.Piece;
            import io.rdmacomm.comm.exchange.*;
            import io.rdmacomm.mesh.*;
            import io.rdmacomm.mesh.collective.*;
            import io.rdmacomm.tests.fixture.*;
            import io.rdmacomm.verbs.*;
            import io.rdmacomm.verbs.cm.*;
            import io.rdmacomm.verbs.statistics.*;
            import java.lang.foreign.*;
            import java.lang.invoke.VarHandle;
            import java.net.*;
            import java.nio.ByteBuffer;
            import java.nio.channels.FileChannel;
            import java.nio.file.*;
            import java.time.*;
            import java.util.Map;
            import java.util.Set;
            import java.util.concurrent.Executor;
            import java.util.function.*;
            import org.junit.jupiter.api.Test;
            """;

    @TempDir
    Path folder;

    @Test
    void readmeProgramPrintsAMessageAndAWrite() throws Exception {
        assertThat(runFirstProgram("README.md")).isEqualTo("received: hello\nwritten: hello\n");
    }

    /// A request and a receive complete in any order.
    @Test
    void verbsGuideProgramPrintsAMessageAndAWrite() throws Exception {
        assertThat(runFirstProgram("docs/30-verbs-guide.md"))
                .isIn(
                        "posted 2\n2 SUCCESS\n10 SUCCESS\nhello hello\n",
                        "posted 2\n10 SUCCESS\n2 SUCCESS\nhello hello\n");
    }

    @Test
    void commGuideProgramPrintsAMessageAndAWrite() throws Exception {
        assertThat(runFirstProgram("docs/40-comm-guide.md")).isEqualTo("hello by message, hello in memory\n");
    }

    @Test
    void socketsProgramPrintsAMessage() throws Exception {
        assertThat(runFirstProgram("docs/48-nio-sockets.md")).isEqualTo("hello\n");
    }

    @Tag("slow")
    @Test
    void gettingStartedMessageComesFromAnotherProcess() throws Exception {
        assertTold(write(gettingStarted("Note"), folder), "waiting on port", "hello");
    }

    @Tag("slow")
    @Test
    void gettingStartedBoardIsWrittenOnFromAnotherProcess() throws Exception {
        assertTold(write(gettingStarted("Board"), folder), "a board on port", "written: hello");
    }

    @Test
    void gettingStartedSocketsProgramPrintsTheAnswer() throws Exception {
        Path web = write(gettingStarted("Web"), folder);
        assertThat(outputOf(start(web))).isEqualTo("hello\n");
    }

    private static MatchResult gettingStarted(String program) throws IOException {
        return blocks("docs/10-getting-started.md").stream()
                .filter(block -> block.group(2).contains("public class " + program + " "))
                .findFirst()
                .orElseThrow();
    }

    /// Starts a server on any port, then a client with the word "hello".
    ///
    /// @param announced what the server prints before its port
    /// @param told what it prints in the end
    private static void assertTold(Path program, String announced, String told) throws Exception {
        Process server = start(program, "0");
        try (BufferedReader lines = server.inputReader(StandardCharsets.UTF_8)) {
            String first = lines.readLine();
            assertThat(first).matches(announced + " \\d+");
            String port = first.substring(first.lastIndexOf(' ') + 1);
            assertThat(outputOf(start(program, port, "hello"))).isEmpty();
            assertThat(lines.lines()).containsExactly(told);
            assertEnds(server, first);
        } finally {
            server.destroyForcibly();
        }
    }

    @Test
    void everyJavaBlockCompiles() throws IOException {
        List<Path> sources = new ArrayList<>();
        for (Path document : documents()) {
            for (MatchResult block : blocks(document.toString())) {
                // A folder each, because several documents may have a class of the same name.
                Path place = Files.createDirectory(folder.resolve("block" + sources.size()));
                sources.add(write(block, place));
            }
        }
        assertThat(sources).hasSizeGreaterThanOrEqualTo(5);
        for (Path source : sources) {
            assertThat(compile(source)).as(source.toString()).isEmpty();
        }
    }

    @Test
    void linksLeadToFilesThatExist() throws IOException {
        List<String> missing = new ArrayList<>();
        for (Path document : documents()) {
            Matcher link = LINK.matcher(Files.readString(document));
            while (link.find()) {
                if (!Files.exists(document.resolveSibling(link.group(1)))) {
                    missing.add(ROOT.relativize(document) + ": " + link.group(1));
                }
            }
        }
        assertThat(missing).isEmpty();
    }

    private static List<Path> documents() throws IOException {
        try (Stream<Path> top = Files.list(ROOT);
                Stream<Path> below = Files.walk(ROOT.resolve("docs"))) {
            return Stream.concat(top, below)
                    .filter(path -> path.toString().endsWith(".md"))
                    .sorted()
                    .toList();
        }
    }

    private static Path write(MatchResult block, Path place) throws IOException {
        String code = block.group(2);
        Matcher named = PUBLIC_CLASS.matcher(code);
        if (named.find()) {
            return Files.writeString(place.resolve(named.group(1) + ".java"), code);
        }
        if (COMPACT_MAIN.matcher(code).find()) {
            return Files.writeString(place.resolve("Program.java"), code);
        }
        Matcher hidden = HIDDEN_CLASS.matcher(code);
        if (hidden.find()) {
            return Files.writeString(place.resolve(hidden.group(1) + ".java"), IMPORTS + code);
        }
        assertThat(block.group(1))
                .as("a fragment follows a comment <!-- compile with: PARAMETERS -->:\n%s", code)
                .isNotNull();
        String fragment = String.format(Locale.ROOT, """
                class Fragment {
                    void fragment(%s) throws Exception {
                %s
                    }
                }
                """, block.group(1), code);
        return Files.writeString(place.resolve("Fragment.java"), IMPORTS + fragment);
    }

    /// Compiles one source and returns the messages of the compiler.
    private static String compile(Path source) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter messages = new StringWriter();
        try (StandardJavaFileManager files =
                compiler.getStandardFileManager(null, Locale.ROOT, StandardCharsets.UTF_8)) {
            List<String> options =
                    List.of("-proc:none", "-d", String.valueOf(source.getParent()), "-classpath", CLASS_PATH);
            boolean compiled = compiler.getTask(messages, files, null, options, null, files.getJavaFileObjects(source))
                    .call();
            assertThat(compiled).as("%s: %s", source, messages).isTrue();
        }
        return messages.toString();
    }

    /// The Java blocks of a document.
    private static List<MatchResult> blocks(String document) throws IOException {
        return BLOCK.matcher(Files.readString(ROOT.resolve(document))).results().toList();
    }

    /// Runs the first program of a document in a new JVM and returns its output.
    private String runFirstProgram(String document) throws Exception {
        return outputOf(start(write(blocks(document).getFirst(), folder)));
    }

    /// Starts a program in a new JVM.
    private static Process start(Path source, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                CLASS_PATH,
                source.toString()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    private static String outputOf(Process process) throws Exception {
        try {
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEnds(process, output);
            return output;
        } finally {
            process.destroyForcibly();
        }
    }

    private static void assertEnds(Process process, String output) throws InterruptedException {
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
    }
}
