package io.rdmacomm.fault;

import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.Listener;
import io.rdmacomm.verbs.cm.Route;
import java.net.InetSocketAddress;
import java.time.Duration;

/// Stands for a connection manager.
final class FaultConnectionManager extends ConnectionManager {
    private final FaultContext context;
    private final ConnectionManager real;

    FaultConnectionManager(FaultContext context, ConnectionManager real) {
        super(context);
        this.context = context;
        this.real = real;
    }

    @Override
    public int privateDataLimit() {
        return real.privateDataLimit();
    }

    @Override
    protected Listener doListen(InetSocketAddress address, int backlog) {
        return new FaultListener(this, context, real.listen(address, backlog));
    }

    @Override
    protected Route doResolve(InetSocketAddress destination, long timeoutNanos) throws InterruptedException {
        return new FaultRoute(this, context, real.resolve(destination, Duration.ofNanos(timeoutNanos)));
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
