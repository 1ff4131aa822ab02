package io.rdmacomm.tests.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.cli.RdmaCommand;
import io.rdmacomm.examples.PingPong;
import io.rdmacomm.tests.fixture.LeftOut;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The software device on a system that has nothing of what only Linux has: its name, `/proc` and `/dev/shm` are hidden
/// from the process.
@Tag("slow")
class OtherSystemTest {
    private static final int TIMEOUT_SECONDS = 120;

    /// Needs a folder for what is left of /dev, and then the command.
    private static final String HIDE = """
            devices=$1
            shift
            mount -t tmpfs none "$devices"
            for each in null zero random urandom; do
                touch "$devices/$each"
                mount --bind "/dev/$each" "$devices/$each"
            done
            mount --rbind "$devices" /dev
            mount -t tmpfs none /proc
            exec "$@"
            """;

    @TempDir
    private Path folder = Path.of("");

    @BeforeAll
    static void mayHide() throws Exception {
        Process tried = new ProcessBuilder("unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt").start();
        if (tried.waitFor() != 0) {
            throw LeftOut.because(
                    OtherSystemTest.class, "cannot make a mount namespace, which needs root and unshare(1)");
        }
    }

    /// Runs a program to its end, and returns what it has printed.
    private String run(String system, Class<?> program, String... arguments) throws IOException, InterruptedException {
        Path devices = Files.createDirectory(folder.resolve("devices"));
        Path temporary = Files.createDirectory(folder.resolve("temporary"));
        Path output = folder.resolve("output");
        List<String> command = new ArrayList<>(List.of("unshare", "--mount", "sh", "-ec", HIDE, "sh"));
        command.add(devices.toString());
        command.add(ProcessHandle.current().info().command().orElseThrow());
        command.addAll(List.of("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of("-Dos.name=" + system, "-Djava.io.tmpdir=" + temporary));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        // Without /proc the launcher of the JDK does not know where it is.
        builder.environment()
                .put(
                        "LD_LIBRARY_PATH",
                        Path.of(System.getProperty("java.home"), "lib").toString());
        Process process = builder.start();
        boolean ended = process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        if (!ended) {
            process.destroyForcibly();
        }
        String printed = Files.readString(output, StandardCharsets.UTF_8);
        assertThat(ended).as("ends; it printed " + printed).isTrue();
        assertThat(process.exitValue()).as(printed).isZero();
        try (var left = Files.list(temporary)) {
            assertThat(left.filter(each -> !each.getFileName().toString().startsWith("rdmacomm-counters")))
                    .as("nothing is left")
                    .isEmpty();
        }
        return printed;
    }

    @ParameterizedTest
    @ValueSource(strings = {"Mac OS X", "Linux"})
    void twoEndsInOneProcess(String system) throws Exception {
        assertThat(run(system, PingPong.class)).doesNotContain("Exception");
    }

    @Test
    void twoProcesses() throws Exception {
        String[] bench = {"bench", "--tests", "send_lat,write_bw,read_lat,atomic_lat", "-n", "200", "--no-floors"};

        assertThat(run("Mac OS X", RdmaCommand.class, bench)).contains("all received data verified");
    }
}
