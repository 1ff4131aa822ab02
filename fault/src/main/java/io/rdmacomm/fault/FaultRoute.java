package io.rdmacomm.fault;

import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.Route;
import java.net.InetSocketAddress;
import java.time.Duration;

/// Stands for a route.
final class FaultRoute extends Route {
    private final FaultConnectionManager connections;
    private final FaultContext context;
    private final Route real;

    FaultRoute(FaultConnectionManager manager, FaultContext context, Route real) {
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
    protected void doPrepare(QueuePair queuePair) {
        FaultQueuePair prepared = (FaultQueuePair) queuePair;
        real.prepare(prepared.real());
        prepared.follow();
    }

    @Override
    protected Connection doConnect(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos)
            throws InterruptedException {
        context.before(Operation.CONNECT);
        FaultQueuePair connected = (FaultQueuePair) queuePair;
        try {
            Connection made = real.connect(connected.real(), parameters, Duration.ofNanos(timeoutNanos));
            return new FaultConnection(connections, connected, made);
        } finally {
            connected.follow();
        }
    }

    @Override
    protected void onClosing() {
        real.close(); // wakes its waiters
    }

    @Override
    protected void doClose() {
        real.close();
    }
}
