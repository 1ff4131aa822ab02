package io.rdmacomm.ibverbs.cm;

import io.rdmacomm.ibverbs.structs.Deadline;
import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.cm.ConnectionEvent;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.spi.ConnectionDriver;
import io.rdmacomm.verbs.spi.ConnectionFacts;
import io.rdmacomm.verbs.spi.RouteDriver;
import java.net.InetSocketAddress;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongToIntFunction;

/// An identifier whose address and route are resolved; it connects (rdma_connect(3)).
final class IbvRoute implements RouteDriver {
    private static final String CONNECT = "connect (rdma_connect)";
    private final DeviceConnections connections;
    private final ConnectionTransitions transitions;
    private final InetSocketAddress remote;
    private final IdentifierOptions options;
    private final Object identifierLock = new Object();
    private volatile ConnectionIdentifier identifier;
    private volatile InetSocketAddress local;
    private volatile boolean closing;

    IbvRoute(
            DeviceConnections connections,
            ConnectionIdentifier identifier,
            InetSocketAddress destination,
            IdentifierOptions options) {
        this.connections = connections;
        this.transitions = connections.transitions();
        this.identifier = identifier;
        this.local = identifier.localAddress();
        this.remote = destination;
        this.options = options;
        identifier.handOver(connections, this);
    }

    @Override
    public InetSocketAddress localAddress() {
        return local;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return remote;
    }

    @Override
    public void prepare(QueuePair queuePair) {
        transitions.initialize(identifier, queuePair);
    }

    @Override
    public ConnectionDriver connect(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos)
            throws InterruptedException {
        int responder = connections.responderResources(parameters.responderResources());
        int initiator = connections.initiatorDepth(parameters.initiatorDepth());
        LongToIntFunction connect = id -> ParameterStruct.ofConnection(
                parameters,
                queuePair,
                responder,
                initiator,
                pointer -> connections.library().connect(id, pointer));
        boolean intact = false;
        try {
            parameters
                    .ackTimeout()
                    .ifPresent(timeout -> connections.optionSetter().set(identifier, timeout));
            long deadline = Deadline.after(timeoutNanos);
            int errno = connections.ask(identifier, connect, deadline);
            for (int tries = 1; isTaken(errno) && tries < ChosenPort.TRIES; tries++) {
                takeAnotherPort(deadline, timeoutNanos);
                errno = connections.ask(identifier, connect, deadline);
            }
            if (errno > 0) {
                intact = true;
                throw IdentifierFailures.ofConnecting(CONNECT, errno, remote.toString());
            }
            IdentifierEvent answer = errno < 0 ? null : identifier.await(deadline);
            if (answer == null || !isPositive(answer)) {
                // After a rejection the queue pair is unchanged; without an answer its state is unknown.
                intact = answer != null;
                throw IdentifierFailures.of(CONNECT, answer, remote.toString(), timeoutNanos);
            }
            pause(connections.connectPauseNanos());
            ConnectionDepths depths = ConnectionDepths.ofAnswer(responder, initiator, answer, transitions.isIwarp());
            ConnectionDriver connection = establish(queuePair, answer, depths);
            intact = true;
            return connection;
        } finally {
            if (!intact) {
                transitions.fail(queuePair);
            }
        }
    }

    /// Whether to try another port; never if the program has chosen one.
    private boolean isTaken(int errno) {
        InetSocketAddress wanted = options.localAddress();
        return transitions.isIwarp() && ChosenPort.isTaken(errno) && (wanted == null || wanted.getPort() == 0);
    }

    /// Replaces the identifier. The queue pair is unchanged: the kernel releases it when it cannot connect.
    private void takeAnotherPort(long deadline, long timeoutNanos) throws InterruptedException {
        ConnectionIdentifier taken = identifier;
        ConnectionIdentifier other = connections.channel().create(this, PortSpace.CONNECTIONS);
        synchronized (identifierLock) {
            if (!closing) {
                identifier = other;
                other = taken;
            }
        }
        other.destroy(this);
        if (closing) {
            throw new IllegalStateException(this + " is closed");
        }
        connections.resolve(identifier, remote, options, deadline, timeoutNanos);
        local = identifier.localAddress();
    }

    private static void pause(long nanos) throws InterruptedException {
        long end = Deadline.after(nanos);
        for (long left = nanos; left > 0; left = Deadline.left(end)) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            LockSupport.parkNanos(left);
        }
    }

    private static boolean isPositive(IdentifierEvent answer) {
        return answer.type() == ConnectionEvent.CONNECT_RESPONSE || answer.type() == ConnectionEvent.ESTABLISHED;
    }

    /// On InfiniBand and RoCE the peer waits for a message that this side is ready (rdma_establish(3)).
    private ConnectionDriver establish(QueuePair queuePair, IdentifierEvent answer, ConnectionDepths depths) {
        transitions.bringUp(identifier, queuePair, depths);
        if (answer.type() == ConnectionEvent.CONNECT_RESPONSE) {
            IbvFailure.check(
                    "connect (rdma_establish)", identifier.call(connections.library()::establish), remote.toString());
        }
        IbvConnection connection = new IbvConnection(
                connections,
                identifier,
                queuePair,
                new ConnectionFacts(
                        local, remote, answer.privateData(), depths.responderResources(), depths.initiatorDepth()));
        identifier.handOver(this, connection, connection::occurred);
        return connection;
    }

    @Override
    public void closing() {
        synchronized (identifierLock) {
            closing = true;
        }
        identifier.wake(this);
    }

    @Override
    public void close() {
        identifier.destroy(this);
    }

    @Override
    public String toString() {
        return "route to " + remote + " on " + connections;
    }
}
