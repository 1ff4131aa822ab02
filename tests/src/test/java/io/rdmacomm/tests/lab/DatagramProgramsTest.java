package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.fixture.Datagram;
import io.rdmacomm.tests.fixture.EndDatagrams;
import io.rdmacomm.tests.fixture.LocalDatagrams;
import io.rdmacomm.tests.fixture.LocalEnd;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.DatagramRequest;
import io.rdmacomm.verbs.cm.DatagramService;
import io.rdmacomm.verbs.cm.DatagramTarget;
import io.rdmacomm.verbs.cm.Listener;
import io.rdmacomm.verbs.cm.MulticastMembership;
import java.net.InetAddress;
import java.net.InetSocketAddress;
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
    private static final int UDADDY_PORT = 7174;
    private static final int MESSAGES = 10;
    private static final int BYTES = 100;

    private LocalEnd end;
    private ConnectionManager manager;
    private LocalDatagrams datagrams;

    @BeforeEach
    void open() {
        end = LocalEnd.open("rxe0");
        manager = ConnectionManager.open(end.context());
        datagrams = end.datagrams(DatagramTarget.QUEUE_KEY);
    }

    @AfterEach
    void close() {
        datagrams.close();
        end.close();
    }

    private static String options() {
        return " -b " + ADDRESS.getHostAddress() + " -C " + MESSAGES + " -S " + BYTES;
    }

    private void receiveAll() {
        for (int id = 0; id < MESSAGES; id++) {
            datagrams.receive(id);
        }
    }

    /// Sends all messages to the program, with the number of this queue pair as immediate data, which it answers to.
    private void sendAll(DatagramTarget target) {
        for (int id = 0; id < MESSAGES; id++) {
            assertThat(datagrams.sendTo(target, EndDatagrams.RECEIVES + id, new byte[BYTES], datagrams.number()))
                    .isEqualTo(1);
        }
    }

    private void assertSentAndReceived(int sent, int received) {
        int sends = 0;
        int receives = 0;
        while (sends < sent || receives < received) {
            Datagram datagram = datagrams.one();
            assertThat(datagram.outcome().status()).isEqualTo(WorkStatus.SUCCESS);
            if (datagram.outcome().id() >= EndDatagrams.RECEIVES) {
                sends++;
            } else {
                assertThat(datagram.payload()).hasSize(BYTES);
                receives++;
            }
        }
        assertThat(sends).isEqualTo(sent);
        assertThat(receives).isEqualTo(received);
    }

    @Test
    void theServerOfUdaddyAnswers() throws Exception {
        Process server = CProgram.serve("udaddy -c 1" + options(), "rdma resource show cm_id | grep LISTEN");
        receiveAll();

        DatagramService service = manager.lookUp(new InetSocketAddress(ADDRESS, UDADDY_PORT), new byte[0], PATIENCE);
        sendAll(service.target());

        assertSentAndReceived(MESSAGES, MESSAGES);
        CProgram.assertEndsWell(server);
    }

    @Test
    void theClientOfUdaddyIsAnswered() throws Exception {
        try (Listener<DatagramRequest> listener =
                manager.listenForDatagrams(new InetSocketAddress(ADDRESS, UDADDY_PORT))) {
            receiveAll();
            Process client = CProgram.start("udaddy -c 1 -s " + ADDRESS.getHostAddress() + options());
            try (DatagramRequest request = listener.awaitRequest(PATIENCE)) {
                assertThat(request).isNotNull();
                request.accept(datagrams.queuePair(), new byte[0]);
            }
            assertSentAndReceived(0, MESSAGES);
            for (int id = 0; id < MESSAGES; id++) {
                datagrams.answer(id, DatagramTarget.QUEUE_KEY, EndDatagrams.RECEIVES + id, new byte[BYTES]);
            }
            assertSentAndReceived(MESSAGES, 0);
            CProgram.assertEndsWell(client);
        }
    }

    @Test
    void theSenderOfMckeyIsHeard() throws Exception {
        try (MulticastMembership membership = manager.joinMulticast(ADDRESS, GROUP, PATIENCE)) {
            datagrams.attach(membership.group());
            receiveAll();

            Process sender = CProgram.start("mckey -s -m " + GROUP.getHostAddress() + options());

            assertSentAndReceived(0, MESSAGES);
            CProgram.assertEndsWell(sender);
            datagrams.detach(membership.group());
        }
    }

    @Test
    void theReceiverOfMckeyHears() throws Exception {
        Process receiver = CProgram.start("mckey -m " + GROUP.getHostAddress() + options());
        try (MulticastMembership membership = manager.joinMulticast(ADDRESS, GROUP, PATIENCE)) {
            // Datagrams are lost until it has joined: send until it has enough.
            while (!receiver.waitFor(1, TimeUnit.MILLISECONDS)) {
                datagrams.sendTo(membership.target(), EndDatagrams.RECEIVES, new byte[BYTES], datagrams.number());
                assertThat(datagrams.one().outcome().status()).isEqualTo(WorkStatus.SUCCESS);
            }
        }
        CProgram.assertEndsWell(receiver);
    }
}
