package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.cli.interop.InteropServer;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.cm.ConnectionManager;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

/// A server for clients of a C program, in its own thread, and a connection manager for its clients.
final class ConnectionPair implements AutoCloseable {
    private final Context serverContext = Rdma.open();
    private final Context clientContext = Rdma.open();
    private final ConnectionManager serverManager = ConnectionManager.open(serverContext);
    private final ConnectionManager clientManager = ConnectionManager.open(clientContext);
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final List<String> failures = new CopyOnWriteArrayList<>();
    private final InteropServer server;
    private final Thread thread;

    ConnectionPair(Function<ConnectionManager, InteropServer> listen) {
        server = listen.apply(serverManager);
        thread = Thread.ofPlatform().name("server").start(this::run);
    }

    private void run() {
        try {
            server.run(lines::add, failures::add);
        } catch (InterruptedException e) {
            failures.add(e.toString());
        }
    }

    int port() {
        return server.port();
    }

    ConnectionManager clients() {
        return clientManager;
    }

    /// The lines that the server has reported about clients that it served.
    List<String> lines() {
        return lines;
    }

    /// The lines that the server has reported about clients that failed.
    List<String> failures() {
        return failures;
    }

    /// Connects a client that misbehaves, and waits until the server has ended its connection and reported it.
    ///
    /// @param expected a part of the only line that the server reports
    void assertRejected(Consumer<RawClient> misbehavior, String expected) throws InterruptedException {
        try (RawClient hostile = new RawClient(clientManager, port())) {
            misbehavior.accept(hostile);
            hostile.awaitEnd();
        }
        assertOneFailure(expected);
    }

    /// Waits until the server has reported a failure: exactly one line, with these words.
    void assertOneFailure(String expected) {
        Deadline.await("a failure", () -> !failures.isEmpty());
        assertThat(failures).singleElement().asString().contains(expected).doesNotContain("\n");
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
            throw new AssertionError("the server does not stop");
        }
    }
}
