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
    private final Route real;

    FaultRoute(FaultConnectionManager manager, Route real) {
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
    protected void doPrepare(QueuePair queuePair) {
        connections.prepare(queuePair, real::prepare);
    }

    @Override
    protected Connection doConnect(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos)
            throws InterruptedException {
        Duration timeout = Duration.ofNanos(timeoutNanos);
        return connections.connect(queuePair, pair -> real.connect(pair, parameters, timeout));
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
