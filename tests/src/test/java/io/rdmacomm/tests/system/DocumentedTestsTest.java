package io.rdmacomm.tests.system;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The tests that the documents name exist: `AClassTest`, `AClassTest.method`, or `package.AClassTest.method` where
/// several packages have a class of that name.
class DocumentedTestsTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern NAME =
            Pattern.compile("`(?:([a-z]+)\\.)?([A-Z]\\w*(?:Test|Stress))(?:\\.([a-z]\\w*))?`");

    @Test
    void existAndAreUnambiguous() throws IOException {
        List<Path> sources = sources();
        List<String> wrong = new ArrayList<>();
        int named = 0;
        for (Path document : documents()) {
            Matcher name = NAME.matcher(Files.readString(document));
            while (name.find()) {
                named++;
                long found = count(sources, name.toMatchResult());
                if (found == 0 || (found > 1 && name.group(3) != null)) {
                    wrong.add(document.getFileName() + ": " + name.group() + " is found " + found + " times");
                }
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(named).isGreaterThan(80);
    }

    /// The table of what a stranger can make us spend.
    @Test
    void eachLimitNamesTheTestThatGuardsIt() throws IOException {
        List<String> rows = Files.readAllLines(ROOT.resolve("docs/35-security.md")).stream()
                .dropWhile(line -> !line.startsWith("| what | default | option | guard |"))
                .skip(2)
                .takeWhile(line -> line.startsWith("|"))
                .toList();
        assertThat(rows)
                .hasSizeGreaterThan(15)
                .allSatisfy(row -> assertThat(row).containsPattern(NAME));
    }

    private static long count(List<Path> sources, MatchResult name) throws IOException {
        String folder = name.group(1);
        long found = 0;
        for (Path source : sources) {
            boolean named = source.getFileName().toString().equals(name.group(2) + ".java")
                    && (folder == null || source.getParent().endsWith(folder));
            if (named && (name.group(3) == null || has(source, name.group(3)))) {
                found++;
            }
        }
        return found;
    }

    /// Whether a source has a method that JUnit or jcstress runs, as far as text tells.
    private static boolean has(Path source, String method) throws IOException {
        return Pattern.compile("^    (?:public )?void " + method + "\\(", Pattern.MULTILINE)
                .matcher(Files.readString(source))
                .find();
    }

    private static List<Path> sources() throws IOException {
        List<Path> found = new ArrayList<>();
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path tests : modules.map(module -> module.resolve("src/test/java"))
                    .filter(Files::isDirectory)
                    .toList()) {
                try (Stream<Path> below = Files.walk(tests)) {
                    below.filter(path -> path.toString().endsWith(".java")).forEach(found::add);
                }
            }
        }
        return found;
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
}
