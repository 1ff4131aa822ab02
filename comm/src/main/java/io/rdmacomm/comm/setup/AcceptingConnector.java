package io.rdmacomm.comm.setup;

import io.rdmacomm.comm.setup.SetupException.Reason;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.service.Closer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// The server's side of the setup by connection manager: takes the requests of one client from the shared
/// listener, and refuses those that are not for the next channel.
public final class AcceptingConnector implements QueuePairConnector, AutoCloseable {
    /// A client requests the next channel as soon as the previous one is connected, perhaps before this side
    /// has noticed.
    private static final int MOST_WAITING = 2;

    private final TicketListener listener;
    private final long token;
    private final Duration timeout;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Queue<ConnectionRequest> waiting = new ArrayDeque<>();
    private @Nullable SetupException end;
    private int channel;

    /// @param token the number that requests of the client carry
    /// @param timeout how long each step may take
    AcceptingConnector(TicketListener listener, long token, Duration timeout) {
        this.listener = listener;
        this.token = token;
        this.timeout = timeout;
    }

    long token() {
        return token;
    }

    /// The offer for the client.
    public SetupOffer offer() {
        return new SetupOffer(false, true, listener.port(), token);
    }

    /// Takes a request of the client. Does not block.
    ///
    /// @return whether it was taken; otherwise the caller refuses it
    boolean take(ConnectionRequest request) {
        lock.lock();
        try {
            boolean taken = end == null && waiting.size() < MOST_WAITING;
            if (taken) {
                waiting.add(request);
                changed.signal();
            }
            return taken;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Connection connect(QueuePair queuePair, QueuePairInfo peer, ConnectionOptions how, Runnable receives) {
        ConnectionTicket ticket = new ConnectionTicket(token, channel++);
        long deadline = System.nanoTime() + timeout.toNanos();
        try {
            while (true) {
                try (ConnectionRequest request = next(deadline)) {
                    if (ticket.isIn(request.privateData())) {
                        request.prepare(queuePair);
                        receives.run();
                        return request.accept(queuePair, ConnectionParameters.of(how), timeout);
                    }
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SetupException(
                    Reason.INTERRUPTED, "interrupted while waiting for a connection at " + listener, e);
        }
    }

    private ConnectionRequest next(long deadline) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (true) {
                ConnectionRequest request = waiting.poll();
                if (request != null) {
                    return request;
                }
                if (end != null) {
                    throw end;
                }
                long left = deadline - System.nanoTime();
                if (left <= 0) {
                    throw new SetupException(
                            Reason.DEADLINE_PASSED,
                            "the client did not connect to " + listener + " within " + timeout.toMillis()
                                    + " ms; does its device reach that address, and do firewalls and port forwards let"
                                    + " port " + listener.port() + " through?",
                            null);
                }
                var _ = changed.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    /// No more requests arrive: wakes the thread that waits for one.
    void end(SetupException why) {
        lock.lock();
        try {
            if (end == null) {
                end = why;
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /// The client sends first.
    @Override
    public boolean sendsFirst() {
        return false;
    }

    /// Refuses the pending requests.
    @Override
    public void close() {
        listener.forget(this);
        end(new SetupException(Reason.CLOSED, "all queue pairs are connected", null));
        List<ConnectionRequest> left;
        lock.lock();
        try {
            left = List.copyOf(waiting);
            waiting.clear();
        } finally {
            lock.unlock();
        }
        left.forEach(request -> Closer.step(request, request::close));
    }
}
