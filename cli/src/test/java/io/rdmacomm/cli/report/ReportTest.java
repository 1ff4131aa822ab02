package io.rdmacomm.cli.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.report.Chart.Kind;
import io.rdmacomm.cli.report.Chart.Point;
import io.rdmacomm.cli.report.Chart.Series;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {
    private static final Grid NO_CHANGES = new Grid("", List.of(), List.of());

    private static Map<String, Object> latency(double p50, double low, double high) {
        return Map.of(
                "test",
                "send_lat",
                "bytes",
                8,
                "p50_us",
                p50,
                "p99_us",
                2.0,
                "p999_us",
                3.0,
                "avg_us",
                1.2,
                "low_us",
                low,
                "high_us",
                high,
                "distribution",
                List.of(List.of(50.0, p50), List.of(99.9, 3.0)));
    }

    private static Map<String, Object> bandwidth(double gbps) {
        return Map.of(
                "test",
                "write_bw",
                "bytes",
                65_536,
                "gbps",
                gbps,
                "million_messages_per_second",
                1.0,
                "cpu_us_per_gb",
                20.0,
                "low_gbps",
                gbps - 1,
                "high_gbps",
                gbps + 1,
                "copy_gbps",
                200.0);
    }

    private static BenchDocument document(Map<String, Object> latency, Map<String, Object> bandwidth) {
        return new BenchDocument(
                Map.of("environment", Map.of("cpu", "A <fast> one"), "results", List.of(latency, bandwidth)));
    }

    @Test
    void thePageHoldsEverythingThatItNeeds() throws Exception {
        String page =
                document(latency(1, 0.9, 1.1), bandwidth(100)).page(NO_CHANGES).text();

        assertThat(page)
                .contains(
                        "Chart.js v",
                        "A &lt;fast&gt; one",
                        "send_lat",
                        "Latency distribution, 8 B",
                        "CPU time of both ends")
                .contains("\"kind\":\"BARS\"", "\"kind\":\"BY_PERCENTILE\"", "one thread copies")
                .contains("<h2 id=\"latency\"><a href=\"#latency\">", "<h3 id=\"send-lat-8-b\">", "Save the data")
                .doesNotContain("{{", "<link", "<script src", "@import", "Change since");
    }

    @Test
    void textInChartsCannotEndTheirScript() throws Exception {
        Chart chart = new Chart(
                "</script>", "", Kind.BY_SIZE, "us", List.of(new Series("</script>", List.of(Point.of(8, 1)))));

        String page = new HtmlReport("title").chart(chart).text();

        assertThat(page).contains("&lt;/script&gt;", "\\u003c/script>");
        assertThat(page.split("</script>", -1)).hasSize(5);
    }

    @Test
    void theDataCanBeSaved() throws Exception {
        String page =
                document(latency(1, 0.9, 1.1), bandwidth(100)).page(NO_CHANGES).text();

        String data = page.replaceFirst("(?s).*data-file=\"rdmacomm-bench.json\">", "");
        assertThat(BenchDocument.parse("page", data.substring(0, data.indexOf("</script>")))
                        .figures())
                .hasSize(2);
    }

    @Test
    void headingsOfTheSameTextHaveDifferentAnchors() throws Exception {
        String page = new HtmlReport("title")
                .heading("One & two")
                .heading("One & two")
                .text();

        assertThat(page).contains("<a href=\"#one-two\">One &amp; two</a>", "<h2 id=\"one-two-2\">");
    }

    @Test
    void chartsAreDescribedForThoseWhoDoNotSeeThem() {
        Series line = new Series("p50", List.of(new Point(8, 0.2, 0.1, 0.3, ""), Point.of(1 << 20, 45.67)));
        Series bar = Chart.bar("Aeron IPC", "Aeron", 0.66, 0.5, 0.7);

        assertThat(Chart.bySize("send_lat", "us", List.of(line)).description())
                .isEqualTo("send_lat, in us. p50: 0.200 at 8 B, 45.7 at 1 MiB.");
        assertThat(new Chart("send 8 B", "", Kind.BARS, "us", List.of(bar)).description())
                .isEqualTo("send 8 B, in us. Aeron IPC: 0.660 (0.500 to 0.700).");
    }

    @Test
    void oneSizeIsDrawnAsBars() {
        Chart chart = Chart.bySize("atomic_lat", "us", List.of(new Series("p50", List.of(Point.of(8, 1)))));

        assertThat(chart.kind()).isEqualTo(Kind.BARS);
        assertThat(chart.title()).isEqualTo("atomic_lat, 8 B");
    }

    @Test
    void theFigureThatIsComparedHasABand() throws Exception {
        Map<String, Object> larger = new HashMap<>(latency(4, 3, 5));
        larger.put("bytes", 4096);
        BenchDocument two = new BenchDocument(Map.of("results", List.of(latency(1, 0.9, 1.1), larger)));

        String page = two.page(NO_CHANGES).text();

        assertThat(page)
                .contains("[8.0,1.0,0.9,1.1,\"p50\"]", "[4096.0,4.0,3.0,5.0,\"p50\"]", "[8.0,2.0,2.0,2.0,\"p99\"]");
    }

    @Test
    void aBusyMachineIsAWarning() throws Exception {
        Map<String, Object> load = Map.of("processors_used_by_others", 1.5, "high", true);

        assertThat(new BenchDocument(Map.of("results", List.of(), "load", load))
                        .page(NO_CHANGES)
                        .text())
                .contains("WARNING: other programs used this machine", "processors used by others")
                .doesNotContain("<dt>high</dt>");
    }

    @Test
    void theTableHasTheNumberOfOperations() throws Exception {
        Map<String, Object> row = new HashMap<>(latency(1, 0.9, 1.1));
        row.put("iterations", 123_456);

        assertThat(document(row, bandwidth(100)).page(NO_CHANGES).text()).contains("<th>operations</th>", ">123456<");
    }

    private static BenchDocument rounds(double... gbps) {
        List<BenchDocument> documents = Arrays.stream(gbps)
                .mapToObj(value -> document(latency(1, 0.9, 1.1), bandwidth(value)))
                .toList();
        return new BenchDocument(new Rounds(documents).toMap());
    }

    private static String verdict(BenchDocument before, BenchDocument now) {
        return Baseline.compare(before.figures(), now.figures()).rows().get(1).getLast();
    }

    @Test
    void aChangeCountsOnlyIfTheRoundsSaySo() {
        BenchDocument before = rounds(100, 110, 90, 105, 95);
        BenchDocument lower = rounds(80, 82, 85, 89, 70);

        assertThat(verdict(before, lower)).isEqualTo("worse");
        assertThat(verdict(lower, before)).isEqualTo("better");
        assertThat(verdict(before, rounds(80, 82, 85, 70, 91)))
                .as("one round is as fast")
                .isEqualTo("within noise");
        assertThat(verdict(before, before)).isEqualTo("within noise");
    }

    @Test
    void fewRoundsProveNothing() {
        BenchDocument one = document(latency(1, 0.9, 1.1), bandwidth(100));
        BenchDocument slower = document(latency(2, 1.9, 2.1), bandwidth(50));

        Grid changes = Baseline.compare(one.figures(), slower.figures());

        assertThat(changes.rows().get(0)).contains("send_lat 8 B p50", "+100.0 %", "too few rounds", "0.900..1.10");
        assertThat(verdict(rounds(4, 4, 4, 4), rounds(1, 1, 1, 1, 1))).isEqualTo("too few rounds");
    }

    @Test
    void theMedianRoundStandsForAll() throws Exception {
        BenchDocument all = rounds(3, 9, 1, 5, 4);

        Figure figure = all.figures().get(1);

        assertThat(figure.value()).isEqualTo(4);
        assertThat(figure.low()).isEqualTo(1);
        assertThat(figure.high()).isEqualTo(9);
        assertThat(figure.rounds()).containsExactly(3.0, 9.0, 1.0, 5.0, 4.0);
        assertThat(all.page(NO_CHANGES).text()).contains("rounds");
    }

    /// Tables of the test give these numbers.
    @Test
    void probabilitiesAreExact() {
        List<Double> low = List.of(1.0, 2.0, 3.0, 4.0, 5.0);
        List<Double> high = List.of(6.0, 7.0, 8.0, 9.0, 10.0);

        assertThat(RankSum.probability(low, high)).isCloseTo(2.0 / 252, within(1e-12));
        assertThat(RankSum.probability(high, low)).isCloseTo(2.0 / 252, within(1e-12));
        assertThat(RankSum.probability(low, low)).isEqualTo(1);
        assertThat(RankSum.probability(List.of(1.0, 4.0), List.of(2.0, 3.0))).isEqualTo(1);
        assertThat(RankSum.probability(List.of(1.0, 1.0), List.of(1.0, 1.0))).isEqualTo(1);
        assertThat(RankSum.probability(List.of(1.0, 2.0, 3.0), List.of(4.0, 5.0, 6.0)))
                .isCloseTo(0.1, within(1e-12));
    }

    /// Rounds of one origin differ that much in one of a hundred comparisons at most, whatever their distribution.
    @Test
    void theSameAgainstItselfIsRarelyAChange() {
        long seed = new SecureRandom().nextLong();
        Random random = new Random(seed);
        int changes = 0;
        for (int i = 0; i < 20_000; i++) {
            // Most rounds are alike, and some are much slower.
            Supplier<List<Double>> rounds = () -> random.doubles(5)
                    .map(x -> x < 0.2 ? 1 + 100 * x : 1 + x / 100)
                    .boxed()
                    .toList();
            changes += RankSum.probability(rounds.get(), rounds.get()) < 0.01 ? 1 : 0;
        }
        assertThat(changes).as("seed %d", seed).isBetween(50, 300);
    }

    @Test
    void whatMeansLittleIsMarked() throws Exception {
        Map<String, Object> row = new HashMap<>(latency(1, 0.9, 1.1));
        row.put("uncertain", List.of("p999_us"));

        String page = document(row, bandwidth(100)).page(NO_CHANGES).text();

        assertThat(page).contains(">~3.00<", ">2.00<");
    }

    @Test
    void columnsAreAligned() {
        String text =
                new Grid("", List.of("name", "value"), List.of(List.of("a", "1"), List.of("longer", "1000"))).text();

        assertThat(text).isEqualTo("name    value\na           1\nlonger   1000\n");
    }

    @Test
    void figuresHaveThreeDigits() {
        assertThat(Figure.text(0.04567)).isEqualTo("0.0457");
        assertThat(Figure.text(1.234)).isEqualTo("1.23");
        assertThat(Figure.text(45.67)).isEqualTo("45.7");
        assertThat(Figure.text(45_678)).isEqualTo("45700");
        assertThat(Figure.text(0)).isEqualTo("0");
    }

    @Test
    void anotherFileIsRejected(@TempDir Path folder) throws Exception {
        Path noJson = Files.writeString(folder.resolve("text"), "hello");
        Path other = Files.writeString(folder.resolve("other.json"), "{\"scenarios\": []}");

        assertThatThrownBy(() -> BenchDocument.read(noJson))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("cannot be read as JSON");
        assertThatThrownBy(() -> BenchDocument.read(other))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("is not a result of rdmacomm bench");
    }
}
