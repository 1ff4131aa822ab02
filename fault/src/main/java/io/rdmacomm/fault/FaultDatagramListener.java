package io.rdmacomm.fault;

import io.rdmacomm.verbs.cm.DatagramListener;
import io.rdmacomm.verbs.cm.DatagramRequest;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/// Stands for a datagram listener.
final class FaultDatagramListener extends DatagramListener {
    private final FaultConnectionManager connections;
    private final DatagramListener real;

    FaultDatagramListener(FaultConnectionManager manager, DatagramListener real) {
        super(manager);
        this.connections = manager;
        this.real = real;
    }

    @Override
    public InetSocketAddress localAddress() {
        return real.localAddress();
    }

    @Override
    protected @Nullable DatagramRequest doAwaitRequest(long timeoutNanos) throws InterruptedException {
        return FaultConnectionManager.await(
                this, real, timeoutNanos, request -> new FaultDatagramRequest(connections, request));
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
