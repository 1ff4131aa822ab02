package io.rdmacomm.tests.system;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The programs in the documents run as they stand, and the documents name files that exist.
class DocumentedProgramsTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern PROGRAM = Pattern.compile("```java\n(.*?public class (\\w+) .*?)```", Pattern.DOTALL);
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:]+)\\)");

    @Test
    void readmeShowsAMessageAndAWrite(@TempDir Path folder) throws Exception {
        assertThat(run("README.md", folder)).isEqualTo("received: hello\nwritten: hello\n");
    }

    @Test
    void verbsGuideShowsAMessageAndAWrite(@TempDir Path folder) throws Exception {
        assertThat(run("docs/30-verbs-guide.md", folder)).isEqualTo("posted 2\n10 SUCCESS\n2 SUCCESS\nhello hello\n");
    }

    @Test
    void linksLeadToFilesThatExist() throws IOException {
        List<Path> documents = new ArrayList<>();
        try (Stream<Path> top = Files.list(ROOT);
                Stream<Path> below = Files.walk(ROOT.resolve("docs"))) {
            Stream.concat(top, below)
                    .filter(path -> path.toString().endsWith(".md"))
                    .forEach(documents::add);
        }
        List<String> missing = new ArrayList<>();
        for (Path document : documents) {
            Matcher link = LINK.matcher(Files.readString(document));
            while (link.find()) {
                if (!Files.exists(document.resolveSibling(link.group(1)))) {
                    missing.add(ROOT.relativize(document) + ": " + link.group(1));
                }
            }
        }
        assertThat(missing).isEmpty();
    }

    /// Runs the first program of a document in a Java of its own and returns what it prints.
    private static String run(String document, Path folder) throws Exception {
        Matcher program = PROGRAM.matcher(Files.readString(ROOT.resolve(document)));
        assertThat(program.find()).isTrue();
        Path source = Files.writeString(folder.resolve(program.group(2) + ".java"), program.group(1));
        Process process = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        source.toString())
                .redirectErrorStream(true)
                .start();
        try {
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).as(output).isZero();
            return output;
        } finally {
            process.destroyForcibly();
        }
    }
}
