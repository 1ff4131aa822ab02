package io.rdmacomm.tests.lab;

import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.verbs.cm.DatagramRequest;
import io.rdmacomm.verbs.cm.Listener;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/// Datagrams to and from udaddy(1) and mckey(1), which find each other through the connection manager.
@EnabledIfEnvironmentVariable(named = "LAB", matches = "yes", disabledReason = "it needs rxe0: lab/suite lab")
class DatagramProgramsTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(CProgram.TIMEOUT_SECONDS);
    private static final InetAddress ADDRESS = InetAddress.ofLiteral("10.9.0.1");
    private static final InetAddress GROUP = InetAddress.ofLiteral("239.9.9.1");
    private static final String OPTIONS = " -b " + ADDRESS.getHostAddress() + UdaddyEnd.OPTIONS;

    private UdaddyEnd end;

    @BeforeEach
    void open() {
        end = new UdaddyEnd("rxe0");
    }

    @AfterEach
    void close() {
        end.close();
    }

    @Test
    void theServerOfUdaddyAnswers() throws Exception {
        Process server = CProgram.serve("udaddy -c 1" + OPTIONS, "rdma resource show cm_id | grep LISTEN");

        end.ask(ADDRESS);

        CProgram.assertEndsWell(server);
    }

    @Test
    void theClientOfUdaddyIsAnswered() throws Exception {
        Listener<DatagramRequest> listener = end.listen(ADDRESS);
        Process client = CProgram.start("udaddy -c 1 -s " + ADDRESS.getHostAddress() + OPTIONS);

        end.answer(listener);

        CProgram.assertEndsWell(client);
    }

    @Test
    void theSenderOfMckeyIsHeard() throws Exception {
        List<Process> sender = new ArrayList<>();
        end.hear(ADDRESS, GROUP, () -> sender.add(CProgram.start("mckey -s -m " + GROUP.getHostAddress() + OPTIONS)));
        CProgram.assertEndsWell(sender.getFirst());
    }

    @Test
    void theReceiverOfMckeyHears() throws Exception {
        Process receiver = CProgram.start("mckey -m " + GROUP.getHostAddress() + OPTIONS);
        Deadline deadline = Deadline.in(TIMEOUT.toMillis());
        end.tell(ADDRESS, GROUP, () -> !receiver.isAlive() || !deadline.waiting());
        CProgram.assertEndsWell(receiver);
    }
}
