package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.rdmacomm.cli.bench.trial.Result.Spread;
import io.rdmacomm.cli.command.Placement.Halves;
import io.rdmacomm.tests.cli.Command.Result;
import io.rdmacomm.tests.fixture.LeftOut;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// `bench` between two processes, as short as possible. These tests check the output, not the speed.
class BenchTest {
    private static final List<String> LATENCY = List.of(
            "test",
            "bytes",
            "iterations",
            "operations_per_sample",
            "min_us",
            "p50_us",
            "p99_us",
            "p999_us",
            "max_us",
            "avg_us",
            "stdev_us",
            "low_us",
            "high_us",
            "floor_us",
            "above_floor_us",
            "ratio",
            "distribution");
    private static final Spread NO_SPREAD = new Spread(0, 0);
    private static final List<String> BANDWIDTH = List.of(
            "test",
            "bytes",
            "iterations",
            "gbps",
            "million_messages_per_second",
            "cpu_us_per_gb",
            "low_gbps",
            "high_gbps",
            "copy_gbps",
            "ratio");

    @Test
    @Tag("slow")
    void allTestsRunAndVerifyTheirData(@TempDir Path folder) throws Exception {
        Path json = folder.resolve("out.json");
        Path csv = folder.resolve("out.csv");

        Result result = Command.run(
                "bench",
                "--iterations",
                "40",
                "--warmup",
                "0",
                "--sizes",
                "1,100,70000",
                "--json",
                json.toString(),
                "--csv",
                csv.toString());

        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out())
                .contains("write_lat", "read_bw", "all received data verified", "clock:", "processors: ");
        Map<String, Object> document = JSON.std.mapFrom(Files.readString(json));
        assertThat(document).containsEntry("schema", 1).containsEntry("data_verified", true);
        assertThat(((Map<?, ?>) document.get("environment")).keySet().stream().map(Object::toString))
                .contains("cpu", "cores", "kernel", "jdk", "provider", "device", "commit", "command", "time");
        assertThat(List.of("socket_us", "socket_gbps", "socket_at_end_us", "socket_at_end_gbps"))
                .allSatisfy(name -> assertThat(number(document, name)).as(name).isPositive());
        List<?> results = (List<?>) document.get("results");
        assertThat(results).hasSize(7 * 3 + 1).allSatisfy(BenchTest::isComplete);
        assertThat(results.stream().map(row -> ((Map<?, ?>) row).get("test").toString()))
                .contains(
                        "send_lat",
                        "write_lat",
                        "read_lat",
                        "atomic_lat",
                        "send_bw",
                        "write_bw",
                        "write_bw_ring",
                        "read_bw");
        try (Stream<String> lines = Files.lines(csv)) {
            assertThat(lines).hasSize(results.size() + 1);
        }
    }

    private static void isComplete(Object row) {
        Map<?, ?> result = (Map<?, ?>) row;
        boolean latency = result.get("test").toString().endsWith("_lat");
        // Few iterations are uncertain.
        assertThat(result.keySet().stream().map(Object::toString).filter(name -> !name.equals("uncertain")))
                .containsExactlyElementsOf(latency ? LATENCY : BANDWIDTH);
        assertThat(result.get("iterations")).isEqualTo(40);
        if (latency) {
            double min = number(result, "min_us");
            assertThat(min).isPositive();
            assertThat(number(result, "p50_us")).isBetween(min, number(result, "max_us"));
        } else {
            assertThat(number(result, "gbps")).isPositive();
        }
    }

    @Test
    void viewsAreMeasuredWhereMemoryIsShared() throws Exception {
        List<String> arguments = new ArrayList<>(List.of("bench", "--tests", "view_lat", "--sizes", "1,8,70000"));
        arguments.addAll(List.of("--iterations", "200", "--warmup", "0", "--no-floors", "--json", "-"));

        Result result = Command.run(arguments.toArray(String[]::new));

        assertThat(result.exitCode()).as(result.err()).isZero();
        Map<String, Object> document = JSON.std.mapFrom(result.out());
        assertThat(document).containsEntry("data_verified", true);
        assertThat((List<?>) document.get("results"))
                .hasSize(3)
                .allSatisfy(row -> assertThat(number((Map<?, ?>) row, "p50_us")).isPositive());
    }

    @Test
    @Tag("slow")
    void socketsAreMeasuredInTurnWithPlainTcp() throws Exception {
        List<String> arguments =
                new ArrayList<>(List.of("bench", "--tests", "socket_lat,socket_request_lat,socket_bw"));
        arguments.addAll(List.of("--iterations", "20", "--warmup", "0", "--sizes", "1,70000", "--no-floors"));
        arguments.addAll(List.of("--json", "-"));

        Result result = Command.run(arguments.toArray(String[]::new));

        assertThat(result.exitCode()).as(result.err()).isZero();
        Map<String, Object> document = JSON.std.mapFrom(result.out());
        assertThat(document).containsEntry("data_verified", true);
        List<?> results = (List<?>) document.get("results");
        assertThat(results.stream().map(row -> ((Map<?, ?>) row).get("test") + " " + ((Map<?, ?>) row).get("bytes")))
                .containsExactly(
                        "socket_lat 1",
                        "tcp_lat 1",
                        "socket_lat 70000",
                        "tcp_lat 70000",
                        "socket_request_lat 8",
                        "tcp_request_lat 8",
                        "socket_bw 1",
                        "tcp_bw 1",
                        "socket_bw 70000",
                        "tcp_bw 70000");
        assertThat(results).allSatisfy(row -> {
            Map<?, ?> figures = (Map<?, ?>) row;
            assertThat(figures.get("iterations")).isEqualTo(20);
            boolean latency = figures.get("test").toString().endsWith("_lat");
            assertThat(number(figures, latency ? "p50_us" : "million_messages_per_second"))
                    .isPositive();
        });
    }

    @Test
    void withoutSamplesOnlyTheMeanIsReported() throws Exception {
        Result result = Command.run(
                "bench",
                "--tests",
                "send_lat,write_lat,read_lat",
                "--no-samples",
                "--no-pin",
                "--no-floors",
                "--iterations",
                "23",
                "--warmup",
                "0",
                "--sizes",
                "8",
                "--json",
                "-");

        assertThat(result.exitCode()).as(result.err()).isZero();
        Map<String, Object> document = JSON.std.mapFrom(result.out());
        assertThat(document).containsEntry("processors", "chosen by the kernel: --no-pin");
        assertThat((List<?>) document.get("results")).hasSize(3).allSatisfy(row -> {
            Map<?, ?> figures = (Map<?, ?>) row;
            assertThat(figures.keySet().stream().map(Object::toString))
                    .containsExactly("test", "bytes", "iterations", "avg_us", "low_us", "high_us");
            assertThat(figures.get("iterations")).isEqualTo(23);
            assertThat(number(figures, "avg_us"))
                    .isBetween(number(figures, "low_us") - 0.001, number(figures, "high_us") + 0.001);
        });
    }

    @Tag("slow")
    @ParameterizedTest
    @CsvSource({"completion-channel,", "adaptive, adaptive"})
    void aRequestSleepsUnlessAModeIsChosen(String expected, @Nullable String chosen) throws Exception {
        List<String> arguments = new ArrayList<>(List.of("bench", "--tests", "request_lat", "--no-floors"));
        arguments.addAll(List.of("--iterations", "50", "--warmup", "0", "--json", "-"));
        if (chosen != null) {
            arguments.addAll(List.of("--work-mode", chosen));
        }

        Result result = Command.run(arguments.toArray(String[]::new));

        assertThat(result.exitCode()).as(result.err()).isZero();
        Map<String, Object> document = JSON.std.mapFrom(result.out());
        assertThat(document).containsEntry("work_mode", expected).containsEntry("thread_mode", "caller");
        Map<?, ?> request = (Map<?, ?>) ((List<?>) document.get("results")).getFirst();
        assertThat(request.get("bytes")).isEqualTo(8);
        assertThat(request.get("iterations")).isEqualTo(50);
    }

    @Test
    void theEndsGetProcessorsOfTheirOwnAndGiveThemBack() throws Exception {
        Halves halves =
                Halves.own().orElseThrow(() -> LeftOut.because(BenchTest.class, "both ends share the only processor"));
        int processors = Runtime.getRuntime().availableProcessors();

        Result result = Command.run(
                "bench", "--tests", "write_lat", "--sizes", "8", "--iterations", "50", "--warmup", "0", "--no-floors");

        assertThat(result.exitCode()).as(result.err()).isZero();
        if (result.out().contains("taskset is missing")) {
            throw LeftOut.because(BenchTest.class, "taskset is missing");
        }
        assertThat(result.out()).contains("processors: client on " + halves.first() + ", server on " + halves.second());
        assertThat(Runtime.getRuntime().availableProcessors()).isEqualTo(processors);
    }

    @Test
    void aSlowRateIsNotRoundedToZero() {
        io.rdmacomm.cli.bench.trial.Result slow = io.rdmacomm.cli.bench.trial.Result.bandwidth(
                io.rdmacomm.cli.bench.trial.BenchTest.WRITE_BW, 1, 40, 60_000_000_000L, 1, 0, NO_SPREAD);
        assertThat(number(slow.toMap(), "gbps")).isEqualTo(5.33e-9);
        assertThat(number(slow.toMap(), "million_messages_per_second")).isEqualTo(6.667e-7);
        io.rdmacomm.cli.bench.trial.Result fast = io.rdmacomm.cli.bench.trial.Result.bandwidth(
                io.rdmacomm.cli.bench.trial.BenchTest.WRITE_BW, 1 << 20, 1000, 700_000_000, 1, 0, NO_SPREAD);
        assertThat(number(fast.toMap(), "gbps")).isEqualTo(11.984);
    }

    private static long count(Map<?, ?> row, String name) {
        return ((Number) row.get(name)).longValue();
    }

    private static double number(Map<?, ?> row, String name) {
        return ((Number) row.get(name)).doubleValue();
    }

    @Tag("slow")
    @Test
    void severalQueuePairsInBothDirectionsWithIdleOnes() throws Exception {
        Result result = Command.run(
                "bench",
                "--iterations",
                "500",
                "--warmup",
                "0",
                "--sizes",
                "8,5000",
                "--qps",
                "3",
                "--idle-qps",
                "5",
                "--bidirectional",
                "--depth",
                "7",
                "--no-floors",
                "--json",
                "-",
                "--tests",
                "write_lat,send_bw,write_bw,write_bw_ring,read_bw");

        assertThat(result.exitCode()).as(result.err()).isZero();
        List<?> results = (List<?>) JSON.std.mapFrom(result.out()).get("results");
        assertThat(results).hasSize(10);
        assertThat(results.stream().map(row -> (Map<?, ?>) row).filter(row -> row.containsKey("gbps")))
                .allSatisfy(row -> assertThat(row.get("iterations")).isEqualTo(1000));
    }

    @Test
    @Tag("slow")
    void datagramsAreCounted() throws Exception {
        Result result = Command.run(
                "bench", "--transport", "ud", "--iterations", "300", "--warmup", "0", "--no-floors", "--json", "-");

        assertThat(result.exitCode()).as(result.err()).isZero();
        List<?> results = (List<?>) JSON.std.mapFrom(result.out()).get("results");
        assertThat(results).hasSize(4).allSatisfy(row -> {
            Map<?, ?> figures = (Map<?, ?>) row;
            boolean latency = figures.get("test").equals("send_lat");
            assertThat(figures.get("transport")).isEqualTo("ud");
            long sent = count(figures, "sent");
            long received = count(figures, "received");
            assertThat(count(figures, "lost")).isEqualTo(sent - received).isNotNegative();
            if (latency) {
                // A lost message is repeated.
                assertThat(figures.get("iterations")).isEqualTo(300);
                assertThat(received).isGreaterThanOrEqualTo(600);
            } else {
                assertThat(sent).isEqualTo(300);
                assertThat(count(figures, "iterations")).isEqualTo(received);
            }
        });
    }

    @Tag("slow")
    @Test
    void lossesAreShownBelowEachRow() {
        Result result = Command.run(
                "bench", "--transport", "ud", "--tests", "send_bw", "--sizes", "4k", "-n", "50", "--warmup", "0");

        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out()).containsPattern("(?m)^    over ud: sent 50, received \\d+, lost \\d+$");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--transport uc | soft0 has no unreliable connections (UNRELIABLE_CONNECTED): leave --transport uc out",
                "--transport uc --tests read_lat | read_lat cannot run over uc: choose from send_lat, write_lat,",
                "--transport uc --tests atomic_lat | atomic_lat cannot run over uc",
                "--transport ud --tests write_lat | write_lat cannot run over ud: choose from send_lat, send_bw",
                "--transport ud --sizes 8,4097 | size 4097 does not fit into a datagram: no path has an MTU above 4096",
                "--transport ud --sizes 2048 --mtu 1024 | size 2048 does not fit into a datagram, which has at most"
                        + " 1024",
                "--transport ud --qps 2 | --qps cannot be combined with --transport ud",
                "--transport ud --no-samples | --no-samples cannot be combined with --transport ud",
                "--transport ud --tests allreduce | collectives run over reliable connections",
                "--transport xrc | is not one of rc, uc and ud"
            })
    void whatATransportLacksIsWrongUsage(String arguments, String reason) {
        Result result = Command.run(("bench " + arguments).split(" ", -1));

        assertThat(result.exitCode()).as(result.err()).isEqualTo(2);
        assertThat(result.err()).contains(reason);
        assertThat(result.err().strip().lines()).hasSize(1);
    }

    @Test
    void runsAgainstASeparateServer() throws Exception {
        try (Command server = Command.start("bench", "--server", "--port", "0", "--once")) {
            Result result = Command.run(
                    "bench",
                    "localhost:" + server.port(),
                    "--tests",
                    "read_lat",
                    "--sizes",
                    "8",
                    "--iterations",
                    "10",
                    "--warmup",
                    "0");

            assertThat(result.exitCode()).as(result.err()).isZero();
            assertThat(server.end().exitCode()).isZero();
        }
    }

    @Test
    void aFailureLeavesNoProcessBehind() {
        List<ProcessHandle> before = ProcessHandle.current().children().toList();

        Result result = Command.run("bench", "--device", "nonsense");

        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err().strip().lines()).hasSize(1);
        assertThat(ProcessHandle.current().children()).isSubsetOf(before);
    }

    @Test
    @Tag("slow")
    void theServerExitsWithItsParent() throws Exception {
        try (Command bench = Command.start("bench", "--tests", "read_lat", "--duration", "50", "--sizes", "8")) {
            ProcessHandle child = bench.awaitChild();

            bench.kill();

            child.onExit().get(20, TimeUnit.SECONDS);
            assertThat(child.isAlive()).isFalse();
        }
    }

    @Test
    @Tag("slow")
    void theExitStatusOfADeadServerIsReported() throws Exception {
        try (Command bench = Command.start("bench", "--tests", "read_lat", "--duration", "50", "--sizes", "8")) {
            ProcessHandle child = bench.awaitChild();
            bench.awaitLine("clock");

            child.destroyForcibly();

            Result result = bench.end();
            assertThat(result.exitCode()).isEqualTo(1);
            assertThat(result.err()).contains("the second process ended with exit status 137");
        }
    }
}
