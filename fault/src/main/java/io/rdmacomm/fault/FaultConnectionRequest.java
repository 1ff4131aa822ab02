package io.rdmacomm.fault;

import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import java.net.InetSocketAddress;
import java.time.Duration;

/// Stands for a connection request.
final class FaultConnectionRequest extends ConnectionRequest {
    private final FaultConnectionManager connections;
    private final FaultContext context;
    private final ConnectionRequest real;

    FaultConnectionRequest(FaultConnectionManager manager, FaultContext context, ConnectionRequest real) {
        super(manager);
        this.connections = manager;
        this.context = context;
        this.real = real;
    }

    @Override
    public InetSocketAddress localAddress() {
        return real.localAddress();
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return real.remoteAddress();
    }

    @Override
    public byte[] privateData() {
        return real.privateData();
    }

    @Override
    public int responderResources() {
        return real.responderResources();
    }

    @Override
    public int initiatorDepth() {
        return real.initiatorDepth();
    }

    @Override
    protected void doPrepare(QueuePair queuePair) {
        FaultQueuePair prepared = (FaultQueuePair) queuePair;
        real.prepare(prepared.real());
        prepared.follow();
    }

    @Override
    protected Connection doAccept(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos)
            throws InterruptedException {
        context.before(Operation.CONNECT);
        FaultQueuePair connected = (FaultQueuePair) queuePair;
        try {
            Connection made = real.accept(connected.real(), parameters, Duration.ofNanos(timeoutNanos));
            return new FaultConnection(connections, connected, made);
        } finally {
            connected.follow();
        }
    }

    @Override
    protected void doReject(byte[] privateData) {
        if (real.isOpen()) {
            real.reject(privateData);
        }
    }

    @Override
    protected void doRelease() {
        real.close();
    }
}
