package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import com.fasterxml.jackson.jr.ob.JSON;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.Session;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.tests.cli.Command.Result;
import io.rdmacomm.verbs.counters.file.CountersFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `rdmacomm top`.
final class TopTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    @TempDir
    Path base;

    @BeforeEach
    void choose() {
        System.setProperty(CountersFolder.PROPERTY, base.toString());
    }

    @AfterEach
    void forget() {
        System.clearProperty(CountersFolder.PROPERTY);
    }

    private static List<Map<String, Object>> list(Object array) {
        @SuppressWarnings("unchecked") // the document of the command
        List<Map<String, Object>> list = (List<Map<String, Object>>) array;
        return list;
    }

    private static Map<String, Object> document(String... arguments) throws IOException {
        Result result = Command.run(arguments);
        assertThat(result.err()).isEmpty();
        assertThat(result.exitCode()).isZero();
        return JSON.std.mapFrom(result.out());
    }

    private static double number(Map<String, Object> channel, String group, String name) {
        return ((Number) ((Map<?, ?>) channel.get(group)).get(name)).doubleValue();
    }

    @Tag("slow")
    @Test
    void showsTheRatesOfABusyProgram() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        SessionOptions options = SessionOptions.defaults().withAddress("127.0.0.1", 0);
        SessionOptions limited = options.withName("busy server").withMemoryLimit(1 << 30);
        try (ServerSession server = ServerSession.listen(limited);
                ClientSession client =
                        ClientSession.connect(options.withName("busy client").withPort(server.port()))) {
            EndPoint here = server.accept(TIMEOUT);
            here.channel(0).onMessage((channel, message) -> {});
            BufferSlice slice = client.allocate("source", 64).block(0);
            Thread sender = Thread.ofPlatform().start(() -> {
                while (!stop.get()) {
                    client.endPoint().channel(0).blocking(TIMEOUT).send(slice);
                }
            });
            try {
                Map<String, Object> document = document("top", "--once", "--interval", "0.1", "--json", "-");

                assertThat(document.get("problems")).isEqualTo(List.of());
                Map<String, Object> process = list(document.get("processes")).getFirst();
                assertThat(process.get("pid"))
                        .isEqualTo((int) ProcessHandle.current().pid());
                List<Map<String, Object>> channels = list(process.get("channels"));
                assertThat(channels).hasSize(2);
                for (Map<String, Object> channel : channels) {
                    boolean sends = channel.get("session").equals("busy client");
                    assertThat(channel.get("channel")).isEqualTo("data-0");
                    assertThat(channel.get("peer")).asString().startsWith(sends ? "busy server" : "busy client");
                    String count = sends ? "operations" : "messages";
                    assertThat(number(channel, "per_second", count)).isPositive();
                    assertThat(number(channel, "per_second", sends ? "bytes_out" : "bytes_in"))
                            .isEqualTo(64 * number(channel, "per_second", count), offset(1e-3));
                    assertThat(number(channel, "counters", "failed")).isZero();
                    Session session = sends ? client : server;
                    assertThat(((Number) channel.get("session_registered_bytes")).longValue())
                            .isEqualTo(session.statistics().registeredBytes());
                    assertThat(channel.get("session_memory_limit")).isEqualTo(sends ? null : 1 << 30);
                }
                assertThat(document.get("host_tcp")).isNotNull();

                Result table = Command.run("top", "--once", "--interval", "0.1");
                assertThat(table.out())
                        .contains("1 process, 2 channels", "busy client", "cstall/s", "data-0", "memory", "1.00Gi");
            } finally {
                stop.set(true);
                sender.join();
            }
        }
    }

    @Tag("slow")
    @Test
    void showsAnotherProcessUntilItIsKilled() throws Exception {
        try (Command server = Command.start("ping", "--server", "--port", "0", "--bind", "127.0.0.1")) {
            var _ = server.port();
            Map<String, Object> process = list(document("top", "--once", "--interval", "0.1", "--json", "-")
                            .get("processes"))
                    .getFirst();
            assertThat(process.get("command")).asString().endsWith("ping --server --port 0 --bind 127.0.0.1");
            assertThat(list(process.get("channels")).getFirst().get("peer")).isEqualTo("");
            String pid = String.valueOf(process.get("pid"));
            assertThat(Command.run("top", "--once", "--interval", "0.1", "--pid", pid)
                            .out())
                    .contains(pid, "1 process, 1 channel");

            server.kill();

            Result gone = Command.run("top", "--once", "--interval", "0.1", "--pid", pid);
            assertThat(gone.exitCode()).isEqualTo(1);
            assertThat(gone.err()).contains("process " + pid + " publishes no counters");
            assertThat(Command.run("top", "--once", "--interval", "0.1").out())
                    .contains("0 processes", "no process of this user publishes counters in " + base);
            try (var files = Files.list(CountersFolder.ofUser().path())) {
                assertThat(files).isEmpty();
            }
        }
    }

    @Test
    void aProcessCanKeepItselfOut() throws Exception {
        String[] off = {"-Drdmacomm.counters=off"};
        try (Command server = Command.start(off, "ping", "--server", "--port", "0", "--bind", "127.0.0.1")) {
            var _ = server.port();
            assertThat(CountersFolder.ofUser().path()).doesNotExist();
        }
    }

    @Test
    void aFolderThatCannotBeMadeCostsAProcessOneWarning() throws Exception {
        Path file = Files.writeString(base.resolve("file"), "");
        String[] arguments = {"ping", "--server", "--port", "0", "--once", "--bind", "127.0.0.1"};
        String[] nowhere = {"-D" + CountersFolder.PROPERTY + "=" + file, "-Dio.rdmacomm.cli.logLevel=1"};
        try (Command server = Command.start(nowhere, arguments)) {
            Result ping = Command.run("ping", "127.0.0.1:" + server.port(), "--count", "1");
            assertThat(ping.exitCode()).isZero();
            Result result = server.end();
            assertThat(result.exitCode()).isZero();
            assertThat(result.err().lines())
                    .filteredOn(line -> line.contains("counters cannot be written"))
                    .hasSize(1);
        }
    }

    @Test
    void printsATablePerIntervalWhereThereIsNoTerminal() throws Exception {
        try (Command top = Command.start("top", "--interval", "0.1")) {
            top.awaitLine("rdmacomm top, ");
            top.awaitLine("rdmacomm top, ");
            top.interrupt();
            assertThat(top.end().err()).isEmpty();
        }
    }

    @Test
    void readsNothingFromAFolderThatIsNotThisUsersOwn() throws IOException {
        Path foreign = Files.createDirectory(
                CountersFolder.ofUser().path(),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
        Files.write(foreign.resolve("1-x.counters"), new byte[1000]);
        Result result = Command.run("top", "--once", "--interval", "0.1");
        assertThat(result.exitCode()).isZero();
        assertThat(result.out()).contains("0 processes").doesNotContain("unreadable");
    }

    @Test
    void aDamagedFileIsReported() throws IOException {
        Path folder = Files.createDirectory(
                CountersFolder.ofUser().path(),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Files.write(folder.resolve("1-x.counters"), new byte[1000]);
        assertThat(Command.run("top", "--once", "--interval", "0.1").out())
                .contains("unreadable: " + folder.resolve("1-x.counters") + ": not a counters file");
    }
}
