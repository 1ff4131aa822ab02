package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.tests.cli.Command.Result;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The options `--work-mode` and `--thread-mode` of `ping`, `bench`, `send` and `recv`.
class ModeOptionsTest {
    /// The threads of a session show its modes.
    @ParameterizedTest
    @CsvSource({
        "adaptive, caller, ''",
        "adaptive, shared-cq, -data",
        "polling, per-queue-pair, data-0",
        "completion-channel, per-queue-pair, data-0",
        "epoll, per-queue-pair, -events",
        "epoll, shared-cq, -data"
    })
    void theSessionOfACommandHasTheThreadsOfItsModes(String work, String thread, String expected) {
        CompletableFuture<Result> client;
        try (ServerSession server =
                ServerSession.listen(SessionOptions.defaults().withPort(0).withThreadMode(ThreadMode.CALLER))) {
            String[] command = {
                "ping", "localhost:" + server.port(), "--work-mode", work, "--thread-mode", thread, "--timeout", "60"
            };
            client = CompletableFuture.supplyAsync(() -> Command.run(command));
            try (EndPoint peer = server.accept(Duration.ofMinutes(1))) {
                assertThat(peer.peerName()).isEqualTo("ping client");
                List<String> threads = threadsOf("ping client");

                if (expected.isEmpty()) {
                    assertThat(threads).isEmpty();
                } else {
                    assertThat(threads).singleElement().asString().contains(expected);
                }
            }
        }
        assertThat(client.join().exitCode()).as("nobody answers its pings").isEqualTo(1);
    }

