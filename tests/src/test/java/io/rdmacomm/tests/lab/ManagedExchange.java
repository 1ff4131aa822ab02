package io.rdmacomm.tests.lab;

import io.rdmacomm.tests.fixture.LocalEnd;
import io.rdmacomm.tests.fixture.LocalMemory;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.Listener;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/// The other end of the examples of librdmacm that exchange messages over one connection: ucmatose(1), and
/// rdma_client(1)
/// and rdma_server(1), all at port 7471. Its `main` has three words: the device, what to be, and an address.
final class ManagedExchange {
    private static final Duration TIMEOUT = Duration.ofSeconds(CProgram.TIMEOUT_SECONDS);
    private static final int PORT = 7471;
    private static final long FIRST_SEND = 1000;

    /// What to be: how many messages of how many bytes, and who sends first.
    private enum Role {
        UCMATOSE_CLIENT(true, 10, 100),
        UCMATOSE_SERVER(false, 10, 100),
        RDMA_CLIENT(true, 1, 16),
        RDMA_SERVER(false, 1, 16);

        private final boolean connects;
        private final int messages;
        private final int bytes;

        Role(boolean connects, int messages, int bytes) {
            this.connects = connects;
            this.messages = messages;
            this.bytes = bytes;
        }

        /// The server of ucmatose sends first, the client of the other one.
        boolean sendsFirst() {
            return this == UCMATOSE_SERVER || this == RDMA_CLIENT;
        }

        /// The server of ucmatose disconnects, and the client of the other one.
        boolean disconnects() {
            return sendsFirst();
        }
    }

    private final Role role;
    private final LocalQueue queue;
    private final LocalMemory memory;
    private int sent;
    private int received;

    private ManagedExchange(Role role, LocalEnd end) {
        this.role = role;
        this.queue = end.queue(Spec.usual());
        this.memory = end.allocate(2L * role.bytes, AccessFlag.allRemote());
    }

    public static void main(String[] words) throws InterruptedException {
        InetAddress address = InetAddress.ofLiteral(words[2]);
        Role role = Role.valueOf(words[1]);
        try (LocalEnd end = LocalEnd.open(words[0]);
                ConnectionManager manager = ConnectionManager.open(end.context())) {
            new ManagedExchange(role, end).run(manager, new InetSocketAddress(address, PORT));
        }
    }

    private void run(ConnectionManager manager, InetSocketAddress address) throws InterruptedException {
        Connection connection = role.connects ? connect(manager, address) : accept(manager, address);
        if (role.sendsFirst()) {
            send();
            receive();
        } else {
            receive();
            send();
        }
        if (role.disconnects()) {
            connection.disconnect();
        } else if (!connection.awaitDisconnect(TIMEOUT)) {
            throw new AssertionError("the peer has not disconnected");
        }
        System.out.println("all exchanged: " + connection.disconnectReason());
    }

    private Connection connect(ConnectionManager manager, InetSocketAddress address) {
        try (var route = manager.resolve(address, TIMEOUT)) {
            route.prepare(queue.queuePair());
            postReceives();
            return route.connect(queue.queuePair(), ConnectionParameters.defaults(), TIMEOUT);
        }
    }

    private Connection accept(ConnectionManager manager, InetSocketAddress address) throws InterruptedException {
        try (Listener<ConnectionRequest> listener = manager.listen(address)) {
            System.out.println("listening on port " + PORT);
            try (ConnectionRequest request = listener.awaitRequest(TIMEOUT)) {
                request.prepare(queue.queuePair());
                postReceives();
                return request.accept(queue.queuePair(), ConnectionParameters.defaults(), TIMEOUT);
            }
        }
    }

    private void postReceives() {
        for (int id = 0; id < role.messages; id++) {
            queue.receive(id, memory.piece(0, role.bytes));
        }
    }

    private void send() {
        for (int id = 0; id < role.messages; id++) {
            queue.post(Work.send(FIRST_SEND + id, memory.piece(role.bytes, role.bytes)));
        }
        while (sent < role.messages) {
            one();
        }
    }

    private void receive() {
        while (received < role.messages) {
            one();
        }
    }

    private void one() {
        Outcome outcome = queue.one();
        if (outcome.status() != WorkStatus.SUCCESS) {
            throw new AssertionError(outcome);
        }
        if (outcome.id() >= FIRST_SEND) {
            sent++;
        } else {
            received++;
        }
    }
}
