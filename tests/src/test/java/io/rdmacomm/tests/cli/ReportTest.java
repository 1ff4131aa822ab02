package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.rdmacomm.tests.cli.Command.Result;
import io.rdmacomm.tests.fixture.LeftOut;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// `bench --report` and `--baseline`, and the page in a browser.
class ReportTest {
    /// The page as a phone shows it; the frame has the width of its screen.
    private static final String PHONE = """
            <!doctype html><iframe id="phone" src="report.html" style="width: 360px; height: 740px"></iframe>
            <script>
            const phone = document.getElementById('phone');
            phone.onload = () => {
                const page = phone.contentDocument;
                document.body.dataset.charts = page.body.dataset.charts;
                const axis = () => phone.contentWindow.Chart.getChart(page.querySelector('canvas')).scales.y.type;
                document.body.dataset.axes = axis();
                page.querySelector('figcaption button').click();
                document.body.dataset.axes += ' ' + axis();
                document.body.dataset.sideways = page.documentElement.scrollWidth - page.documentElement.clientWidth;
            };
            </script>
            """;

    private static Result bench(Path folder, String... more) {
        List<String> arguments = new ArrayList<>(List.of("bench", "--tests", "read_lat,read_bw", "--sizes", "8,4096"));
        arguments.addAll(List.of("--iterations", "100", "--warmup", "0", "--no-floors"));
        arguments.addAll(List.of("--report", folder.resolve("report.html").toString()));
        arguments.addAll(List.of(more));
        return Command.run(arguments.toArray(String[]::new));
    }

    @Test
    @Tag("slow")
    void aRunIsComparedWithAnEarlierOne(@TempDir Path folder) throws Exception {
        String json = folder.resolve("run.json").toString();
        Path other = Files.writeString(folder.resolve("other.json"), """
                {"results": [{"test": "send_lat", "bytes": 16, "p50_us": 1, "low_us": 1, "high_us": 2}]}""");

        Result first = bench(folder, "--json", json, "--baseline", other.toString());

        assertThat(first.exitCode()).as(first.err()).isZero();
        assertThat(first.err()).contains("other.json have no figure in common");
        assertThat(Files.readString(folder.resolve("report.html"))).doesNotContain("Change since");

        Result second = bench(folder, "--baseline", json);

        assertThat(second.exitCode()).as(second.err()).isZero();
        assertThat(second.out()).contains("read_lat 8 B p50", "read_bw 4 KiB", "too few rounds");
        assertThat(Files.readString(folder.resolve("report.html"))).contains("Change since the earlier run");
    }

    @Test
    @Tag("slow")
    @Tag("long")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void roundsRunInNewProcessesAndAreCompared(@TempDir Path folder) throws Exception {
        String json = folder.resolve("run.json").toString();
        String csv = folder.resolve("run.csv").toString();

        Result rounds = bench(folder, "--rounds", "2", "--json", json, "--csv", csv);

        assertThat(rounds.exitCode()).as(rounds.err()).isZero();
        assertThat(rounds.out()).contains("low..high", "read_lat 8 B p50", "read_bw 4 KiB");
        Map<String, Object> document = JSON.std.mapFrom(Files.readString(Path.of(json)));
        assertThat(document).containsEntry("rounds", 2).containsKeys("load", "environment", "schema");
        List<?> results = (List<?>) document.get("results");
        assertThat(results)
                .hasSize(4)
                .allSatisfy(result ->
                        assertThat((List<?>) ((Map<?, ?>) result).get("rounds")).hasSize(2));
        assertThat(Files.readAllLines(Path.of(csv))).hasSize(5);
        assertThat(bench(folder, "--rounds", "2", "--baseline", json).out()).contains("too few rounds");
        assertThat(Command.run("bench", "--rounds", "0").exitCode()).isEqualTo(2);
        assertThat(Command.run("bench", "--rounds", "2", "--server").exitCode()).isEqualTo(2);
    }

    @Test
    void aRoundThatFailsEndsTheCommand(@TempDir Path folder) {
        Result result = bench(folder, "--rounds", "2", "--device", "nothing0");

        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err()).contains("round 1 failed", "nothing0");
    }

    @Test
    void aFileThatCannotBeUsedIsReportedBeforeTheRun(@TempDir Path folder) throws Exception {
        Path wrong = Files.writeString(folder.resolve("wrong.json"), "{}");
        Path old = Files.writeString(folder.resolve("old.json"), """
                {"results": [{"test": "send_lat", "bytes": 8, "p50_us": 1, "low": 1, "high": 2}]}""");

        assertThat(bench(folder, "--baseline", "/no/such/file").err()).contains("/no/such/file: does not exist");
        assertThat(bench(folder, "--baseline", wrong.toString()).err()).contains("is not a result of rdmacomm bench");
        assertThat(bench(folder, "--baseline", old.toString()).err()).contains("has no figures to compare with");
        assertThat(Command.run("bench", "--report", "/no/such/folder/page").err())
                .contains("its directory does not exist");
    }

    @Test
    @Tag("slow")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void aBrowserDrawsTheChartsOnAnyScreen(@TempDir Path folder) throws Exception {
        String chromium = chromium();
        Result result = bench(folder);
        assertThat(result.exitCode()).as(result.err()).isZero();
        Path page = folder.resolve("report.html");
        Path phone = Files.writeString(folder.resolve("phone.html"), PHONE);

        assertThat(dom(chromium, folder, page, "--window-size=1200,900"))
                .contains("data-charts=\"6\"", "data-scheme=\"light\"");
        assertThat(dom(chromium, folder, page, "--blink-settings=preferredColorScheme=0"))
                .contains("data-charts=\"6\"", "data-scheme=\"dark\"");
        assertThat(dom(chromium, folder, phone, "--allow-file-access-from-files"))
                .contains("data-charts=\"6\"", "data-sideways=\"0\"", "data-axes=\"logarithmic linear\"");
    }

    private static String chromium() {
        for (String folder : System.getenv("PATH").split(":", -1)) {
            Path program = Path.of(folder, "chromium");
            if (Files.isExecutable(program)) {
                return program.toString();
            }
        }
        throw LeftOut.because(ReportTest.class, "chromium is missing (apt install chromium)");
    }

    /// The page after its scripts have run, without a network.
    private static String dom(String chromium, Path folder, Path page, String option)
            throws IOException, InterruptedException {
        Path errors = folder.resolve("errors");
        Process browser = new ProcessBuilder(
                        chromium,
                        "--headless=new",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--host-resolver-rules=MAP * ~NOTFOUND",
                        "--user-data-dir=" + folder.resolve("profile"),
                        "--timeout=60000",
                        "--dump-dom",
                        option,
                        page.toUri().toString())
                .redirectError(errors.toFile())
                .start();
        try {
            String dom = new String(browser.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(browser.waitFor(60, TimeUnit.SECONDS)).isTrue();
            return dom.isEmpty() ? Files.readString(errors) : dom;
        } finally {
            browser.destroyForcibly();
        }
    }
}