    /// The library threads for the data channels of a session.
    private static List<String> threadsOf(String session) {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("rdmacomm-") && name.contains(session))
                .filter(name -> !name.endsWith("-control") && !name.endsWith("-device"))
                .toList();
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"polling", "completion-channel", "epoll", "adaptive"})
    void aServerAndAClientMayUseDifferentThreadModes(String work) throws Exception {
        try (Command server = Command.start(
                "ping", "--server", "--port", "0", "--count", "3", "--work-mode", work, "--thread-mode", "shared-cq")) {
            String peer = "localhost:" + server.port();
            for (String thread : List.of("per-queue-pair", "shared-cq", "caller")) {
                Result result = Command.run(
                        "ping", peer, "--interval", "0", "--count", "20", "--work-mode", work, "--thread-mode", thread);

                assertThat(result.exitCode()).as(result.err()).isZero();
                assertThat(result.out()).contains("20 pings, all correct");
            }
            assertThat(server.end().exitCode()).isZero();
        }
    }

    @ParameterizedTest
    @Tag("slow")
    @CsvSource({
        "polling, per-queue-pair, completion-channel, shared-cq",
        "completion-channel, caller, epoll, per-queue-pair",
        "epoll, shared-cq, adaptive, caller",
        "epoll, per-queue-pair, polling, shared-cq"
    })
    void filesAreCopiedInEveryMode(
            String sendWork, String sendThread, String receiveWork, String receiveThread, @TempDir Path root)
            throws Exception {
        byte[] content = new byte[3_000_001];
        new Random(4711).nextBytes(content);
        Path file = Files.write(root.resolve("file"), content);
        Path target = Files.createDirectory(root.resolve("target"));
        try (Command receiver = Command.start(
                "recv",
                "--dir",
                target.toString(),
                "--port",
                "0",
                "--once",
                "--work-mode",
                receiveWork,
                "--thread-mode",
                receiveThread)) {
            Result sent = Command.run(
                    "send",
                    file.toString(),
                    "localhost:" + receiver.port(),
                    "--chunk",
                    "64k",
                    "--depth",
                    "3",
                    "--work-mode",
                    sendWork,
                    "--thread-mode",
                    sendThread);

            assertThat(sent.exitCode()).as(sent.err()).isZero();
            assertThat(receiver.end().exitCode()).isZero();
        }
        assertThat(target.resolve("file")).hasBinaryContent(content);
    }

    @Test
    @Tag("slow")
    void benchMeasuresTheTestsWithBlockingCallsInTheGivenModes() throws Exception {
        Result result = Command.run(
                "bench",
                "--work-mode",
                "completion-channel",
                "--iterations",
                "30",
                "--warmup",
                "0",
                "--sizes",
                "8",
                "--no-floors",
                "--json",
                "-");

        assertThat(result.exitCode()).as(result.err()).isZero();
        Map<String, Object> document = JSON.std.mapFrom(result.out());
        assertThat(document).containsEntry("work_mode", "completion-channel").containsEntry("thread_mode", "caller");
        assertThat((List<?>) document.get("results"))
                .extracting(row -> ((Map<?, ?>) row).get("test").toString())
                .containsExactly("send_lat", "read_lat", "atomic_lat");
    }

    @Test
    void benchSaysInWhichModesItMeasured() {
        Result result = Command.run(
                "bench",
                "--thread-mode",
                "shared-cq",
                "--tests",
                "read_lat",
                "--iterations",
                "10",
                "--warmup",
                "0",
                "--sizes",
                "8",
                "--no-floors");

        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out()).contains("blocking calls in work mode adaptive, thread mode shared-cq");
    }

    @Test
    @Tag("slow")
    @Tag("long")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void theMatrixHasEveryModeBusyAndIdle(@TempDir Path root) throws Exception {
        Path json = root.resolve("matrix.json");

        Path csv = root.resolve("matrix.csv");
        Path page = root.resolve("matrix.html");

        Result result = Command.run(
                "bench",
                "--matrix",
                "--no-floors",
                "--duration",
                "0.1",
                "--warmup",
                "0.02",
                "--json",
                json.toString(),
                "--csv",
                csv.toString(),
                "--report",
                page.toString());

        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out()).contains("work mode", "idle CPU", "all received data verified");
        List<?> cells = (List<?>) JSON.std.mapFrom(Files.readString(json)).get("results");
        assertThat(cells).hasSize(12).allSatisfy(ModeOptionsTest::isComplete);
        assertThat(cells.stream()
                        .map(cell -> ((Map<?, ?>) cell).get("work_mode") + " " + ((Map<?, ?>) cell).get("thread_mode")))
                .doesNotHaveDuplicates()
                .contains("polling caller", "completion-channel shared-cq", "epoll per-queue-pair", "adaptive caller");
        assertThat(result.out().lines().filter(line -> line.startsWith("epoll")))
                .hasSize(3);
        assertThat(Files.readAllLines(csv)).hasSize(13).element(1).asString().contains("polling,per-queue-pair");
        assertThat(Files.readString(page)).contains("request_lat epoll caller", "idle server %");
    }

    private static void isComplete(Object row) {
        Map<?, ?> cell = (Map<?, ?>) row;
        assertThat(cell.get("test")).isEqualTo("request_lat");
        assertThat(cell.keySet().stream().map(Object::toString))
                .contains(
                        "work_mode",
                        "thread_mode",
                        "p99_us",
                        "busy_cpu_client_percent",
                        "busy_cpu_server_percent",
                        "idle_cpu_client_percent",
                        "idle_cpu_server_percent");
        assertThat(number(cell, "iterations")).isPositive();
        assertThat(number(cell, "p50_us")).isBetween(0.001, number(cell, "p99_us"));
        assertThat(Stream.of("busy_cpu_client_percent", "busy_cpu_server_percent"))
                .allSatisfy(name -> assertThat(number(cell, name)).as(name).isPositive());
    }

    private static double number(Map<?, ?> row, String name) {
        return ((Number) row.get(name)).doubleValue();
    }

    @Test
    void theHelpExplainsEachMode() {
        for (String command : List.of("ping", "bench", "send", "recv")) {
            assertThat(Command.run(command, "--help").out())
                    .contains("- polling:", "- completion-channel:", "- epoll:", "- adaptive:")
                    .contains("- per-queue-pair:", "- shared-cq:", "- caller:");
        }
    }
}
