package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.rdmacomm.cli.bench.BandwidthResult;
import io.rdmacomm.tests.cli.Command.Result;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `bench` between two processes, as short as possible. These tests check the output, not the speed.
class BenchTest {
    private static final List<String> LATENCY = List.of(
            "test",
            "bytes",
            "iterations",
            "min_us",
            "p50_us",
            "p99_us",
            "p999_us",
            "max_us",
            "avg_us",
            "stdev_us",
            "floor_us",
            "ratio");
    private static final List<String> BANDWIDTH =
            List.of("test", "bytes", "iterations", "gbps", "mmsgs_per_s", "cpu_us_per_gb", "copy_gbps", "ratio");

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
        assertThat(result.out()).contains("write_lat", "read_bw", "all received data verified", "clock:");
        Map<String, Object> document = JSON.std.mapFrom(Files.readString(json));
        assertThat(document).containsEntry("schema", 1).containsEntry("data_verified", true);
        assertThat(((Map<?, ?>) document.get("environment")).keySet().stream().map(Object::toString))
                .contains("cpu", "cores", "kernel", "jdk", "provider", "device", "commit", "command", "time");
        assertThat(List.of("socket_us", "socket_gbps", "socket_us_at_end", "socket_gbps_at_end"))
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
        assertThat(result.keySet().stream().map(Object::toString))
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
    void aSlowRateIsNotRoundedToZero() {
        BandwidthResult slow =
                new BandwidthResult(io.rdmacomm.cli.bench.BenchTest.WRITE_BW, 1, 40, 60_000_000_000L, 1, 0);
        assertThat(number(slow.toMap(), "gbps")).isEqualTo(5.33e-9);
        assertThat(number(slow.toMap(), "mmsgs_per_s")).isEqualTo(6.667e-7);
        BandwidthResult fast =
                new BandwidthResult(io.rdmacomm.cli.bench.BenchTest.WRITE_BW, 1 << 20, 1000, 700_000_000, 1, 0);
        assertThat(number(fast.toMap(), "gbps")).isEqualTo(11.984);
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
