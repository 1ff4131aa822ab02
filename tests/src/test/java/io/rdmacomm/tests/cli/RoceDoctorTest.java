package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.rdmacomm.tests.cli.Command.Result;
import io.rdmacomm.tests.fixture.Fabric;
import io.rdmacomm.tests.fixture.LeftOut;
import java.io.IOException;
import java.net.BindException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// `rdmacomm doctor --device` on a software device with RoCE v2: its port, and whether a peer answers.
class RoceDoctorTest {
    private static final int PORT = 4791;
    private static final String HERE = Fabric.ownAddress(50);
    private static final String THERE = Fabric.ownAddress(51);
    private static final String BETWEEN = Fabric.ownAddress(52);

    private static DatagramSocket socket(String address) throws IOException {
        return new DatagramSocket(PORT, InetAddress.ofLiteral(address));
    }

    @BeforeEach
    void thePortIsFree() throws IOException {
        try (DatagramSocket free = socket(HERE)) {
            assertThat(free.isBound()).isTrue();
        } catch (BindException e) {
            throw LeftOut.because(getClass(), "UDP port 4791 is taken, most likely by rdma_rxe (rmmod rdma_rxe)");
        }
    }

    private static Command start(String address, String... arguments) throws IOException {
        return Command.start(new String[] {"-Drdmacomm.soft.devices=roce0=" + address + "?transport=roce"}, arguments);
    }

    private static Result doctor(String... arguments) throws Exception {
        String[] words = new String[arguments.length + 3];
        System.arraycopy(new String[] {"doctor", "--device", "roce0"}, 0, words, 0, 3);
        System.arraycopy(arguments, 0, words, 3, arguments.length);
        try (Command command = start(HERE, words)) {
            return command.end();
        }
    }

    private static List<Map<?, ?>> members(String json, String name) throws IOException {
        return ((List<?>) JSON.std.mapFrom(json).get(name))
                .stream().<Map<?, ?>>map(each -> (Map<?, ?>) each).toList();
    }

    @Test
    @Tag("slow")
    void aDeviceAlonePassesWithinOneProcess() throws Exception {
        Result result = doctor();

        assertThat(result.exitCode()).as(result.out() + result.err()).isZero();
        assertThat(result.out())
                .contains("this process has UDP port 4791 of " + HERE, "RoCE buffer", "packets of 4096 bytes")
                .contains("RoCE v2 on this host only")
                .doesNotContain("TCP port 0")
                .contains("14 ok, 0 FAILED, 0 not supported");
    }

    @Test
    @Tag("slow")
    void theProcessThatHasThePortIsNamed() throws Exception {
        try (DatagramSocket _ = socket(HERE)) {
            Result text = doctor();
            Result json = doctor("--json", "-");

            String owner = "process " + ProcessHandle.current().pid();
            assertThat(text.exitCode()).as(text.out()).isEqualTo(1);
            assertThat(text.out()).contains("FAIL  RoCE port", HERE + " by " + owner, "ip addr add");
            assertThat(json.exitCode()).isEqualTo(1);
            assertThat(JSON.std.mapFrom(json.out())).containsEntry("passed", false);
            assertThat(members(json.out(), "findings"))
                    .anySatisfy(finding -> assertThat(finding.toString()).contains("RoCE port", "FAIL", owner));
        }
    }

    @Test
    void doctorWithoutADeviceNamesItToo() throws Exception {
        try (DatagramSocket _ = socket(HERE);
                Command command = start(HERE, "doctor")) {
            Result result = command.end();

            assertThat(result.exitCode()).as(result.out()).isEqualTo(1);
            assertThat(result.out())
                    .contains("FAIL  device roce0", "FAIL  RoCE port", "No device works")
                    .contains("process " + ProcessHandle.current().pid());
        }
    }

    @Test
    void aPeerThatIsSilentFails() throws Exception {
        try (DatagramSocket _ = socket(THERE)) {
            Result result = doctor("--peer", THERE, "--json", "-");

            assertThat(result.exitCode()).as(result.out()).isEqualTo(1);
            List<Map<?, ?>> checks = members(result.out(), "checks");
            assertThat(checks).hasSize(1);
            assertThat(checks.getFirst().toString())
                    .contains("RoCE at " + THERE, "FAILED", THERE + " is silent", "UDP port 4791", "NAT", "rdma_ucm");
        }
    }

    @Test
    void aPeerWithoutRoceFails() throws Exception {
        Result result = doctor("--peer", THERE);

        assertThat(result.exitCode()).as(result.out()).isEqualTo(1);
        assertThat(result.out()).contains("UDP port 4791 of " + THERE + " is closed", "modprobe rdma_rxe");
    }

    /// A translation of addresses: packets arrive, and their checksums are those of other addresses.
    @Test
    @Tag("slow")
    void aPeerBehindATranslationIsSilent() throws Exception {
        try (Command peer = start(THERE, "doctor", "--serve", "--device", "roce0", "--port", "0", "--bind", THERE);
                DatagramSocket between = socket(BETWEEN)) {
            peer.port();
            Thread.ofPlatform().daemon().start(() -> forward(between, THERE));

            Result result = doctor("--peer", BETWEEN);

            assertThat(result.exitCode()).as(result.out()).isEqualTo(1);
            assertThat(result.out()).contains(BETWEEN + " is silent", "NAT");
        }
    }

    private static void forward(DatagramSocket between, String to) {
        DatagramPacket packet = new DatagramPacket(new byte[8192], 8192);
        try {
            while (true) {
                between.receive(packet);
                boolean back = packet.getAddress().getHostAddress().equals(to);
                packet.setAddress(InetAddress.ofLiteral(back ? HERE : to));
                packet.setPort(PORT);
                between.send(packet);
                packet.setLength(8192);
            }
        } catch (IOException e) {
            // Closed at the end of the test.
        }
    }

    @Test
    void aDeviceOnLoopbackReachesNoOtherHost() throws Exception {
        Result result = doctor("--peer", "192.0.2.77");

        assertThat(result.exitCode()).as(result.out()).isEqualTo(1);
        assertThat(result.out()).contains("reaches only this host", "roce0=ADDRESS?transport=roce");
    }

    @Test
    void aPeerAnswersWithoutAProgramForIt() throws Exception {
        try (Command peer = start(THERE, "doctor", "--serve", "--device", "roce0", "--port", "0", "--bind", THERE)) {
            peer.port();

            Result result = doctor("--peer", THERE + ":9");

            assertThat(result.exitCode()).as(result.out() + result.err()).isZero();
            assertThat(result.out())
                    .contains("RoCE at " + THERE, "packets arrive both ways", "need rdmacomm doctor --serve there")
                    .contains("1 ok, 0 FAILED, 1 not supported");
        }
    }

    @Tag("slow")
    @Test
    void aPeerWithAServerIsTestedCompletely() throws Exception {
        try (Command peer = start(THERE, "doctor", "--serve", "--device", "roce0", "--port", "0", "--bind", THERE)) {
            Result result = doctor("--peer", THERE + ":" + peer.port());

            assertThat(result.exitCode()).as(result.out() + result.err()).isZero();
            assertThat(result.out()).contains("15 ok, 0 FAILED, 0 not supported");
        }
    }
}
