package io.rdmacomm.tests.system;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The table of all verbs is complete: each row names public methods that exist, and a test, or says why there is none.
/// [DocumentedTestsTest] checks that the tests exist.
class VerbsTableTest {
    private static final int VERBS = 41;
    private static final String PACKAGE = "io.rdmacomm.verbs.";
    private static final Pattern METHOD = Pattern.compile("`([A-Z]\\w+)\\.(\\w+)`");

    /// A line of the table.
    private record Row(int number, String verb, String libibverbs, String methods, String test) {
        static Row of(String line) {
            String[] cells = line.split("\\|", -1);
            assertThat(cells).as(line).hasSize(7);
            return new Row(Integer.parseInt(cells[1].strip()), cells[2], cells[3], cells[4], cells[5]);
        }

        boolean isAbsent() {
            return methods.strip().startsWith("none");
        }
    }

    private static List<Row> rows() throws IOException {
        return Files.readAllLines(Path.of("..", "docs", "30-verbs-guide.md")).stream()
                .filter(line -> line.matches("\\| \\d+ \\|.*"))
                .map(Row::of)
                .toList();
    }

    @Test
    void hasEveryVerbOnce() throws IOException {
        List<Row> rows = rows();
        assertThat(rows)
                .extracting(Row::number)
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(1, VERBS).boxed().toList());
        assertThat(rows).extracting(Row::verb).doesNotHaveDuplicates();
    }

    @Test
    void everyMethodIsPublicAndExists() throws IOException {
        List<String> missing = new ArrayList<>();
        for (Row row : rows()) {
            Matcher method = METHOD.matcher(row.methods());
            int found = 0;
            while (method.find()) {
                found++;
                if (!exists(method.group(1), method.group(2))) {
                    missing.add(method.group());
                }
            }
            assertThat(found > 0)
                    .as("%s has a method or says 'none'", row.verb())
                    .isNotEqualTo(row.isAbsent());
        }
        assertThat(missing).isEmpty();
    }

    @Test
    void everyVerbHasATestOrAReason() throws IOException {
        for (Row row : rows()) {
            if (row.isAbsent()) {
                assertThat(row.libibverbs())
                        .as("why there is no %s", row.verb())
                        .contains("none: ");
            } else {
                assertThat(row.test()).as(row.verb()).matches(" `\\w+Test\\.\\w+` ");
            }
        }
    }

    private static boolean exists(String type, String name) {
        try {
            return Stream.of(Class.forName(PACKAGE + type).getMethods())
                    .map(Method::getName)
                    .anyMatch(name::equals);
        } catch (ClassNotFoundException e) {
            return false;
        }
    }
}
