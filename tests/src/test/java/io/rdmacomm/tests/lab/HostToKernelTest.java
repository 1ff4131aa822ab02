package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.Deadlines;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.tests.fixture.PortForward;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The software device on this machine as a client, and the kernel's siw in the lab as a server, connected over
/// TCP ports that QEMU forwards. This machine needs no RDMA device. Sessions need two ports; the server is
/// configured with the second. The guest cannot connect to this machine.
@EnabledIfEnvironmentVariable(
        named = "LAB",
        matches = "host",
        disabledReason = "it boots a lab of its own: lab/suite --devices host")
class HostToKernelTest {
    private static final String DEVICES = "rdmacomm.soft.devices";
    private static final String WAIT = " --timeout 60";
    private static final String SET_UP = " --set-up-timeout 60";
    private static final String SECONDS = "270";
    private static final Map<String, Integer> PORTS = new HashMap<>();

    private static HeardProcess guest;
    private static String sent = "nothing was sent";
    private static boolean talkedTwice;

    @BeforeAll
    static void boot() throws IOException {
        List<String> line = new ArrayList<>(List.of("lab/run", "--timeout", SECONDS));
        List<String> connectionPorts = new ArrayList<>();
        for (String _ : GuestServers.SESSIONS) {
            String port = Integer.toString(PortForward.freePort());
            connectionPorts.add(port);
            line.addAll(List.of("--forward", port + ":" + port));
        }
        GuestServers.PORTS.forEach((command, port) -> {
            PORTS.put(command, PortForward.freePort());
            line.addAll(List.of("--forward", PORTS.get(command) + ":" + port));
        });
        line.addAll(HeardProcess.java(GuestServers.class));
        line.add(SECONDS);
        line.addAll(connectionPorts);
        guest = HeardProcess.start(line);
        guest.said(GuestServers.READY);
    }

    /// Every server in the guest has served its clients without an error.
    @AfterAll
    static void shutDown() throws IOException, InterruptedException {
        if (guest != null) {
            try (HeardProcess closing = guest;
                    Socket stop = new Socket(InetAddress.getLoopbackAddress(), PORTS.get(GuestServers.STOP))) {
                assertThat(stop.getInputStream().read()).isEqualTo(-1);
                Outcome outcome = closing.end();
                outcome.assertGood();
                assertThat(outcome.text()).contains("10 bytes copied: \"textstring\"", "received " + sent);
                assertThat(talkedTwice ? SessionTalk.withoutLost(outcome.text()) : outcome.text())
                        .doesNotContain("failed");
                assertThat(outcome.text().split(": 20 pings answered", -1)).hasSize(GuestServers.PINGING + 1);
            }
        }
    }

    @AfterEach
    void forgetTheDevice() {
        System.clearProperty(DEVICES);
    }

    private static void useDevice(boolean checksum) {
        System.setProperty(DEVICES, "soft0=127.0.0.1?sharedMemory=false&checksum=" + checksum);
    }

    private static String server(String command) {
        return " 127.0.0.1:" + PORTS.get(command);
    }

    @ParameterizedTest
    @CsvSource({"64, false", "64, true", "65535, false", "65535, true"})
    void talksToTheRpingServer(int bytes, boolean checksum) throws Exception {
        useDevice(checksum);
        SiwChecksum.bear(() -> {
            Outcome client = NearCommand.run(
                    "ping --interop rping -d soft0" + server("rping") + " --count 5 --size " + bytes + WAIT);
            client.assertGood();
            assertThat(client.text()).contains("5 pings, all correct");
        });
    }

    /// Our first frame arrives so soon after siw's reply that siw sometimes overlooks it.
    @Test
    void opensManyConnectionsInSequence() {
        useDevice(true);
        for (int i = 0; i < 100; i++) {
            NearCommand.run("ping --interop rping -d soft0" + server("rping") + " --count 1 --size 64" + WAIT)
                    .assertGood();
        }
    }

    @Test
    void copiesAStringThereAndBack() {
        useDevice(true);
        Outcome client = NearCommand.run("copy-string -d soft0" + server("copy-string") + " textstring" + WAIT);
        client.assertGood();
        assertThat(client.text()).contains("SUCCESS, source and destination buffers match");
    }

    @Test
    void streamsToTheRstreamServer() {
        useDevice(true);
        Outcome client = NearCommand.run(
                "stream 127.0.0.1 -p " + PORTS.get("rstream") + " -d soft0 -W 60" + GuestServers.STREAM);
        client.assertGood();
        assertThat(client.text()).contains("from the server, correct");
    }

    private static Outcome ping() {
        return NearCommand.run(
                "ping -d soft0" + server("ping") + " --count 20 --size 20000 --interval 0" + WAIT + SET_UP);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void pingsTheServer(boolean checksum) {
        useDevice(checksum);
        Outcome client = ping();
        client.assertGood();
        assertThat(client.text()).contains("20 pings, all correct");
    }

    @Test
    void severalClientsPingConcurrently() throws Exception {
        useDevice(true);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Outcome>> clients = new ArrayList<>();
            for (int i = 2; i < GuestServers.PINGING; i++) {
                clients.add(threads.submit(HostToKernelTest::ping));
            }
            for (Future<Outcome> client : clients) {
                client.get().assertGood();
                assertThat(client.get().text()).contains("20 pings, all correct");
            }
        }
    }

    @Test
    void sendsFiles(@TempDir Path folder) throws IOException {
        useDevice(true);
        Random random = new Random(7);
        StringBuilder names = new StringBuilder();
        for (int length : new int[] {0, 1, 3_000_001}) {
            byte[] content = new byte[length];
            random.nextBytes(content);
            names.append(' ').append(Files.write(folder.resolve("file" + length), content));
        }
        sent = Contents.of(folder);

        Outcome client = NearCommand.run("send -d soft0" + names + server("recv") + SET_UP);

        client.assertGood();
    }

    /// Each test and size uses its own session, one after the other on the same port.
    @Test
    void benchTransfersCorrectData() {
        useDevice(false);
        Outcome client = NearCommand.run("bench -d soft0" + server("bench")
                + " --tests send_lat,write_lat,read_lat,send_bw,write_bw,read_bw --sizes 64,64k --iterations 50"
                + " --warmup 0 --no-floors" + SET_UP);
        client.assertGood();
        assertThat(client.text()).contains("send_lat", "read_bw");
    }

    @Test
    void bothSidesOfASessionSendAndWrite() throws Exception {
        useDevice(true);
        talkedTwice = SiwChecksum.bear(() -> SessionTalk.call(SessionOptions.defaults()
                .withDevice("soft0")
                .withDeadlines(Deadlines.defaults().withHandshake(Duration.ofSeconds(60)))
                .withAddress("127.0.0.1", PORTS.get("talk"))));
    }
}
