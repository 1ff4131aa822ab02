package io.rdmacomm.compare;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// The last run that was recorded: `compare/last-run.json`, of which the site has a page, and the table of the
/// documents.
class LastRunTest {
    private static final Pattern PEER = Pattern.compile("([^|;]+) ([0-9.]+) \\(\\*\\*([0-9.]+)\\*\\*(, unstable)?\\)");

    @Test
    void theTableOfTheDocumentsHasItsFigures() throws Exception {
        List<Outcome> outcomes =
                ComparisonDocument.read(Path.of("last-run.json")).outcomes();
        List<String> rows = table();

        assertThat(rows).hasSameSizeAs(outcomes);
        for (int i = 0; i < rows.size(); i++) {
            Outcome outcome = outcomes.get(i);
            String[] cells = rows.get(i).split(" *\\| *", -1);
            // The table has milliseconds there.
            double scale = outcome.unit() == Unit.CPU ? 1000 : 1;
            Entry ours = outcome.entries().getFirst();
            assertThat(digits(cells[2], scale)).as(rows.get(i)).isEqualTo(digits(ours.median()));
            assertThat(cells[3].split(" to ", -1))
                    .extracting(text -> digits(text, scale))
                    .as(rows.get(i))
                    .containsExactly(digits(ours.low()), digits(ours.high()));
            assertThat(PEER.matcher(cells[4])
                            .results()
                            .map(match -> "%s %s %s %b"
                                    .formatted(
                                            match.group(1).strip(),
                                            digits(match.group(2), scale),
                                            match.group(3),
                                            match.group(4) != null)))
                    .as(rows.get(i))
                    .containsExactlyElementsOf(outcome.entries().stream()
                            .skip(1)
                            .map(LastRunTest::text)
                            .toList());
        }
    }

    private static String text(Entry peer) {
        Advantage ratio = peer.advantage().orElseThrow();
        return "%s %s %.2f %b".formatted(peer.name(), digits(peer.median()), ratio.mean(), ratio.isUnstable());
    }

    private static String digits(String text, double scale) {
        return digits(Double.parseDouble(text) * scale);
    }

    /// The value with three digits.
    private static String digits(double value) {
        return BigDecimal.valueOf(value)
                .round(new MathContext(3))
                .stripTrailingZeros()
                .toPlainString();
    }

    private static List<String> table() throws Exception {
        return Files.readAllLines(Path.of("../docs/60-performance.md")).stream()
                .dropWhile(line -> !line.startsWith("| scenario | rdmacomm |"))
                .skip(2)
                .takeWhile(line -> line.startsWith("|"))
                .toList();
    }
}
