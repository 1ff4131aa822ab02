package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.cli.RdmaCommand;
import io.rdmacomm.tests.fixture.Deadline;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/// The commands over the kernel's devices: with the C programs whose protocols they speak, in both directions,
/// and with themselves where only a connection manager connects.
@EnabledIfEnvironmentVariable(named = "LAB", matches = "yes", disabledReason = "it needs rxe0 and siw0: lab/suite lab")
class InteroperationTest {
    private static final long PATIENCE_SECONDS = 120;
    private static final String WAIT = "60";

    /// What a run of the command came to.
    private record Outcome(int exitCode, String text) {}

    /// A run of the command in a thread of its own, up to now.
    private static final class Running {
        private final StringWriter text = new StringWriter();
        private final CompletableFuture<Integer> exit;

        Running(String... words) {
            exit = CompletableFuture.supplyAsync(() -> execute(text, words));
        }

        /// Waits until the server listens.
        Running listening() {
            Deadline.until(
                    TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS),
                    () -> exit.isDone() || text.toString().contains("listening on port"));
            assertThat(text.toString()).contains("listening on port");
            return this;
        }

        Outcome end() throws InterruptedException, ExecutionException, TimeoutException {
            return new Outcome(exit.get(PATIENCE_SECONDS, TimeUnit.SECONDS), text.toString());
        }
    }

    private static int execute(StringWriter text, String... words) {
        CommandLine command = RdmaCommand.commandLine(words);
        PrintWriter writer = new PrintWriter(text, true);
        command.setOut(writer).setErr(writer);
        return command.execute(words);
    }

    private static Outcome run(String words) {
        StringWriter text = new StringWriter();
        return new Outcome(execute(text, words.split(" ", -1)), text.toString());
    }

    private static Running serve(String words) {
        return new Running(words.split(" ", -1)).listening();
    }

    /// Starts a C server and waits until the kernel knows its port.
    private static Process cServer(String command, String listens) {
        Process server = Shell.start("timeout " + PATIENCE_SECONDS + " " + command);
        Deadline.until(
                TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS),
                () -> !server.isAlive() || Shell.tryTo(listens + " >/dev/null"));
        assertThat(server.isAlive()).as(command + " listens").isTrue();
        return server;
    }

    private static void assertEndsWell(Process server) throws InterruptedException {
        assertThat(server.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS))
                .as("the C program ends")
                .isTrue();
        assertThat(server.exitValue()).as("exit status of the C program").isZero();
    }

    private static void assertGood(Outcome outcome) {
        assertThat(outcome.exitCode()).as(outcome.text()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"4096, 1024", "1, 256", "65536, 1024"})
    void ourClientPlaysWithTheServerOfIbvRcPingpong(int bytes, int mtu) throws Exception {
        Process server =
                cServer("ibv_rc_pingpong -d rxe0 -g 1 -n 50 -c -s " + bytes + " -m " + mtu, "ss -ltn | grep :18515");

        Outcome client = run("ping --interop rc_pingpong -d rxe0 127.0.0.1 --count 50 --check --timeout " + WAIT
                + " --size " + bytes + " --mtu " + mtu);

        assertGood(client);
        assertThat(client.text()).contains(2L * bytes * 50 + " bytes in ", "50 iters in ", "GID ::ffff:10.9.0.1");
        assertEndsWell(server);
    }

    @Test
    void ourServerPlaysWithTheClientOfIbvRcPingpong() throws Exception {
        Running server =
                serve("ping --interop rc_pingpong -d rxe0 --server --once --count 50 --check --timeout " + WAIT);

        assertEndsWell(Shell.start("timeout 120 ibv_rc_pingpong -d rxe0 -g 1 -n 50 -c 127.0.0.1"));

        assertGood(server.end());
    }

    @Test
    void ourServerSaysWhatIsMissingWhenTheCProgramSendsNoGid() throws Exception {
        Running server = serve("ping --interop rc_pingpong -d rxe0 --server --once --timeout " + WAIT);

        Process client = Shell.start("timeout 120 ibv_rc_pingpong -d rxe0 127.0.0.1 2>/dev/null");

        assertThat(client.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(client.exitValue()).isNotZero();
        Outcome outcome = server.end();
        assertThat(outcome.exitCode()).isEqualTo(1);
        assertThat(outcome.text()).contains("start ibv_rc_pingpong with -g INDEX");
    }

    @ParameterizedTest
    @CsvSource({"rxe0, 10.9.0.1, 64", "rxe0, 10.9.0.1, 65535", "siw0, 10.8.0.1, 64", "siw0, 10.8.0.1, 65535"})
    void ourClientSpeaksWithTheServerOfRping(String device, String address, int bytes) throws Exception {
        Process server = cServer(
                "rping -s -a " + address + " -S " + bytes + " -C 5 -V", "rdma resource show cm_id | grep LISTEN");

        Outcome client = run("ping --interop rping -d " + device + " " + address + " --count 5 --size " + bytes
                + " --timeout " + WAIT);

        assertGood(client);
        assertThat(client.text()).contains("5 pings, 5 right");
        assertEndsWell(server);
    }

    @ParameterizedTest
    @CsvSource({"rxe0, 10.9.0.1, 64", "rxe0, 10.9.0.1, 65535", "siw0, 10.8.0.1, 64", "siw0, 10.8.0.1, 65535"})
    void ourServerSpeaksWithTheClientOfRping(String device, String address, int bytes) throws Exception {
        Running server = serve("ping --interop rping -d " + device + " --bind " + address
                + " --server --once --verbose --timeout " + WAIT);

        assertEndsWell(Shell.start("timeout 120 rping -c -a " + address + " -S " + bytes + " -C 5 -V"));

        Outcome outcome = server.end();
        assertGood(outcome);
        assertThat(outcome.text())
                .contains("server ping data: rdma-ping-0: ABCDEFGHIJ", "rdma-ping-4: EFGHIJ", ": 5 pings served");
    }

    @ParameterizedTest
    @CsvSource({"rxe0, 10.9.0.1", "siw0, 10.8.0.1"})
    void aStringIsCopiedThereAndBack(String device, String address) throws Exception {
        Running server =
                serve("copy-string -d " + device + " --bind " + address + " --server --once --timeout " + WAIT);

        Outcome client = run("copy-string -d " + device + " " + address + " textstring --timeout " + WAIT);

        assertGood(client);
        assertThat(client.text()).contains("SUCCESS, source and destination buffers match");
        Outcome outcome = server.end();
        assertGood(outcome);
        assertThat(outcome.text()).contains("10 bytes were copied: \"textstring\"");
    }

    /// On siw because nothing else works there, on rxe because it was asked for.
    @ParameterizedTest
    @CsvSource({"siw0, 10.8.0.1, --retry=7", "rxe0, 10.9.0.1, --rdma-cm"})
    void sessionsRunOverTheConnectionManager(String device, String address, String option) throws Exception {
        Running server = serve("ping -d " + device + " --bind " + address + " --server --once --port 0 --timeout "
                + WAIT + " " + option);
        String port = server.text.toString().replaceAll("(?s).*listening on port (\\d+).*", "$1");

        Outcome client = run("ping -d " + device + " " + address + ":" + port
                + " --count 20 --size 20000 --interval 0 --timeout " + WAIT + " " + option);

        assertGood(client);
        assertThat(client.text()).contains("20 pings, 20 right");
        Outcome outcome = server.end();
        assertGood(outcome);
        assertThat(outcome.text()).contains("20 pings answered").doesNotContain("failed");
    }

    @Test
    void filesAreCopiedOverSiw(@TempDir Path from, @TempDir Path to) throws Exception {
        byte[] content = new byte[3_000_000];
        new Random(7).nextBytes(content);
        Path file = Files.write(from.resolve("file"), content);
        Running server = serve("recv -d siw0 --bind 10.8.0.1 --once --port 0 --set-up-timeout 60 --dir " + to);
        String port = server.text.toString().replaceAll("(?s).*listening on port (\\d+).*", "$1");

        Outcome client = run("send -d siw0 --set-up-timeout 60 " + file + " 10.8.0.1:" + port);

        assertGood(client);
        assertGood(server.end());
        assertThat(Arrays.equals(Files.readAllBytes(to.resolve("file")), content))
                .isTrue();
    }
}
