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
    private final ConnectionRequest real;

    FaultConnectionRequest(FaultConnectionManager manager, ConnectionRequest real) {
        super(manager);
        this.connections = manager;
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
        connections.prepare(queuePair, real::prepare);
    }

    @Override
    protected Connection doAccept(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos)
            throws InterruptedException {
        Duration timeout = Duration.ofNanos(timeoutNanos);
        return connections.connect(queuePair, pair -> real.accept(pair, parameters, timeout));
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
