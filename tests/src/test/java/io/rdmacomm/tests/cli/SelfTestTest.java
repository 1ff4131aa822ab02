package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.rdmacomm.cli.doctor.Check;
import io.rdmacomm.cli.doctor.CheckResult;
import io.rdmacomm.cli.doctor.CheckRunner;
import io.rdmacomm.cli.doctor.CheckSetup;
import io.rdmacomm.cli.doctor.LocalPeer;
import io.rdmacomm.cli.doctor.QueuePairChecks;
import io.rdmacomm.cli.doctor.Verdict;
import io.rdmacomm.cli.doctor.Verdict.Grade;
import io.rdmacomm.tests.cli.Command.Result;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Rdma;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// `rdmacomm doctor --device`: the self-test of a device passes on one that works, and fails on one that
/// does not.
class SelfTestTest {
    private static final String[] ALL = {
        "transfers",
        "WRITE without the right",
        "READ without the right",
        "unknown remote key",
        "unknown local key",
        "message longer than receive",
        "no receive posted",
        "no answer",
        "flush in ERROR",
        "completion queue overrun",
        "close under traffic",
        "peer closes under traffic",
        "100 sessions",
        "bench"
    };

    @TempDir
    private Path folder;

    private static Map<String, CheckResult> queuePairChecks(String device) {
        Map<String, CheckResult> results = new LinkedHashMap<>();
        ConnectionOptions how = ConnectionOptions.defaults();
        CheckRunner runner = new CheckRunner(Duration.ofSeconds(60));
        try (Context context = Rdma.open(device)) {
            CheckSetup setup =
                    new CheckSetup(context, how, false, new LocalPeer(context, how, null), Duration.ofSeconds(3));
            for (Check check : QueuePairChecks.all()) {
                results.put(check.name(), runner.run(check, setup));
            }
        }
        return results;
    }

    /// A member of each check in a document.
    private static List<String> checks(String json, String member) throws IOException {
        return ((List<?>) JSON.std.mapFrom(json).get("checks"))
                .stream().map(each -> ((Map<?, ?>) each).get(member).toString()).toList();
    }

    private String secret(String name, String content) throws IOException {
        Path file = Files.writeString(folder.resolve(name), content);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        return file.toString();
    }

    @Tag("slow")
    @Test
    void theSoftwareDevicePassesAndTheReportSaysSo() throws IOException {
        Path report = folder.resolve("adapter");

        Result result = Command.run("doctor", "--device", "soft0", "--report", report.toString());

        assertThat(result.exitCode()).as(result.out() + result.err()).isZero();
        assertThat(result.out()).contains("14 ok, 0 FAILED, 0 not supported", "adapter.txt", "adapter.json");
        String json = Files.readString(folder.resolve("adapter.json"));
        assertThat(checks(json, "check")).containsExactly(ALL);
        assertThat(checks(json, "grade")).containsOnly("OK");
        assertThat(Files.readString(folder.resolve("adapter.txt")))
                .contains(ALL)
                .contains("hca_id:", "soft0", "kernel:", "jdk:", "architecture:", "libraries:", "locked memory");
        assertThat(JSON.std.mapFrom(json))
                .containsEntry("passed", true)
                .containsKeys("environment", "system", "device", "findings");
    }

    @Test
    @Tag("slow")
    void twoHostsWithOneSecretPass() throws Exception {
        String secret = secret("secret", "b0344c61d8db38535ca8afceaf0bf12b\n");
        String other = secret("other", "00000000000000000000000000000000\n");
        String[] server = {
            "doctor", "--serve", "--device", "soft0", "--bind", "127.0.0.1", "--port", "0", "--secret-file", secret
        };
        try (Command serving = Command.start(server)) {
            String peer = "127.0.0.1:" + serving.port();

            Result wrong = Command.run("doctor", "--device", "soft0", "--peer", peer, "--secret-file", other);
            Result right =
                    Command.run("doctor", "--device", "soft0", "--peer", peer, "--secret-file", secret, "--json", "-");

            assertThat(wrong.exitCode()).as(wrong.err()).isEqualTo(1);
            assertThat(wrong.out()).contains("is not that of the server", "0 ok, 1 FAILED");
            assertThat(right.exitCode()).as(right.out() + right.err()).isZero();
            assertThat(checks(right.out(), "check")).containsExactly(ALL);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "fail=read:1:GENERAL_ERROR | transfers, READ without the right",
                "fail=atomic:2:REMOTE_OPERATION_ERROR | transfers",
                "fail=send:2+:FLUSHED | transfers",
                "fail=send:1:LOCAL_LENGTH_ERROR | transfers, message longer than receive, no receive posted,"
                        + " no answer, flush in ERROR",
                "overrun=write:3 | close under traffic, peer closes under traffic",
                "fail=create-completion-queue:1:ENOMEM | transfers",
                "delay=receive:/1:10s | transfers",
            })
    void aDeviceWithAFaultFailsTheChecksThatMeetIt(String rule, String failing) {
        Map<String, CheckResult> results = queuePairChecks("fault:soft0?" + rule);

        assertThat(results.values().stream().filter(CheckResult::hasFailed).map(CheckResult::check))
                .as(results.toString())
                .containsExactlyInAnyOrder(failing.split(",\\s*"));
        assertThat(results.values())
                .filteredOn(CheckResult::hasFailed)
                .allSatisfy(result -> assertThat(result.verdict().remedy()).contains("--report"));
    }

    @Test
    void aFailureSaysWhatWasExpectedAndWhatCame() {
        CheckResult result =
                queuePairChecks("fault:soft0?fail=read:1:GENERAL_ERROR").get("READ without the right");

        assertThat(result.verdict().text())
                .isEqualTo("expected REMOTE_ACCESS_ERROR, but the request completed with GENERAL_ERROR");
    }

    @Test
    void whatADeviceLacksIsNotAFailure() {
        Map<String, CheckResult> results = queuePairChecks("fault:soft0?lacks=ATOMICS&lacks=RECEIVER_NOT_READY");

        assertThat(results.values()).noneMatch(CheckResult::hasFailed);
        assertThat(results.get("transfers").verdict().text()).doesNotContain("FETCH_AND_ADD");
        assertThat(results.get("no receive posted").verdict().grade()).isEqualTo(Grade.NOT_SUPPORTED);
    }

    @Test
    @Tag("slow")
    void aFailedCheckIsExitCode1() {
        Result result = Command.run("doctor", "--device", "fault:soft0?fail=read:1:GENERAL_ERROR");

        assertThat(result.exitCode()).as(result.out()).isEqualTo(1);
        assertThat(result.out()).contains("FAILED         port 1  READ without the right", "-> attach the two files");
    }

    @Test
    void aCheckThatDoesNotReturnIsLeftBehind() throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        Check hanging = new Check() {
            @Override
            public String name() {
                return "hanging";
            }

            @Override
            public Verdict run(CheckSetup setup) throws InterruptedException {
                never.await();
                throw new AssertionError("the latch is never open");
            }
        };
        CheckRunner runner = new CheckRunner(Duration.ofSeconds(1));
        try (Context context = Rdma.open("soft0")) {
            ConnectionOptions how = ConnectionOptions.defaults();
            CheckSetup setup =
                    new CheckSetup(context, how, false, new LocalPeer(context, how, null), Duration.ofSeconds(1));
            CheckResult result = runner.run(hanging, setup);

            assertThat(result.hasFailed()).isTrue();
            assertThat(result.verdict().text()).contains("an end within 1 s", "CountDownLatch.await");
            assertThat(runner.hasAbandoned()).isTrue();
        }
    }
}
