package io.rdmacomm.tests.comm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.Deadlines;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.RdmaException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;

/// A server and a client in this process, connected.
final class ConnectedPair implements AutoCloseable {
    static final Duration TIMEOUT = Duration.ofMillis(Long.getLong("rdma.test.timeout", 20_000));

    final ServerSession server;
    final ClientSession client;
    final EndPoint serverEnd;
    final EndPoint clientEnd;

    ConnectedPair(SessionOptions serverOptions, SessionOptions clientOptions) {
        server = ServerSession.listen(serverOptions.withAddress("127.0.0.1", 0));
        try {
            client = ClientSession.connect(clientOptions.withAddress("127.0.0.1", server.port()));
            serverEnd = server.accept(TIMEOUT);
            clientEnd = client.endPoint();
        } catch (RuntimeException e) {
            server.close();
            throw e;
        }
    }

    /// A pair with these options on both sides.
    static ConnectedPair of(SessionOptions options) {
        return new ConnectedPair(options, options);
    }

    static ConnectedPair ofDefaults() {
        return of(SessionOptions.defaults());
    }

    /// Options with one deadline of 300 ms, which the test exceeds on purpose; the others are long enough on a
    /// busy machine.
    static SessionOptions impatient(BiFunction<Deadlines, Duration, Deadlines> deadline) {
        return SessionOptions.defaults().withDeadlines(deadline.apply(Deadlines.defaults(), Duration.ofMillis(300)));
    }

    RdmaChannel serverChannel() {
        return serverEnd.channel(0);
    }

    RdmaChannel clientChannel() {
        return clientEnd.channel(0);
    }

    /// A buffer of the server that the client knows and has every right to, unless it was made with rights.
    RemoteBuffer target(RdmaBuffer buffer) {
        if (buffer.access().contains(AccessFlag.REMOTE_READ)) {
            serverEnd.announce(buffer);
        } else {
            serverEnd.announce(buffer, AccessFlag.allRemote());
        }
        return clientEnd.peerBuffer(buffer.name(), TIMEOUT);
    }

    /// Has the server fail the endpoint, and waits until the client, which reconnects, has a good one again.
    void reconnect() {
        serverEnd.abort(1, new RdmaException("a test", null));
        serverEnd.close();

        eventually(() -> client.endPoint() != clientEnd);
        assertThat(client.awaitEndPoint(TIMEOUT).failure()).isNull();
        server.accept(TIMEOUT).close();
    }

    /// Waits until `condition` holds, and polls both sides.
    void until(BooleanSupplier condition) {
        eventually(() -> {
            server.poll();
            client.poll();
            return condition.getAsBoolean();
        });
    }

    /// Waits until `condition` holds.
    static void eventually(BooleanSupplier condition) {
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("it did not happen within " + TIMEOUT);
            }
            LockSupport.parkNanos(10_000);
        }
    }

    @Override
    public void close() {
        try (server) {
            client.close();
        }
    }
}
