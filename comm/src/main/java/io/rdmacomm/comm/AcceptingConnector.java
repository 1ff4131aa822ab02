package io.rdmacomm.comm;

import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.Listener;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;

/// The server's side of the set-up by connection manager: a listener for the queue pairs of one end point, on a
/// port of its own, which is closed when they are connected. Requests without the right token are refused.
final class AcceptingConnector implements QueuePairConnector, AutoCloseable {
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Listener listener;
    private final long token = RANDOM.nextLong();
    private final Duration patience;
    private int channel;

    /// Listens on any free port.
    ///
    /// @param local the address at which the client has reached this host
    /// @param patience how long each step may take
    AcceptingConnector(ConnectionManager manager, InetAddress local, Duration patience) {
        this.listener = manager.listen(new InetSocketAddress(local, 0), 0);
        this.patience = patience;
    }

    /// What the client has to know.
    SetUpOffer offer() {
        return new SetUpOffer(false, true, listener.localAddress().getPort(), token);
    }

    @Override
    public Connection connect(QueuePair queuePair, QueuePairInfo peer, ConnectionOptions how, Runnable receives) {
        ConnectionTicket ticket = new ConnectionTicket(token, channel++);
        long deadline = System.nanoTime() + patience.toNanos();
        try {
            while (true) {
                try (ConnectionRequest request = next(deadline)) {
                    if (ticket.isIn(request.privateData())) {
                        request.prepare(queuePair);
                        receives.run();
                        return request.accept(queuePair, ConnectionTicket.parametersWithoutTicket(how), patience);
                    }
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommInterruptedException("interrupted while waiting for a connection at " + listener, e);
        }
    }

    private ConnectionRequest next(long deadline) throws InterruptedException {
        long left = Math.max(0, deadline - System.nanoTime());
        ConnectionRequest request = listener.awaitRequest(Duration.ofNanos(left));
        if (request == null) {
            throw new DeadlineException(
                    "the client did not connect to " + listener + " within " + patience.toMillis()
                            + " ms; does its device reach that address?",
                    null);
        }
        return request;
    }

    /// The client is the one.
    @Override
    public boolean speaksFirst() {
        return false;
    }

    @Override
    public void close() {
        listener.close();
    }
}
