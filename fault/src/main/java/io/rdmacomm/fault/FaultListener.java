package io.rdmacomm.fault;

import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.Listener;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/// Stands for a listener.
final class FaultListener extends Listener {
    private final FaultConnectionManager connections;
    private final Listener real;

    FaultListener(FaultConnectionManager manager, Listener real) {
        super(manager);
        this.connections = manager;
        this.real = real;
    }

    @Override
    public InetSocketAddress localAddress() {
        return real.localAddress();
    }

    @Override
    protected @Nullable ConnectionRequest doAwaitRequest(long timeoutNanos) throws InterruptedException {
        return FaultConnectionManager.await(
                this, real, timeoutNanos, request -> new FaultConnectionRequest(connections, request));
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
