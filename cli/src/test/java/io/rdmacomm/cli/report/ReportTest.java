package io.rdmacomm.cli.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.cli.report.Chart.Kind;
import io.rdmacomm.cli.report.Chart.Point;
import io.rdmacomm.cli.report.Chart.Series;
import io.rdmacomm.cli.terminal.CommandFailure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
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
                "low",
                low,
                "high",
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
                "mmsgs_per_s",
                1.0,
                "cpu_us_per_gb",
                20.0,
                "low",
                gbps - 1,
                "high",
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
                        "CPU time per byte")
                .contains("\"kind\":\"BY_SIZE\"", "\"kind\":\"BY_PERCENTILE\"", "one thread copies")
                .doesNotContain("{{", "<link", "<script src", "@import", "Change since");
    }

    @Test
    void textInChartsCannotEndTheirScript() throws Exception {
        Chart chart = new Chart(
                "</script>", "", Kind.BY_SIZE, "us", List.of(new Series("</script>", List.of(Point.of(8, 1)))));

        String page = new HtmlReport("title").chart(chart).text();

        assertThat(page).contains("&lt;/script&gt;", "\\u003c/script>");
        assertThat(page.split("</script>", -1)).hasSize(4);
    }

    @Test
    void aChangeCountsOnlyOutsideTheNoise() {
        List<Figure> before = document(latency(1, 0.9, 1.1), bandwidth(100)).figures();
        List<Figure> now = document(latency(1.05, 1, 1.2), bandwidth(90)).figures();

        Grid changes = Baseline.compare(before, now);

        assertThat(changes.rows()).hasSize(2);
        assertThat(changes.rows().get(0)).contains("send_lat 8 B p50", "+5.0 %", "within noise", "0.900..1.10");
        assertThat(changes.rows().get(1)).contains("write_bw 64 KiB", "-10.0 %", "worse");
        assertThat(Baseline.compare(now, before).rows().get(1)).contains("+11.1 %", "better");
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
        assertThat(Figure.text(45_678)).isEqualTo("45678");
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
