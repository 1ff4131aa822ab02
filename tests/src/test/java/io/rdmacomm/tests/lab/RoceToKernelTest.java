package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.cli.RdmaCommand;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The software device with RoCE v2 packets on one host and the kernel's rxe on another: `roce0` in the network
/// namespace `far`, `rxe0` here, and a cable between them.
@EnabledIfEnvironmentVariable(named = "LAB", matches = "yes", disabledReason = "it needs rxe0: lab/suite lab")
class RoceToKernelTest {
    private static final String KERNEL = "10.9.0.1";
    private static final String DEVICES = "roce0=10.9.0.2?transport=roce";
    private static final String LISTENS = "ss -ltn | grep :18515";
    private static final String ADDRESS = "10.9.0.2";
    private static final String GROUP = "239.9.9.2";
    private static final String PROGRAM_LISTENS = "rdma resource show cm_id | grep LISTEN";
    private static final int COUNT = 50;

    private static HeardProcess far(String words) throws IOException {
        return FarProcess.start(DEVICES, RdmaCommand.class, words.split(" ", -1));
    }

    /// Our command with the options of `ibv_rc_pingpong` (rc) or `ibv_uc_pingpong` (uc), which checks each message.
    private static String ping(String type) {
        return "ping --interop " + type + "_pingpong -d roce0 --check --timeout 60 --count " + COUNT;
    }

    private static String kernel(String type) {
        return "ibv_" + type + "_pingpong -d rxe0 -g 1 -c -n " + COUNT;
    }

    @ParameterizedTest
    @CsvSource({
        "rc, 4096, 1024",
        "rc, 1, 256",
        "rc, 65537, 1024",
        "rc, 100000, 512",
        "uc, 4096, 1024",
        "uc, 1, 256",
        "uc, 65537, 1024"
    })
    void theClientTalksToTheServerOfTheCProgram(String type, int bytes, int mtu) throws Exception {
        Process server = CProgram.serve(kernel(type) + " -s " + bytes + " -m " + mtu, LISTENS);

        try (HeardProcess client = far(ping(type) + " " + KERNEL + " --size " + bytes + " --mtu " + mtu)) {
            Outcome outcome = client.end();
            outcome.assertGood();
            assertThat(outcome.text())
                    .contains(2L * bytes * COUNT + " bytes in ", COUNT + " iters in ", "GID ::ffff:10.9.0.2");
        }
        CProgram.assertEndsWell(server);
    }

    @ParameterizedTest
    @CsvSource({"rc, 4096", "uc, 4096", "uc, 50001", "ud, 1000"})
    void theServerTalksToTheClientOfTheCProgram(String type, int bytes) throws Exception {
        try (HeardProcess server =
                far(ping(type) + " --server --once --size " + bytes).listening()) {
            CProgram.assertEndsWell(CProgram.start(kernel(type) + " -s " + bytes + " 10.9.0.2"));

            server.end().assertGood();
        }
    }

    @Test
    void theClientTalksToTheServerOfIbvUdPingpong() throws Exception {
        Process server = CProgram.serve(kernel("ud") + " -s 1000", LISTENS);

        try (HeardProcess client = far(ping("ud") + " " + KERNEL + " --size 1000")) {
            client.end().assertGood();
        }
        CProgram.assertEndsWell(server);
    }

    // ---- By address ----

    @ParameterizedTest
    @ValueSource(ints = {64, 10_000, 65_535})
    void theClientTalksToTheServerOfRping(int bytes) throws Exception {
        Process server = CProgram.serve("rping -s -a " + KERNEL + " -S " + bytes + " -C 5 -V", PROGRAM_LISTENS);

        try (HeardProcess client =
                far("ping --interop rping -d roce0 --timeout 60 --count 5 " + KERNEL + " --size " + bytes)) {
            Outcome outcome = client.end();
            outcome.assertGood();
            assertThat(outcome.text()).contains("5 pings, all correct");
        }
        CProgram.assertEndsWell(server);
    }

    @Test
    void theServerTalksToTheClientsOfRping() throws Exception {
        try (HeardProcess server = far("ping --interop rping -d roce0 --timeout 60 --bind " + ADDRESS + " --server")
                .listening()) {
            for (int bytes : new int[] {64, 65_535}) {
                CProgram.assertEndsWell(CProgram.start("rping -c -a " + ADDRESS + " -S " + bytes + " -C 5 -V"));
            }
            server.interrupt();

            assertThat(server.end().text()).doesNotContain("rdmacomm ping:").contains(": 5 pings served");
        }
    }

    @ParameterizedTest
    @CsvSource({"UCMATOSE_CLIENT, ucmatose -b " + KERNEL, "RDMA_CLIENT, rdma_server -s " + KERNEL})
    void theExamplesOfLibrdmacmServe(String role, String command) throws Exception {
        Process server = CProgram.serve(command, PROGRAM_LISTENS);

        try (HeardProcess client = FarProcess.start(DEVICES, ManagedExchange.class, "roce0", role, KERNEL)) {
            assertThat(client.end().text()).contains("all exchanged");
        }
        CProgram.assertEndsWell(server);
    }

