package io.rdmacomm.ibverbs.cm;

import io.rdmacomm.ibverbs.structs.Deadline;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.cm.ConnectFailedException;
import io.rdmacomm.verbs.cm.ConnectionEvent;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.spi.ConnectionDriver;
import io.rdmacomm.verbs.spi.ConnectionFacts;
import io.rdmacomm.verbs.spi.ConnectionRequestDriver;
import java.util.function.LongToIntFunction;

/// The identifier of a request that arrived; it accepts (rdma_accept(3)) or rejects (rdma_reject(3)).
final class IbvConnectionRequest implements ConnectionRequestDriver {
    private static final String ACCEPT = "accept (rdma_accept)";

    private final DeviceConnections connections;
    private final ConnectionTransitions transitions;
    private final ConnectionIdentifier identifier;
    private final IdentifierEvent request;
    private final ConnectionFacts facts;

    IbvConnectionRequest(DeviceConnections connections, ConnectionIdentifier identifier, IdentifierEvent request) {
        this.connections = connections;
        this.transitions = connections.transitions();
        this.identifier = identifier;
        this.request = request;
        this.facts = new ConnectionFacts(
                identifier.localAddress(),
                identifier.remoteAddress(),
                request.privateData(),
                request.responderResources(),
                request.initiatorDepth());
        identifier.handOver(connections.channel(), this);
    }

    @Override
    public ConnectionFacts facts() {
        return facts;
    }

    @Override
    public void prepare(QueuePair queuePair) {
        transitions.initialize(identifier, queuePair);
    }

    @Override
    public ConnectionDriver accept(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos)
            throws InterruptedException {
        ConnectionDepths depths = ConnectionDepths.ofRequest(
                connections.responderResources(parameters.responderResources()),
                connections.initiatorDepth(parameters.initiatorDepth()),
                request);
        long deadline = Deadline.after(timeoutNanos);
        boolean success = false;
        try {
            parameters
                    .ackTimeout()
                    .ifPresent(timeout -> connections.optionSetter().set(identifier, timeout));
            if (!transitions.isIwarp()) {
                transitions.bringUp(identifier, queuePair, depths);
            }
            LongToIntFunction accept = id -> ParameterStruct.ofConnection(
                    parameters,
                    queuePair,
                    depths.responderResources(),
                    depths.initiatorDepth(),
                    pointer -> connections.library().accept(id, pointer));
            int errno = connections.ask(identifier, accept, deadline);
            if (errno > 0) {
                throw new ConnectFailedException(
                        ACCEPT,
                        Errno.of(errno),
                        facts.remote() + " has withdrawn its request, or closed the connection");
            }
            IdentifierEvent answer = errno < 0 ? null : identifier.await(deadline);
            if (answer == null || answer.type() != ConnectionEvent.ESTABLISHED) {
                throw IdentifierFailures.ofAccepting(
                        ACCEPT, answer, facts.remote().toString(), timeoutNanos);
            }
            if (transitions.isIwarp()) {
                transitions.bringUp(identifier, queuePair, depths);
            }
            IbvConnection connection = new IbvConnection(
                    connections,
                    identifier,
                    queuePair,
                    facts.withDepths(depths.responderResources(), depths.initiatorDepth()));
            identifier.handOver(this, connection, connection::occurred);
            success = true;
            return connection;
        } finally {
            if (!success) {
                transitions.fail(queuePair);
            }
        }
    }

    @Override
    public void reject(byte[] privateData) {
        connections.reject(identifier, privateData);
    }

    @Override
    public void closing() {
        identifier.wake(this);
    }

    @Override
    public void close() {
        identifier.destroy(this);
    }

    @Override
    public String toString() {
        return "connection request of " + facts.remote() + " on " + connections;
    }
}
