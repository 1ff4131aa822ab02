package io.rdmacomm.ibverbs.objects;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The counters that the kernel shows as files.
final class PortCountersTest {
    @TempDir
    private Path port;

    @Test
    void bothFoldersAreRead() throws Exception {
        Path counters = Files.createDirectory(port.resolve("counters"));
        Path hardware = Files.createDirectory(port.resolve("hw_counters"));
        Files.writeString(counters.resolve("port_xmit_data"), "4711\n");
        Files.writeString(counters.resolve("port_rcv_data"), "18446744073709551615\n");
        Files.writeString(hardware.resolve("rcvd_pkts"), "12\n");
        Files.writeString(hardware.resolve("lifespan"), "10\n");

        assertThat(PortCounters.read(port))
                .isEqualTo(Map.of("port_xmit_data", 4711L, "port_rcv_data", -1L, "rcvd_pkts", 12L));
    }

    @Test
    void whatIsNotANumberIsLeftOut() throws Exception {
        Path counters = Files.createDirectory(port.resolve("counters"));
        Files.writeString(counters.resolve("VL15_dropped"), "N/A (no PMA)\n");
        Files.writeString(counters.resolve("empty"), "");
        Files.writeString(counters.resolve("long"), "1".repeat(10_000));
        Files.createDirectory(counters.resolve("folder"));
        Files.writeString(counters.resolve("symbol_error"), "0\n");

        assertThat(PortCounters.read(port)).isEqualTo(Map.of("symbol_error", 0L));
    }

    @Test
    void aDeviceWithoutCountersHasNone() {
        assertThat(PortCounters.read(port)).isEmpty();
        assertThat(PortCounters.read("no_such_device", 1)).isEmpty();
    }
}
