package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.fixture.Datagram;
import io.rdmacomm.tests.fixture.Deadline;
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
import java.util.function.BooleanSupplier;

/// The other end of udaddy(1) and mckey(1), with as many messages as they are told with [#OPTIONS]. Its `main` has
/// three words: the device, `client` or `server`, and an address; or the device, `member` or `sender`, the address of
/// the device, and a group.
final class UdaddyEnd implements AutoCloseable {
    static final int MESSAGES = 10;
    static final int BYTES = 100;
    static final String OPTIONS = " -C " + MESSAGES + " -S " + BYTES;

    private static final Duration TIMEOUT = Duration.ofSeconds(CProgram.TIMEOUT_SECONDS);
    private static final int PORT = 7174;

    private final LocalEnd end;
    private final ConnectionManager manager;
    private final LocalDatagrams datagrams;

    UdaddyEnd(String device) {
        end = LocalEnd.open(device);
        manager = ConnectionManager.open(end.context());
        datagrams = end.datagrams(DatagramTarget.QUEUE_KEY);
    }

    public static void main(String[] words) throws InterruptedException {
        InetAddress address = InetAddress.ofLiteral(words[2]);
        try (UdaddyEnd program = new UdaddyEnd(words[0])) {
            switch (words[1]) {
                case "client" -> program.ask(address);
                case "server" -> program.answer(program.listen(address));
                case "member" ->
                    program.hear(
                            address,
                            InetAddress.ofLiteral(words[3]),
                            () -> System.out.println("listening on port 4791 of the group"));
                case "sender" -> {
                    Deadline deadline = Deadline.in(TIMEOUT.toMillis());
                    program.tell(address, InetAddress.ofLiteral(words[3]), () -> !deadline.waiting());
                }
                default -> throw new IllegalArgumentException(words[1]);
            }
            System.out.println("all exchanged");
        }
    }

    ConnectionManager manager() {
        return manager;
    }

    LocalDatagrams datagrams() {
        return datagrams;
    }

    /// Sends to the server, which answers.
    void ask(InetAddress server) throws InterruptedException {
        receiveAll();
        DatagramService service = manager.lookUp(new InetSocketAddress(server, PORT), new byte[0], TIMEOUT);
        sendAll(service.target());
        assertSentAndReceived(MESSAGES, MESSAGES);
    }

    /// Waits for a client.
    Listener<DatagramRequest> listen(InetAddress address) {
        receiveAll();
        Listener<DatagramRequest> listener = manager.listenForDatagrams(new InetSocketAddress(address, PORT));
        System.out.println("listening on port " + PORT);
        return listener;
    }

    /// Tells the client where to send, and answers its messages.
    void answer(Listener<DatagramRequest> listener) throws InterruptedException {
        try (listener;
                DatagramRequest request = listener.awaitRequest(TIMEOUT)) {
            assertThat(request).isNotNull();
            request.accept(datagrams.queuePair(), new byte[0]);
        }
        assertSentAndReceived(0, MESSAGES);
        for (int id = 0; id < MESSAGES; id++) {
            datagrams.answer(id, DatagramTarget.QUEUE_KEY, EndDatagrams.RECEIVES + id, new byte[BYTES]);
        }
        assertSentAndReceived(MESSAGES, 0);
    }

    /// Is a member of a group until all messages have come.
    ///
    /// @param ready called when it is one
    void hear(InetAddress local, InetAddress group, Runnable ready) {
        try (MulticastMembership membership = manager.joinMulticast(local, group, TIMEOUT)) {
            datagrams.attach(membership.group());
            receiveAll();
            ready.run();
            assertSentAndReceived(0, MESSAGES);
            datagrams.detach(membership.group());
        }
    }

    /// Sends to a group. Datagrams are lost until the program has joined it, so this continues until it has enough.
    void tell(InetAddress local, InetAddress group, BooleanSupplier enough) {
        try (MulticastMembership membership = manager.joinMulticast(local, group, TIMEOUT)) {
            while (!enough.getAsBoolean()) {
                datagrams.sendTo(membership.target(), EndDatagrams.RECEIVES, new byte[BYTES], datagrams.number());
                assertThat(datagrams.one().outcome().status()).isEqualTo(WorkStatus.SUCCESS);
            }
        }
    }

    void receiveAll() {
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

    void assertSentAndReceived(int sent, int received) {
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

    @Override
    public void close() {
        datagrams.close();
        end.close();
    }
}
