package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.rdmacomm.tests.cli.Command.Result;
import io.rdmacomm.verbs.DeviceLimit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `devices`, `info`, `watch` and `doctor`.
class DevicesTest {
    @Test
    void devicesListsTheSoftwareDevice() {
        Result result = Command.run("devices");

        assertThat(result.exitCode()).isZero();
        assertThat(result.out()).containsPattern("soft0\\s+[0-9a-f]{16}\\s+soft");
    }

    @Test
    void aProviderWithoutDevicesIsExplainedInOneLine() throws Exception {
        String[] withoutLibrary = {"-Drdmacomm.ibverbs.library=libnobody-has-this.so.7"};
        for (String command : new String[] {"devices", "doctor"}) {
            try (Command process = Command.start(withoutLibrary, command)) {
                Result result = process.end();

                assertThat(result.exitCode()).isZero();
                assertThat(result.out()).contains("soft0");
                assertThat((result.out() + result.err()).lines())
                        .filteredOn(line -> line.contains("libnobody-has-this.so.7"))
                        .singleElement()
                        .asString()
                        .contains("ibverbs: libnobody-has-this.so.7 is not installed; on Debian");
                assertThat(result.err()).doesNotContain("WARNING", "native access");
            }
        }
    }

    @Test
    void jsonIsTheOnlyTextOnTheStandardOutput() throws IOException {
        Map<String, Object> document =
                JSON.std.mapFrom(Command.run("devices", "--json", "-").out());

        assertThat(document).containsEntry("schema", 1);
        assertThat(((Map<?, ?>) document.get("environment")).get("kernel")).isNotNull();
        assertThat((List<?>) document.get("devices")).isNotEmpty();
    }

    @Test
    void infoShowsAllLimitsWithTheirCNames() {
        Result result = Command.run("info", "soft0");

        assertThat(result.exitCode()).isZero();
        assertThat(result.out()).contains("hca_id:", "node_guid:", "PORT_ACTIVE", "GID", "link_layer:");
        assertThat(result.out()).contains(DeviceLimit.MAX_QUEUE_PAIRS.cName(), DeviceLimit.MAX_REGION_SIZE.cName());
    }

    @Test
    void infoWritesJsonToAFile(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("info.json");

        Result result = Command.run("info", "soft0", "--json", file.toString());

        assertThat(result.exitCode()).isZero();
        assertThat(result.out()).contains("soft0");
        Map<String, Object> document = JSON.std.mapFrom(Files.readString(file));
        Map<?, ?> device = (Map<?, ?>) ((List<?>) document.get("devices")).getFirst();
        assertThat(device.get("hca_id")).isEqualTo("soft0");
        assertThat(device.get("max_qp_wr")).isInstanceOf(Number.class);
        Map<?, ?> port = (Map<?, ?>) ((List<?>) device.get("port")).getFirst();
        assertThat(port.get("GID[  0]")).asString().contains(":");
    }

    @Test
    void watchExitsAfterItsDuration() {
        Result result = Command.run("watch", "soft0", "--duration", "0.05");

        assertThat(result.exitCode()).isZero();
        assertThat(result.out().strip()).isEqualTo("soft0 (soft): watching");
        assertThat(Command.run("watch", "soft0", "--duration", "0", "--json", "-")
                        .out())
                .isEmpty();
        assertThat(Command.run("watch", "soft0", "--count", "0").exitCode()).isEqualTo(2);
        assertThat(Command.run("watch", "nobody0").exitCode()).isEqualTo(1);
    }

    @Test
    void watchWritesItsJsonToAFile(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("events.json"), "of an earlier run");

        Result result = Command.run("watch", "soft0", "--duration", "0", "--json", file.toString());

        assertThat(result.out()).contains("watching");
        assertThat(file).isEmptyFile();
        assertThat(Command.run("watch", "soft0", "--duration", "0", "--json", folder + "/none/file")
                        .err())
                .contains("cannot be written");
    }

    @Test
    void watchExitsOnCtrlC() throws Exception {
        try (Command process = Command.start("watch", "soft0")) {
            process.awaitLine("watching");
            process.interrupt();

            assertThat(process.end().err()).isEmpty();
        }
    }

    @Test
    void doctorFindsAWorkingDevice() {
        Result result = Command.run("doctor");

        assertThat(result.exitCode()).isZero();
        assertThat(result.out()).contains("Java", "cores", "/dev/shm", "locked memory", "device soft0");
        assertThat(result.out())
                .containsPattern("(OK|WARN) +sockets ")
                .containsPattern("rdmacomm run .*-- COMMAND, or java -javaagent:")
                .containsPattern("(OK|WARN) +open files ");
        assertThat(result.out().lines().reduce("", (_, last) -> last))
                .containsAnyOf("RDMA works on this machine.", "No RDMA adapter. The software device works");
        assertThat(result.out())
                .containsPattern("/dev/shm +.*writable")
                .containsPattern(
                        "device soft0 +.*, listens on 127\\.0\\.0\\.1 TCP port [1-9][0-9]* \\(reachable from this host only");
    }
}
