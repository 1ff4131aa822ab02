package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The software device on this machine, which need have no RDMA device, and the kernel's siw in the lab, as a
/// program that the user starts here would reach a server elsewhere: over TCP ports that QEMU forwards. Sessions
/// cannot be had so, as they are set up on one port and go over another, which their server chooses.
@EnabledIfEnvironmentVariable(
        named = "LAB",
        matches = "host",
        disabledReason = "it boots a lab of its own: lab/suite --devices host")
class HostToKernelTest {
    private static final String DEVICES = "rdmacomm.soft.devices";
    private static final String WAIT = " --timeout 60";
    private static final String SECONDS = "200";
    private static final Map<String, Integer> PORTS = new HashMap<>();

    private static HeardProcess guest;

    @BeforeAll
    static void boot() throws IOException {
        List<String> line = new ArrayList<>(List.of("lab/run", "--timeout", SECONDS));
        GuestServers.PORTS.forEach((command, port) -> {
            PORTS.put(command, freePort());
            line.addAll(List.of("--forward", PORTS.get(command) + ":" + port));
        });
        line.addAll(HeardProcess.java(GuestServers.class));
        line.add(SECONDS);
        guest = HeardProcess.start(line);
        guest.said(GuestServers.READY);
    }

    /// Every server in the guest has had its client, and says that it was served well.
    @AfterAll
    static void shutDown() throws IOException, InterruptedException {
        if (guest != null) {
            try (HeardProcess closing = guest;
                    Socket stop = new Socket(InetAddress.getLoopbackAddress(), PORTS.get(GuestServers.STOP))) {
                assertThat(stop.getInputStream().read()).isEqualTo(-1);
                Outcome outcome = closing.end();
                outcome.assertGood();
                assertThat(outcome.text()).contains("10 bytes were copied: \"textstring\"");
            }
        }
    }

    @AfterEach
    void forgetTheDevice() {
        System.clearProperty(DEVICES);
    }

    private static int freePort() {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void useDevice(boolean checksum) {
        System.setProperty(DEVICES, "soft0=127.0.0.1?sharedMemory=false&checksum=" + checksum);
    }

    private static String server(String command) {
        return " 127.0.0.1:" + PORTS.get(command);
    }

    @ParameterizedTest
    @CsvSource({"64, false", "64, true", "65535, false", "65535, true"})
    void theServerOfRpingIsPinged(int bytes, boolean checksum) {
        useDevice(checksum);
        Outcome client = NearCommand.run(
                "ping --interop rping -d soft0" + server("rping") + " --count 5 --size " + bytes + WAIT);
        client.assertGood();
        assertThat(client.text()).contains("5 pings, 5 right");
    }

    /// Our first frame arrives so soon behind siw's reply that siw overlooks it now and then.
    @Test
    void manyConnectionsOneAfterTheOther() {
        useDevice(true);
        for (int i = 0; i < 100; i++) {
            NearCommand.run("ping --interop rping -d soft0" + server("rping") + " --count 1 --size 64" + WAIT)
                    .assertGood();
        }
    }

    @Test
    void aStringIsCopiedThereAndBack() {
        useDevice(true);
        Outcome client = NearCommand.run("copy-string -d soft0" + server("copy-string") + " textstring" + WAIT);
        client.assertGood();
        assertThat(client.text()).contains("SUCCESS, source and destination buffers match");
    }
}
