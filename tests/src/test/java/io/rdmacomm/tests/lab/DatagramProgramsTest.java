package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.fixture.EndDatagrams;
import io.rdmacomm.tests.fixture.LocalDatagrams;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.cm.DatagramRequest;
import io.rdmacomm.verbs.cm.Listener;
import io.rdmacomm.verbs.cm.MulticastMembership;
import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/// Datagrams to and from udaddy(1) and mckey(1), which find each other through the connection manager.
@EnabledIfEnvironmentVariable(named = "LAB", matches = "yes", disabledReason = "it needs rxe0: lab/suite lab")
class DatagramProgramsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(CProgram.PATIENCE_SECONDS);
    private static final InetAddress ADDRESS = InetAddress.ofLiteral("10.9.0.1");
    private static final InetAddress GROUP = InetAddress.ofLiteral("239.9.9.1");
    private static final String OPTIONS = " -b " + ADDRESS.getHostAddress() + UdaddyEnd.OPTIONS;

    private UdaddyEnd end;
    private LocalDatagrams datagrams;

    @BeforeEach
    void open() {
        end = new UdaddyEnd("rxe0");
        datagrams = end.datagrams();
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
        try (MulticastMembership membership = end.manager().joinMulticast(ADDRESS, GROUP, PATIENCE)) {
            datagrams.attach(membership.group());
            end.receiveAll();

            Process sender = CProgram.start("mckey -s -m " + GROUP.getHostAddress() + OPTIONS);

            end.assertSentAndReceived(0, UdaddyEnd.MESSAGES);
            CProgram.assertEndsWell(sender);
            datagrams.detach(membership.group());
        }
    }

    @Test
    void theReceiverOfMckeyHears() throws Exception {
        Process receiver = CProgram.start("mckey -m " + GROUP.getHostAddress() + OPTIONS);
        try (MulticastMembership membership = end.manager().joinMulticast(ADDRESS, GROUP, PATIENCE)) {
            // Datagrams are lost until it has joined: send until it has enough.
            while (!receiver.waitFor(1, TimeUnit.MILLISECONDS)) {
                datagrams.sendTo(
                        membership.target(), EndDatagrams.RECEIVES, new byte[UdaddyEnd.BYTES], datagrams.number());
                assertThat(datagrams.one().outcome().status()).isEqualTo(WorkStatus.SUCCESS);
            }
        }
        CProgram.assertEndsWell(receiver);
    }
}
