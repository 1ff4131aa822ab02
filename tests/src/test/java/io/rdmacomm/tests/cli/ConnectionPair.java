package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.cli.interop.ConnectionServer;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.cm.ConnectionManager;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/// A server of a protocol over connections, in a thread of its own, and a connection manager for its clients.
final class ConnectionPair implements AutoCloseable {
    private final Context serverContext = Rdma.open("");
    private final Context clientContext = Rdma.open("");
    private final ConnectionManager serverManager = ConnectionManager.open(serverContext);
    private final ConnectionManager clientManager = ConnectionManager.open(clientContext);
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final List<String> complaints = new CopyOnWriteArrayList<>();
    private final ConnectionServer server;
    private final Thread thread;

    ConnectionPair(Function<ConnectionManager, ConnectionServer> listen) {
        server = listen.apply(serverManager);
        thread = Thread.ofPlatform().name("server").start(this::run);
    }

    private void run() {
        try {
            server.run(lines::add, complaints::add);
        } catch (InterruptedException e) {
            complaints.add(e.toString());
        }
    }

    int port() {
        return server.port();
    }

    ConnectionManager clients() {
        return clientManager;
    }

    /// What the server has said about clients that it served.
    List<String> lines() {
        return lines;
    }

    /// What the server has said about clients that failed.
    List<String> complaints() {
        return complaints;
    }

    /// Waits until the server has said something about clients that failed: one line, with these words.
    void assertOneComplaint(String expected) {
        Deadline.await("a complaint", () -> !complaints.isEmpty());
        assertThat(complaints).singleElement().asString().contains(expected).doesNotContain("\n");
    }

    @Override
    public void close() {
        clientManager.close();
        clientContext.close();
        server.close();
        serverManager.close();
        boolean ended = Deadline.until(TimeUnit.SECONDS.toMillis(30), () -> !thread.isAlive());
        serverContext.close();
        if (!ended) {
            throw new AssertionError("the server does not end");
        }
    }
}
