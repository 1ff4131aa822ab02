package io.rdmacomm.cli.doctor;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.OnFailure;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.cm.Listener;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// An end that waits for its peer at an address.
final class Acceptance implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private final ConnectionManager manager;
    private final Listener<ConnectionRequest> listener;
    private final FutureTask<Connection> accepted;

    private Acceptance(ConnectionManager manager, Listener<ConnectionRequest> listener, QueuePairEnd end) {
        this.manager = manager;
        this.listener = listener;
        this.accepted = new FutureTask<>(() -> accept(listener, end));
    }

    /// Starts to listen on a free port of `address`, which belongs to the device of `end`.
    static Acceptance begin(QueuePairEnd end, InetAddress address) {
        ConnectionManager manager = ConnectionManager.open(end.context());
        return OnFailure.run(manager::close, () -> {
            Listener<ConnectionRequest> listener = manager.listen(
                    new InetSocketAddress(address, 0),
                    1,
                    IdentifierOptions.of(end.how().path()));
            Acceptance acceptance = new Acceptance(manager, listener, end);
            Thread.ofPlatform().daemon().name("accept").start(acceptance.accepted);
            return acceptance;
        });
    }

    private static Connection accept(Listener<ConnectionRequest> listener, QueuePairEnd end)
            throws InterruptedException {
        try (ConnectionRequest request = listener.awaitRequest(TIMEOUT)) {
            if (request == null) {
                throw new CommandFailure("no peer connected to " + listener);
            }
            request.prepare(end.queuePair());
            end.postReceives();
            return request.accept(end.queuePair(), ConnectionParameters.of(end.how()), TIMEOUT);
        }
    }

    InetSocketAddress address() {
        return listener.localAddress();
    }

    /// Waits until the end has accepted its peer.
    void await() {
        try {
            accepted.get(2 * TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new CommandFailure(
                    "the other end did not accept: " + Verdict.of(e).text(), e);
        } catch (InterruptedException | TimeoutException e) {
            throw new CommandFailure("the other end did not accept in time", e);
        }
    }

    @Override
    public void close() {
        // Closes the connection, and the listener, which ends the wait of the thread.
        manager.close();
    }
}
