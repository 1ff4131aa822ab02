package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.Setup;
import io.rdmacomm.tests.cli.Command.Result;
import io.rdmacomm.tests.fixture.FarNamespace;
import io.rdmacomm.tests.fixture.LeakCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Two hosts without an adapter, as README shows them: no option, so that the software device of each is bound
/// to its loopback address. The other host is a network namespace, with shared memory of its own or with that
/// of this host, as containers have it.
@ExtendWith(LeakCheck.class)
class TwoHostsTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final String OWN_MEMORY = "mount -t tmpfs tmpfs /dev/shm && exec \"$0\" \"$@\"";
    /// The default device. Other tests of this JVM may have added one at the address of this host.
    private static final String SOFT = "soft0";

    private static final String DEFAULT_FOLDER = "-Drdmacomm.soft.directory=/dev/shm";

    private final FarNamespace far = FarNamespace.orLeaveOut(TwoHostsTest.class);

    @TempDir
    private Path folder = Path.of("");

    /// Starts the command on the other host.
    private Command there(boolean shared, String... arguments) throws IOException {
        List<String> launcher = new ArrayList<>(far.launcher());
        if (shared) {
            return Command.launch(launcher, new String[0], Map.of(), arguments);
        }
        launcher.addAll(List.of("unshare", "--mount", "sh", "-c", OWN_MEMORY));
        return Command.launch(launcher, new String[] {DEFAULT_FOLDER}, Map.of(), arguments);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void pingAsPrinted(boolean shared) throws Exception {
        try (Command server = there(shared, "ping", "--server", "--once", "--port", "0")) {
            Result result = Command.run(
                    "ping", far.far() + ":" + server.port(), "--device", SOFT, "--count", "2", "--interval", "0.01");

            assertThat(result.exitCode()).as(result.err()).isZero();
            assertThat(result.out()).contains("2 pings, all correct");
            assertThat(server.end().exitCode()).isZero();
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void filesAsPrinted(boolean shared) throws Exception {
        byte[] content = new byte[3_000_000];
        new Random(5).nextBytes(content);
        Path file = Files.write(folder.resolve("file.bin"), content);
        Path target = Files.createDirectory(folder.resolve("target"));
        try (Command receiver = there(shared, "recv", "--once", "--port", "0", "--dir", target.toString())) {
            Result sent = Command.run("send", "--device", SOFT, file.toString(), far.far() + ":" + receiver.port());

            assertThat(sent.exitCode()).as(sent.err()).isZero();
            assertThat(receiver.end().exitCode()).isZero();
        }
        assertThat(target.resolve("file.bin")).hasBinaryContent(content);
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void programsWithDefaultOptions(boolean shared) throws Exception {
        try (Command server = there(shared, "ping", "--server", "--once", "--port", "0");
                ClientSession client = ClientSession.connect(SessionOptions.defaults()
                        .withDevice(SOFT)
                        .withAddress(far.far(), Integer.parseInt(server.port())))) {
            assertThat(client.endPoint().setup()).isEqualTo(Setup.CONNECTION_MANAGER);
        }
        try (ServerSession server = ServerSession.listen(SessionOptions.defaults()
                        .withDevice(SOFT)
                        .withAllAddresses()
                        .withPort(0));
                Command client = there(shared, "ping", far.near() + ":" + server.port(), "--count", "1")) {
            EndPoint peer = server.accept(TIMEOUT);

            assertThat(peer.setup()).isEqualTo(Setup.CONNECTION_MANAGER);
            assertThat(peer.remoteAddress().getHostAddress()).isEqualTo(far.far());
            peer.close();
            assertThat(client.end().exitCode()).as("nobody answers its ping").isEqualTo(1);
        }
    }

    /// Its checks of queue pairs connect in the same way as its session.
    @Tag("slow")
    @Tag("long")
    @Timeout(value = 15, unit = TimeUnit.MINUTES)
    @Test
    void doctorAsPrinted() throws Exception {
        try (Command server = there(false, "doctor", "--serve", "--port", "0")) {
            Result result = Command.run(
                    "doctor", "--device", SOFT, "--peer", far.far() + ":" + server.port(), "--check-timeout", "300");

            assertThat(result.exitCode()).as(result.out() + result.err()).isZero();
        }
    }

    /// Datagrams have no connection that could be made in another way.
    @Test
    void whatNeedsAnAddressSaysHowToGiveIt() throws Exception {
        try (Command server = there(false, "bench", "--server", "--once", "--port", "0")) {
            String[] command = {
                "bench", far.far() + ":" + server.port(), "--device", SOFT, "--transport", "ud", "--no-floors"
            };

            Result result = Command.run(command);

            assertThat(result.exitCode()).isEqualTo(1);
            assertThat(result.err())
                    .contains("queue pairs at 127.0.0.1", "-Drdmacomm.soft.devices=soft0=" + far.near())
                    .doesNotContain("foreign");
        }
    }
}
