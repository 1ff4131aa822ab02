package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.EndPointState;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.SharedReceives;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.statistics.SharedReceiveStatistics;
import io.rdmacomm.tests.fixture.Fabric;
import java.util.ArrayList;
import java.util.List;

/// A server whose clients share its receives, and its clients, in this process.
final class SharedPool implements AutoCloseable {
    static final int BYTES = 256;

    final ServerSession server;
    private final SessionOptions options;
    private final List<ClientSession> clients = new ArrayList<>();

    SharedPool(Fabric fabric, SharedReceives shared) {
        this(plain(fabric), shared);
    }

    /// @param plain the options of both sides
    SharedPool(SessionOptions plain, SharedReceives shared) {
        this.server = ServerSession.listen(plain.withSharedReceives(shared));
        this.options = plain.withPort(server.port());
    }

    /// Options on the device of a fabric, for which the server has one thread and clients have none.
    static SessionOptions plain(Fabric fabric) {
        String address = fabric.address();
        return SessionOptions.defaults()
                .withDevice(fabric.device())
                .withAddress(address == null ? "127.0.0.1" : address, 0)
                .withThreadMode(ThreadMode.SHARED_CQ)
                .withChannel(ChannelOptions.defaults().withReceives(32).withMessageBytes(BYTES));
    }

    /// A client and the server's end of its connection.
    record Client(ClientSession session, EndPoint here) {
        EndPoint there() {
            return session.endPoint();
        }
    }

    /// One more client, with options of its own.
    Client connect(SessionOptions changed) {
        ClientSession session = ClientSession.connect(changed);
        clients.add(session);
        return new Client(session, server.accept(TIMEOUT));
    }

    /// One more client, after others whose endpoints nobody has accepted.
    Client connectAfter(SessionOptions changed) {
        ClientSession session = ClientSession.connect(changed);
        clients.add(session);
        EndPoint here = server.accept(TIMEOUT);
        while (here.state() != EndPointState.READY) {
            here = server.accept(TIMEOUT);
        }
        return new Client(session, here);
    }

    Client connect() {
        return connect(options);
    }

    SessionOptions options() {
        return options;
    }

    SharedReceiveStatistics statistics() {
        SharedReceiveStatistics now = server.sharedReceives();
        assertThat(now).isNotNull();
        return now;
    }

    /// Waits until nothing is lent, kept, or lost any more.
    void awaitAllBack() {
        ConnectedPair.eventually(() -> {
            server.poll();
            SharedReceiveStatistics now = statistics();
            return now.channels() == 0 && now.kept() == 0 && now.lent() == 0;
        });
    }

    @Override
    public void close() {
        try (server) {
            clients.forEach(ClientSession::close);
        }
    }
}