    @ParameterizedTest
    @CsvSource({"UCMATOSE_SERVER, ucmatose -b " + KERNEL + " -s " + ADDRESS, "RDMA_SERVER, rdma_client -s " + ADDRESS})
    void theExamplesOfLibrdmacmAreServed(String role, String command) throws Exception {
        try (HeardProcess server = FarProcess.start(DEVICES, ManagedExchange.class, "roce0", role, ADDRESS)
                .listening()) {
            CProgram.assertEndsWell(CProgram.start(command));

            assertThat(server.end().text()).contains("all exchanged");
        }
    }

    @Test
    void theServerOfUdaddyAnswers() throws Exception {
        Process server = CProgram.serve("udaddy -c 1 -b " + KERNEL + UdaddyEnd.OPTIONS, PROGRAM_LISTENS);

        try (HeardProcess client = FarProcess.start(DEVICES, UdaddyEnd.class, "roce0", "client", KERNEL)) {
            assertThat(client.end().text()).contains("all exchanged");
        }
        CProgram.assertEndsWell(server);
    }

    @Test
    void theClientOfUdaddyIsAnswered() throws Exception {
        try (HeardProcess server = FarProcess.start(DEVICES, UdaddyEnd.class, "roce0", "server", ADDRESS)
                .listening()) {
            CProgram.assertEndsWell(CProgram.start("udaddy -c 1 -b " + KERNEL + " -s " + ADDRESS + UdaddyEnd.OPTIONS));

            assertThat(server.end().text()).contains("all exchanged");
        }
    }

    // ---- Multicast ----

    private static String mckey(String role) {
        return "mckey " + role + "-m " + GROUP + " -b " + KERNEL + UdaddyEnd.OPTIONS;
    }

    @Test
    void theSenderOfMckeyIsHeard() throws Exception {
        try (HeardProcess member = FarProcess.start(DEVICES, UdaddyEnd.class, "roce0", "member", ADDRESS, GROUP)
                .listening()) {
            CProgram.assertEndsWell(CProgram.start(mckey("-s ")));

            assertThat(member.end().text()).contains("all exchanged");
        }
    }

    @Test
    void theReceiverOfMckeyHears() throws Exception {
        Process receiver = CProgram.start(mckey(""));
        try (HeardProcess sender = FarProcess.start(DEVICES, UdaddyEnd.class, "roce0", "sender", ADDRESS, GROUP)) {
            CProgram.assertEndsWell(receiver);

            assertThat(sender.text()).doesNotContain("Exception");
        }
    }

    @Test
    void nobodyListensAtThePortOfTheKernel() throws Exception {
        try (HeardProcess client = far("ping --interop rping -d roce0 --timeout 60 " + KERNEL + " --port 7999")) {
            assertThat(client.end().text()).contains("no program listens there");
        }
    }

    // ---- doctor ----

    /// The connection manager of the kernel answers although no program runs there.
    @Test
    void doctorFindsTheKernel() throws Exception {
        try (HeardProcess doctor = far("doctor --device roce0 --peer " + KERNEL)) {
            Outcome outcome = doctor.end();
            outcome.assertGood();
            assertThat(outcome.text())
                    .contains("this process has UDP port 4791 of " + ADDRESS, "RoCE MTU")
                    .contains("RoCE at " + KERNEL, "packets arrive both ways");
        }
    }

    @Test
    void doctorNoticesASilentNetwork() throws Exception {
        CProgram.assertEndsWell(CProgram.start("tc qdisc add dev v0 root netem loss 100%"));
        try (HeardProcess doctor = far("doctor --device roce0 --peer " + KERNEL)) {
            Outcome outcome = doctor.end();

            assertThat(outcome.exitCode()).as(outcome.text()).isEqualTo(1);
            assertThat(outcome.text())
                    .containsAnyOf(KERNEL + " is silent", "there is no way to " + KERNEL)
                    .contains("0 ok, 1 FAILED");
        } finally {
            CProgram.assertEndsWell(CProgram.start("tc qdisc del dev v0 root"));
        }
    }

    /// On this host rxe has the port at all addresses.
    @Test
    void doctorNamesTheKernelAsTheOwnerOfThePort() throws Exception {
        List<String> line = new ArrayList<>(
                HeardProcess.java(RdmaCommand.class, "-Drdmacomm.soft.devices=roce0=" + KERNEL + "?transport=roce"));
        line.addAll(List.of("doctor", "--device", "roce0"));
        try (HeardProcess doctor = HeardProcess.start(line)) {
            Outcome outcome = doctor.end();

            assertThat(outcome.exitCode()).as(outcome.text()).isEqualTo(1);
            assertThat(outcome.text()).contains("the kernel's rdma_rxe has UDP port 4791", "rmmod rdma_rxe");
        }
    }
}
